"""The endpoint contract as a checklist, gone through against a live endpoint."""
