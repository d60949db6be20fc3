"""Runs many questions at once and hands each record to its item."""

# docs/explanation/how-it-runs.md describes the prefetch, and the claims and slots that the processes share.
