"""Metrics: numbers about an answer, most of them without a judge."""
