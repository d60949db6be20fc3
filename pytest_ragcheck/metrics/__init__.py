"""Metrics measure an answer in numbers, most of them without a judge."""
