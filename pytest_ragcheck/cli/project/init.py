"""`ragcheck init` writes a first question file, settings and a CI workflow without asking the user anything."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from pytest_ragcheck.cli.printing import complain, say
from pytest_ragcheck.cli.project import starter_files
from pytest_ragcheck.cli.project.schema import read_schema
from pytest_ragcheck.cli.project.user_project import Project, read_project
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.package_text import package_text


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
        project.tests / starter_files.SCHEMA_FILE: read_schema("questions"),
    }
    if project.configuration is None:
        found[project.folder / "pytest.ini"] = starter_files.ini_file(project)
    if project.ci == "github":
        found[project.root / ".github" / "workflows" / "ragcheck.yml"] = starter_files.github_workflow(project)
    elif project.ci == "gitlab":
        found[project.root / ".gitlab-ci.ragcheck.yml"] = starter_files.gitlab_job(project)
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
    if path.name == starter_files.SCHEMA_FILE:
        return f"{heading}  (what ragcheck schema questions prints)"
    return "\n".join((heading, *(f"    {line}".rstrip() for line in text.splitlines())))


def _remarks(project: Project) -> list[str]:
    lines = [""]
    configuration = project.configuration
    if configuration is not None:
        shown = project.shown(configuration.path)
        if added := starter_files.lines_to_add(project, configuration):
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
        probe, option = f" {starter_files.EXAMPLE_URL}", f" --rag-url={starter_files.EXAMPLE_URL}"
    return [*lines, f"Next, with {endpoint}:", "", f"    ragcheck probe{probe}", f"    pytest {questions}{option}"]
