"""Judges turn a `RagAnswer` into a `Judgement`."""
