"""Turns records into a `Summary`, the numbers of a run."""
