"""Question files -> `Question`."""
