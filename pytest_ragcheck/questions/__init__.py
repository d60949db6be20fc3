"""Questions of files, datasets and exports; the names of question files."""

from pathlib import Path

QUESTION_FILES = (".rag.yaml", ".rag.yml", ".rag.json", ".rag.jsonl", ".rag.csv")
"""Endings in lower case of files that are collected in any folder."""

RESULT_QUESTIONS = "_questions.json"
"""Ending of a questions file that a run wrote; collected only as an argument."""

_OTHERS = (".py", ".js", ".ts", ".tsx", ".rst", ".md", ".html", ".bak", ".orig", "~")
"""Endings of code, pages and backups."""


def misspelt(name: str, folder: str = "", *, beside: bool = False) -> str:
    """The remedy if the name may be a misspelt one of a question file, or *beside* one `a_rag.yaml`; else empty."""
    lower = name.lower()
    underscored = beside and lower.replace("_rag.", ".rag.").endswith(QUESTION_FILES)
    if not (underscored or ".rag." in lower) or lower[0] == "." or lower.endswith(_OTHERS):
        return ""
    found = f"{Path(folder, name)}, which ends with none of {', '.join(QUESTION_FILES)}"
    return f"{found}. Rename it if it has questions that pytest should collect."
