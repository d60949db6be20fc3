from __future__ import annotations

import argparse
import os
from contextlib import suppress
from pathlib import Path

from pytest_ragcheck.cli.command_line import complain, say
from pytest_ragcheck.cli.project.docs import read_schema
from pytest_ragcheck.cli.project.user_project import Configuration, Project, read_project, run_value
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.package_text import package_text

SCHEMA_FILE = "question-file.schema.json"
EXAMPLE_URL = "http://localhost:8000/query"

# Run all question files below the folder and no test file.
# A list of file names would hide a deleted file from the comparison with a baseline.
_RUN = "pytest . -o python_files= --rag-require-endpoint"


def run(chosen: argparse.Namespace) -> int:
    folder = Path(chosen.folder)
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder. Create it first, or name another.")
    project = read_project(folder)
    try:
        for path, text in new_files(project).items():
            say(_show(path, text, project) if chosen.dry_run else _write(path, text, project))
    except OSError as error:
        complain(
            "init", f"{error.filename} cannot be written ({error.strerror}). Allow writing there, or move it away."
        )
        return 1
    say(*_remarks(project))
    return 0


def new_files(project: Project) -> dict[Path, str]:
    found = {
        project.tests / "first.rag.yaml": package_text("cli/project/questions.txt"),
        project.tests / SCHEMA_FILE: read_schema("questions"),
    }
    if project.configuration is None:
        found[project.folder / "pytest.ini"] = "\n".join(("[pytest]", *_settings(project), ""))
    if project.ci == "github":
        found[project.root / ".github" / "workflows" / "ragcheck.yml"] = _filled(
            "github", project, "    defaults:\n      run:\n        working-directory: {}\n"
        )
    elif project.ci == "gitlab":
        found[project.root / ".gitlab-ci.ragcheck.yml"] = _filled("gitlab", project, "    - cd '{}'\n")
    return found


def _write(path: Path, text: str, project: Project) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        return f"left as it is  {project.shown(path)}"
    return f"wrote          {project.shown(path)}"


def _show(path: Path, text: str, project: Project) -> str:
    if os.path.lexists(path):
        return f"would leave as it is  {project.shown(path)}"
    heading = f"would write           {project.shown(path)}"
    if path.name == SCHEMA_FILE:
        return f"{heading}  (what ragcheck schema questions prints)"
    return "\n".join((heading, *(f"    {line}".rstrip() for line in text.splitlines())))


def _remarks(project: Project) -> list[str]:
    lines = [""]
    configuration = project.configuration
    if configuration is not None:
        shown = project.shown(configuration.path)
        if added := _lines_to_add(project, configuration):
            # A repeated heading is an error in TOML, and loses settings in the other formats.
            place = "" if configuration.line is None else f", below line {configuration.line}, {configuration.section}"
            lines += [f"Add to {shown}{place}:", "", *(f"    {line}" for line in added), ""]
        else:
            lines += [f"{shown} has settings of pytest-ragcheck already.", ""]
    if project.ci is None:
        lines += [
            f"No CI workflow: {project.remote_host} is neither GitHub nor GitLab. In CI run the last line below.",
            "",
        ]
    if project.ci == "gitlab":
        lines += ["Include it in .gitlab-ci.yml:", "", "    include:", "      - local: .gitlab-ci.ragcheck.yml", ""]
    questions = project.shown(project.tests / "first.rag.yaml")
    probe, option = "", ""
    if project.url:
        endpoint = f"the endpoint in RAGCHECK_URL, {project.url}"
    elif configuration is not None and configuration.url:
        endpoint = f"the endpoint that {project.shown(configuration.path)} names"
        probe = f" {configuration.url}"
    else:
        endpoint = "the URL of your endpoint instead of this one"
        probe, option = f" {EXAMPLE_URL}", f" --rag-url={EXAMPLE_URL}"
    return [*lines, f"Next, with {endpoint}:", "", f"    ragcheck probe{probe}", f"    pytest {questions}{option}"]


def _lines_to_add(project: Project, configuration: Configuration) -> list[str]:
    quote = '"' if configuration.path.suffix == ".toml" else ""
    added = _settings(project, quote=quote, existing=configuration.settings)
    return [configuration.section, *added] if added and configuration.line is None else added


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


def _settings(project: Project, *, quote: str = "", existing: frozenset[str] = frozenset()) -> list[str]:
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
