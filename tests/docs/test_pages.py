"""Every page has a test, and every link has a target."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from pytest_ragcheck.cli.project.docs import read_pages
from tests.docs.pages import DOCS, PROJECT

HELD = {
    "reference/precedence.md": "tests/config/test_options.py",
    "reference/judge-offline-rules.md": "tests/judging/test_offline_docs.py",
    "reference/judge-offline-reading.md": "tests/judging/test_offline_docs.py",
    "how-to/github-action.md": "tests/docs/test_ci_page.py",
    "how-to/check-an-endpoint.md": "tests/examples/test_endpoints.py",
    "how-to/test-an-app.md": "tests/docs/test_how_to_pages.py",
    "reference/client.md": "tests/docs/test_endpoint_page.py",
    "reference/ingestion.md": "tests/docs/test_tiers_page.py",
    "reference/gates.md": "tests/docs/test_gate_page.py",
    "reference/judge-preflight.md": "tests/judging/test_openai_docs.py",
    "reference/judge-requests.md": "tests/judging/test_openai_docs.py",
    "reference/question-file-forms.md": "tests/questions/test_question_files_page.py",
    "reference/metrics-sources.md": "tests/docs/test_metrics_page.py",
    "reference/metrics-retrieval.md": "tests/docs/test_metrics_page.py",
    "reference/metrics-text.md": "tests/docs/test_metrics_page.py",
    "reference/errors/judge-replies.md": "tests/docs/test_judge_errors.py",
    "reference/errors/endpoint-replies.md": "tests/docs/test_endpoint_errors.py",
    "reference/errors/question-values.md": "tests/docs/test_question_file_errors.py",
    "reference/errors/question-syntax.md": "tests/docs/test_question_file_errors.py",
    "reference/probe.md": "tests/cli/test_command_line_page.py",
    "reference/results-commands.md": "tests/cli/test_command_line_page.py",
    "index.md": "tests/docs/test_pages.py",
    "tutorial/first-run.md": "tests/docs/test_tutorial.py",
    "how-to/add-questions.md": "tests/docs/test_how_to_pages.py",
    "how-to/from-promptfoo.md": "tests/docs/test_coming_from_pages.py",
    "how-to/from-ragas.md": "tests/docs/test_coming_from_pages.py",
    "how-to/from-deepeval.md": "tests/docs/test_coming_from_pages.py",
    "how-to/beyond-one-machine.md": "tests/docs/test_beyond_one_machine_page.py",
    "how-to/calibrate-a-judge.md": "tests/docs/test_how_to_pages.py",
    "how-to/compare-agents.md": "tests/docs/test_how_to_pages.py",
    "how-to/cost.md": "tests/docs/test_how_to_pages.py",
    "how-to/expose-an-endpoint.md": "tests/examples/test_endpoints.py",
    "how-to/frameworks.md": "tests/docs/test_recipes.py",
    "how-to/gate-on-regressions.md": "tests/docs/test_gate_page.py",
    "how-to/in-ci.md": "tests/docs/test_ci_page.py",
    "how-to/own-endpoint-shape.md": "tests/plugin/test_shapes.py",
    "how-to/own-judge-model.md": "tests/docs/test_how_to_pages.py",
    "how-to/own-dataset.md": "tests/docs/test_datasets_pages.py",
    "how-to/own-metric.md": "tests/docs/test_how_to_pages.py",
    "how-to/repeats-and-panels.md": "tests/docs/test_how_to_pages.py",
    "how-to/conversations.md": "tests/docs/test_how_to_pages.py",
    "how-to/replay.md": "tests/docs/test_how_to_pages.py",
    "how-to/read-the-report.md": "tests/docs/test_how_to_pages.py",
    "how-to/run-fast.md": "tests/docs/test_run_fast_page.py",
    "how-to/standard-datasets.md": "tests/docs/test_how_to_pages.py",
    "how-to/split-a-run.md": "tests/docs/test_split_page.py",
    "how-to/test-your-own-parts.md": "tests/docs/test_how_to_pages.py",
    "how-to/planted-documents.md": "tests/docs/test_documents_page.py",
    "how-to/tenants.md": "tests/docs/test_documents_page.py",
    "how-to/test-with-documents.md": "tests/docs/test_documents_page.py",
    "how-to/with-xdist.md": "tests/docs/test_how_to_pages.py",
    "how-to/without-pytest.md": "tests/docs/test_without_pytest_page.py",
    "reference/command-line.md": "tests/cli/test_command_line_page.py",
    "reference/convert.md": "tests/questions/exports/test_recognised_forms.py",
    "reference/citations.md": "tests/docs/test_metrics_page.py",
    "reference/datasets.md": "tests/docs/test_datasets_pages.py",
    "reference/endpoint.md": "tests/docs/test_endpoint_page.py",
    "reference/errors/baseline.md": "tests/docs/test_baseline_errors.py",
    "reference/errors/endpoint.md": "tests/docs/test_endpoint_errors.py",
    "reference/errors/judge.md": "tests/docs/test_judge_errors.py",
    "reference/errors/question-files.md": "tests/docs/test_question_file_errors.py",
    "reference/fixtures.md": "tests/docs/test_fixtures_page.py",
    "reference/injection.md": "tests/judging/test_injection_page.py",
    "reference/judge-offline.md": "tests/judging/test_offline_docs.py",
    "reference/judge-local.md": "tests/judging/test_local_judge.py",
    "reference/judge-openai.md": "tests/judging/test_openai_docs.py",
    "reference/metrics.md": "tests/docs/test_metrics_page.py",
    "reference/metrics-ragas.md": "tests/docs/test_ragas_page.py",
    "reference/options.md": "tests/config/test_options.py",
    "reference/other-plugins.md": "tests/matrix/test_page.py",
    "reference/outcomes.md": "tests/docs/test_outcomes_page.py",
    "reference/predictions-file.md": "tests/summary/test_result_schemas.py",
    "reference/public-names.md": "tests/test_public_names.py",
    "reference/question-files.md": "tests/questions/test_question_files_page.py",
    "reference/result-files.md": "tests/summary/test_result_schemas.py",
    "reference/secrets.md": "tests/config/test_options.py",
    "reference/summary-file.md": "tests/summary/test_result_schemas.py",
    "reference/summary-file-scores.md": "tests/summary/test_result_schemas.py",
    "reference/tiers-and-routes.md": "tests/docs/test_tiers_page.py",
    "explanation/architecture.md": "tests/docs/test_architecture_page.py",
    "explanation/speed.md": "tests/docs/test_speed_page.py",
    "explanation/gate-simulation.md": "tests/benchmarks/test_gate_simulation.py",
    "explanation/statistics.md": "tests/docs/test_statistics_page.py",
    "explanation/how-it-runs.md": "tests/docs/test_how_it_runs_page.py",
}
"""By page the tests that run its examples or compare it with the program."""

MOST_WORDS = 1500
"""Of a page, counted as `wc -w` counts them."""

READ = [*sorted(DOCS.rglob("*.md")), PROJECT / "README.md", PROJECT / "CHANGELOG.md", PROJECT / "examples/README.md"]


def test_every_page_is_held_by_a_test_that_names_it() -> None:
    assert sorted(HELD) == sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
    for page, module in HELD.items():
        assert f'{Path(page).name}"' in (PROJECT / module).read_text(encoding="utf-8"), f"{module} does not name {page}"


def test_the_index_leads_to_every_page() -> None:
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    assert sorted(set(re.findall(r"\]\((\S+)\)", index))) == sorted(HELD.keys() - {"index.md"})


def test_no_page_is_long() -> None:
    words = {path: len(path.read_text(encoding="utf-8").split()) for path in DOCS.rglob("*.md")}
    assert {name: count for name, count in words.items() if count > MOST_WORDS} == {}, "split it along its topics"


def test_the_start_page_has_the_settings_of_the_readme() -> None:
    start, readme = (path.read_text(encoding="utf-8") for path in (DOCS / "index.md", PROJECT / "README.md"))
    rows = re.findall(r"^\| `.+ \|$", start, re.MULTILINE)
    assert len(rows) == 8
    assert "\n".join(["| setting | for |", "|---|---|", *rows]) in readme


def test_the_navigation_of_the_site_has_every_page_once() -> None:
    navigation = (PROJECT / "zensical.toml").read_text(encoding="utf-8")
    assert sorted(re.findall(r'"([\w/-]+\.md)"', navigation)) == sorted(HELD)


@pytest.mark.parametrize("path", READ, ids=lambda path: str(path.relative_to(PROJECT)))
def test_every_link_leads_to_a_page_and_to_a_heading_of_it(path: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(path)):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        page = (path.parent / name).resolve() if name else path
        assert page.exists(), target
        assert not anchor or anchor in anchors(page), target


def test_the_pages_that_error_texts_name_are_there() -> None:
    package = "".join(path.read_text(encoding="utf-8") for path in (PROJECT / "pytest_ragcheck").rglob("*.py"))
    named = set(re.findall(r'"(errors/[\w-]+|outcomes)"', package))
    assert named == {
        "errors/endpoint",
        "errors/endpoint-replies",
        "errors/judge",
        "errors/judge-replies",
        "errors/question-files",
        "outcomes",
    }
    for name in named:
        assert len([page for page in read_pages() if f"/{page}".endswith(f"/{name}")]) == 1


def prose(path: Path) -> str:
    """The page without its code."""
    text = re.sub(r"^ *```.*?^ *```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`(?!\])", "", text)


@cache
def anchors(page: Path) -> set[str]:
    """The names of the headings in links."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
