"""Lists the endings by which question files are found."""

QUESTION_FILES = (".rag.yaml", ".rag.yml", ".rag.json", ".rag.jsonl", ".rag.csv")
"""Endings, in lower case, of the question files that are collected in any folder."""

RESULT_QUESTIONS = "_questions.json"
"""Ending of a questions file that a run wrote; pytest collects such a file only if it is an argument."""


def resembles_question_file(name: str) -> bool:
    """True for a name in lower case that may be a misspelt one of a question file."""
    # Code and pages of a package `rag` have such names too.
    return ".rag." in name and not name.endswith((".py", ".rst", ".md"))
