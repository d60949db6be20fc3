"""The matrix: the plugins and the options of pytest that pytest-ragcheck is tested with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

PLUGINS = (
    "pytest_rerunfailures", "pytest_randomly", "pytest_timeout", "pytest_asyncio", "anyio", "pytest_repeat",
    "pytest_cov", "pytest_html", "allure_pytest", "pytest_split", "hypothesis", "syrupy", "uvloop", "xdist",
)  # fmt: skip
"""The modules of all that is installed together."""

SAME = "test_the_run_is_the_same"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the matrix."""

    name: str
    options: tuple[str, ...] = ()
    """As they are typed."""

    ways: tuple[Literal["plain", "-n2"], ...] = ("plain", "-n2")
    note: str
    """The note on the page."""

    leaves: tuple[str, ...] = ()
    """Files that show that the other plugin was active."""

    test: str = SAME
    """The test that holds it."""

    outcome: str = "the same"
    """How the run compares with one without the option, in a few words."""


OTHER_PLUGINS = (
    Row(
        name="pytest-rerunfailures",
        options=("--reruns=2",),
        test="test_reruns_ask_again_and_the_last_attempt_counts",
        outcome="the same in the end",
        note="A FAIL or an ERROR is asked and judged again each time; the files have only the last attempt. "
        "`--only-rerun=QuestionErrored` asks only ERRORs again.",
    ),
    Row(
        name="pytest-randomly",
        options=("--randomly-seed=7",),
        test="test_a_shuffled_run_leaves_rows_in_the_order_of_the_files",
        note="Questions run in random order; rows keep the order of the question files.",
    ),
    Row(
        name="pytest-timeout",
        options=("--timeout=30",),
        note="A question that takes too long is an ERROR with that reason, and the run continues. "
        "With `--timeout-method=thread` pytest-timeout ends the process instead: without workers, no results.",
    ),
    Row(
        name="pytest-asyncio",
        options=("-o", "asyncio_mode=auto"),
        note="Fixtures that are overridden may be async, but "
        "[their loop is not that of the questions](client.md#a-function-instead-of-a-url); async tests may use "
        "`rag_check` and `rag_result`.",
    ),
    Row(
        name="anyio",
        options=("-o", "anyio_mode=auto"),
        note="Async tests may use `rag_check` and `rag_result`.",
    ),
    Row(
        name="pytest-repeat",
        options=("--count=2",),
        test="test_every_repetition_is_a_dataset_of_its_own",
        outcome="the same, twice",
        note="Every repetition is a dataset of its own: `billing[1-2]` and `billing[2-2]`.",
    ),
    Row(name="pytest-cov", options=("--cov=.",), leaves=(".coverage",), note=""),
    Row(
        name="pytest-html",
        options=("--html=report.html", "--self-contained-html"),
        leaves=("report.html",),
        note="A question's row has its scores in the last column and its failure text below.",
    ),
    Row(
        name="allure-pytest",
        options=("--alluredir=allure",),
        leaves=("allure",),
        note="A question has its texts attached, and its scores as parameters.",
    ),
    Row(name="hypothesis", options=("--hypothesis-show-statistics",), note="The project has a property test too."),
    Row(name="syrupy", options=("--snapshot-update",), note="The project has a snapshot test too."),
    Row(name="pytest-xdist", options=("--dist=loadfile",), ways=("-n2",), note=""),
    Row(name="pytest-xdist", options=("--dist=worksteal",), ways=("-n2",), note=""),
    Row(
        name="many at once",
        options=(
            "--randomly-seed=7", "--timeout=30", "-o", "asyncio_mode=auto", "--cov=.",
            "--html=report.html", "--hypothesis-show-statistics", "--snapshot-update",
        ),
        leaves=(".coverage", "report.html"),
        note="",
    ),
)  # fmt: skip

PYTESTS_OPTIONS = (
    Row(name="without pytest-xdist", options=("-p", "no:xdist"), ways=("plain",), note=""),
    Row(name="without the cache", options=("-p", "no:cacheprovider"), note=""),
    Row(
        name="without the terminal",
        options=("-p", "no:terminal"),
        test="test_without_a_terminal_only_the_text_is_missing",
        outcome="the same, unseen",
        note="Nothing is printed; the files are written.",
    ),
    Row(name="import mode", options=("--import-mode=importlib",), note=""),
    Row(
        name="warnings as errors", options=("-W", "error"), note="The plugin raises no warning and leaves nothing open."
    ),
    Row(
        name="strict",
        options=("--strict-markers", "--strict-config"),
        note="Tags of questions are registered as markers.",
    ),
    Row(
        name="rootdir elsewhere",
        options=("--rootdir=../elsewhere",),
        test="test_a_root_elsewhere_has_the_results_and_names_datasets_by_file",
        outcome="the same, elsewhere",
        note="The results go into that folder. A question file outside of it has its own name, "
        "without folders, as its dataset name.",
    ),
    Row(
        name="blanks and non-ASCII in paths",
        test="test_a_folder_may_have_any_name",
        note="In the names of folders, question files and ids.",
    ),
    Row(
        name="read-only rootdir",
        options=("--rag-output=../results",),
        test="test_a_read_only_root_wants_another_folder_for_the_results",
        note="Without another folder for the results the run ends with an error before the first question.",
    ),
)

ROWS = (*OTHER_PLUGINS, *PYTESTS_OPTIONS)
