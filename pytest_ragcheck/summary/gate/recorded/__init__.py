"""The answers of saved runs: their form in the baseline, their scores of today, and the verdicts that stand."""
