"""The documents of a run: put into the system under test before its questions, and taken out at its end."""
