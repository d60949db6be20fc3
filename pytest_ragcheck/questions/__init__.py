"""Reads question files and datasets into `Question` values."""
