"""Comparisons with other programs; each test is skipped if its program is not installed."""
