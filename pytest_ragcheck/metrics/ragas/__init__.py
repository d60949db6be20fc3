"""The four RAGAS metrics: one reply of the judge's model and one batch of embeddings a question."""
