"""Asks the system under test a `Question`, and returns its `RagAnswer`."""
