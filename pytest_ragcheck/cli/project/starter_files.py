"""Builds the texts of the files that `ragcheck init` writes."""

from __future__ import annotations

from pytest_ragcheck.cli.project.user_project import Configuration, Project

SCHEMA_FILE = "question-file.schema.json"
EXAMPLE_URL = "http://localhost:8000/query"

QUESTIONS = f"""\
# yaml-language-server: $schema=./{SCHEMA_FILE}
#
# Each question is one test. Replace these with questions of your users and the answers in your documents.

questions:
  - id: refund-window # part of the test's name; keep it, and runs can be compared
    question: Within how many days are refunds possible?
    expected_answer: 30 days
    all_acceptable_answers: [thirty days, one month] # as good as the expected one
    must_mention: [/30|thirty|month/i] # a text, or a regular expression in slashes; needs no judge

  - id: support-hours
    question: When does the support answer?
    expected_answer: 9:00 to 17:00
    thresholds: {{groundedness: 0.8}} # for this question; the run's --rag-threshold is for all others
    must_not_mention: [around the clock]
    tags: [support] # run these alone with: pytest -m support

  - id: not-in-the-documents
    question: Who founded the company?
    answerable: false # passes if and only if the system declines to answer
"""

# Run all question files below the folder and no test file.
# A list of file names would hide a deleted file from the comparison with a baseline.
_RUN = "pytest . -o python_files= --rag-require-endpoint"

_GITHUB = """\
name: ragcheck

on:
  pull_request:
  workflow_dispatch:

permissions:
  contents: read

jobs:
  ragcheck:
    runs-on: ubuntu-latest
{in_folder}\
    steps:
      - uses: actions/checkout@08c6903cd8c0fde910a37f88322edcfb5dd907a8 # v5.0.0
      - uses: actions/setup-python@e797f83bcb11b83ae66e0230d6156d7c80228e7c # v6.0.0
        with:
          python-version: "3.12"
      - run: pip install {requirements}
      - run: {run}
        env:
          # Set it under Settings > Secrets and variables > Actions > Variables.
          RAGCHECK_URL: ${{{{ vars.RAGCHECK_URL }}}}
          # For a language model as judge, instead of the offline one:
          # RAGCHECK_JUDGE: openai
          # RAGCHECK_JUDGE_MODEL: the model's name
          # OPENAI_API_KEY: ${{{{ secrets.OPENAI_API_KEY }}}}
      - uses: actions/upload-artifact@330a01c490aca151604b8cf639adc76d48f6c5d4 # v5.0.0
        if: always()
        with:
          name: ragcheck-results
          path: "**/ragcheck-results/"
"""

_GITLAB = """\
# Include it from .gitlab-ci.yml:
#   include:
#     - local: .gitlab-ci.ragcheck.yml
#
# Set RAGCHECK_URL under Settings > CI/CD > Variables. For a language model as judge, instead of the offline one, set
# RAGCHECK_JUDGE (openai), RAGCHECK_JUDGE_MODEL and OPENAI_API_KEY there too.
ragcheck:
  image: python:3.12
  script:
{in_folder}\
    - pip install {requirements}
    - {run}
  artifacts:
    when: always
    paths:
      - "**/ragcheck-results/"
"""


def ini_file(project: Project) -> str:
    return "\n".join(("[pytest]", *_settings(project, quote="", existing=frozenset()), ""))


def lines_to_add(project: Project, configuration: Configuration) -> list[str]:
    quote = '"' if configuration.path.suffix == ".toml" else ""
    added = _settings(project, quote=quote, existing=configuration.settings)
    return [configuration.section, *added] if added and configuration.line is None else added


def github_workflow(project: Project) -> str:
    return _filled(_GITHUB, project, "    defaults:\n      run:\n        working-directory: {}\n")


def gitlab_job(project: Project) -> str:
    return _filled(_GITLAB, project, "    - cd '{}'\n")


def _filled(template: str, project: Project, in_folder: str) -> str:
    """The workflow; *in_folder* changes to the project's folder, unless that is the top of the repository."""
    folder = project.folder.relative_to(project.root).as_posix()
    change = "" if folder == "." else in_folder.format(folder)
    return template.format(in_folder=change, requirements=project.requirements, run=_RUN)


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
