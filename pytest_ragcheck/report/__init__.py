"""Turns a `Summary` into terminal lines, result files and reports."""
