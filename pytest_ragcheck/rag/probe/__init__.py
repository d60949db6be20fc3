"""The probe checks a live endpoint against the endpoint contract, point by point."""
