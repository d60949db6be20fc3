"""Lists the endings by which question files are found."""

from pathlib import Path

QUESTION_FILES = (".rag.yaml", ".rag.yml", ".rag.json", ".rag.jsonl", ".rag.csv")
"""Endings, in lower case, of the question files that are collected in any folder."""

RESULT_QUESTIONS = "_questions.json"
"""Ending of a questions file that a run wrote; pytest collects such a file only if it is an argument."""


def misspelt(path: Path) -> str:
    """The remedy if the name may be a misspelt one of a question file; else empty."""
    name = path.name.lower()
    # Code and pages of a package `rag` have such names too, and so have backups.
    if name[0] == "." or ".rag." not in name or name.endswith((".py", ".rst", ".md", ".bak", ".orig", "~")):
        return ""
    endings = ", ".join(QUESTION_FILES)
    return f"{path}, which ends with none of {endings}. Rename it if it has questions that pytest should collect."
