"""Reads the answers of saved runs, rescores them, and reuses their verdicts."""
