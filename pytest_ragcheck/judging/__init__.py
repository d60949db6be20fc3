"""`RagAnswer` -> `Judgement`: how good is the answer, and why not better."""
