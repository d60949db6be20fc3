"""`Question` -> `RagAnswer`: asking the system under test."""
