"""The four RAGAS metrics: one reply of the judge model and one batch of embeddings a question, then arithmetic."""
