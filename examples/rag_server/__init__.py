"""A small real RAG server: Markdown in, verbatim answers out, no model and no key."""
