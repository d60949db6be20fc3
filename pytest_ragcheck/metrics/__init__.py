"""`RagAnswer` -> scores that need no judge."""
