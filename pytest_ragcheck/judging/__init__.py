"""Judges, which turn a `RagAnswer` into a `Judgement`."""
