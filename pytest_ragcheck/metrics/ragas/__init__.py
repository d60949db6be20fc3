"""Measures the four RAGAS metrics by one reply of the judge's model and one batch of embeddings a question."""
