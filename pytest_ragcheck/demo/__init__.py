"""A small RAG system over this project's documentation: the index, the answers and the faults of the example server."""
