"""Builds the texts of the files that `ragcheck init` writes."""

from __future__ import annotations

from contextlib import suppress

from pytest_ragcheck.cli.project.user_project import Configuration, Project, run_value
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.package_text import package_text

SCHEMA_FILE = "question-file.schema.json"
EXAMPLE_URL = "http://localhost:8000/query"

# Run all question files below the folder and no test file.
# A list of file names would hide a deleted file from the comparison with a baseline.
_RUN = "pytest . -o python_files= --rag-require-endpoint"


def ini_file(project: Project) -> str:
    return "\n".join(("[pytest]", *_settings(project, quote="", existing=frozenset()), ""))


def lines_to_add(project: Project, configuration: Configuration) -> list[str]:
    quote = '"' if configuration.path.suffix == ".toml" else ""
    added = _settings(project, quote=quote, existing=configuration.settings)
    return [configuration.section, *added] if added and configuration.line is None else added


def github_workflow(project: Project) -> str:
    return _filled("github", project, "    defaults:\n      run:\n        working-directory: {}\n")


def gitlab_job(project: Project) -> str:
    return _filled("gitlab", project, "    - cd '{}'\n")


def _filled(name: str, project: Project, in_folder: str) -> str:
    # The workflow; *in_folder* changes to the project's folder, unless that is the top of the repository.
    folder = project.folder.relative_to(project.root).as_posix()
    change = "" if folder == "." else in_folder.format(folder)
    text = package_text(f"cli/project/{name}.txt")
    output = "**/ragcheck-results"
    # A folder outside of the repository raises a ValueError.
    with suppress(UsageError, ValueError):
        output = run_value("rag_output", output, project.folder).relative_to(project.root).as_posix()
    values = {"in_folder": change, "requirements": project.requirements, "run": _RUN, "output": output}
    for place, value in values.items():
        text = text.replace(f"{{{place}}}", value)
    return text


def _settings(project: Project, *, quote: str, existing: frozenset[str]) -> list[str]:
    lines: list[str] = []
    if not existing or (project.url and "rag_url" not in existing):
        mark = "" if project.url else "# "
        lines += [
            "# The endpoint; RAGCHECK_URL and --rag-url override it. ragcheck probe checks it.",
            f"{mark}rag_url = {quote}{project.url or EXAMPLE_URL}{quote}",
        ]
    if existing.isdisjoint({"rag_judge", "rag_judge_model"}):
        lines += [
            "# Compares words and numbers, needs no model and no key. openai is a language model as judge.",
            f"rag_judge = {quote}offline{quote}",
        ]
    return lines
