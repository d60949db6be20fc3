"""`Summary` -> what people read: the failure text, the terminal, the files."""
