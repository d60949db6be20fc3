"""`Record`s -> `Summary`: the numbers of a run."""
