"""The answers of saved runs: their form in the baseline, their rescoring, and their verdicts."""
