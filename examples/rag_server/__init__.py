"""A small real RAG server: documents in, answers out; with a language model or without, and then word for word."""
