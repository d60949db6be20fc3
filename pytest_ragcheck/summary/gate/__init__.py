"""Compares a run with the saved runs of its baseline, and decides whether the run is worse."""

# 1. `baseline_reader` reads the saved runs. Their answers are scored again under today's labels and thresholds.
# 2. Each question of both becomes a `ComparedQuestion` with its saved runs and its first look (answer) of today.
# 3. `procedure.candidate.examine` is a generator without I/O: it yields `AskAgain` and `JudgeAnew` requests for one
#    question, and takes the replies. The plugin drives it during the run and keeps the replies.
# 4. `gate_replies` drives it again over the kept replies, and `procedure.gate_session.weigh` decides on all questions.
# 5. `gate_decision` joins the findings with the questions that are missing or that have no verdict.
