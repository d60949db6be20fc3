"""Other programs that this one is held against; each test is skipped where its program is not installed."""
