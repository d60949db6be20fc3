"""
Compares a run with the saved runs of its baseline, and decides whether the run is worse.

The data flow, from the files to the exit status:

1. `baseline_reader` reads the saved runs. Their answers are scored again under today's labels and thresholds.
2. Each question that both have becomes a `ComparedQuestion`: its saved runs, and its first look of today.
3. `procedure.gate_session.gate` decides. It is a generator without I/O: it yields batches of `AskAgain` and
   `JudgeAnew`, takes the replies, and returns `GateFindings`. The plugin and the simulation drive the same generator.
4. `gate_decision` joins the findings with the questions that are missing or that have no verdict.
"""
