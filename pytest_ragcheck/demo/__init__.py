"""A small RAG system over this project's documentation, whose index the example server uses."""
