"""Which missing questions a run would have collected if they still existed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.plugin.ending.gated_outcomes import reach_of
from pytest_ragcheck.plugin.run_state import ItemResults, Run
from pytest_ragcheck.questions.collected_questions import CollectedQuestions
from tests.making import a_question, a_set

if TYPE_CHECKING:
    from collections.abc import Collection

    from pytest_ragcheck.summary.run_outcomes import Reach

EVALS, INNER, NAMED = "evals__refunds", "evals__inner__prices", "a name of its own"


def reach(
    pytester: pytest.Pytester,
    *arguments: str,
    complete: bool = True,
    not_passed: Collection[str] = (),
    read: str = "",
    selected: Collection[str] = (),
) -> Reach:
    """Of a run of pytest with these arguments, in a project with folders `evals`, `evals/inner` and `tests`."""
    for folder in ("evals/inner", "tests"):
        (pytester.path / folder).mkdir(parents=True, exist_ok=True)
    config = pytester.parseconfig(*arguments)
    questions = CollectedQuestions(config.rootpath)
    run = Run(questions, ItemResults(questions))
    if read:
        run.questions.sets[read] = a_set(read, a_question(dataset_name=read))
    run.questions.selected = dict.fromkeys(selected, a_question(dataset_name=read))
    return reach_of(config, run, complete=complete, not_passed=not_passed)


def met(found: Reach) -> list[str]:
    return [name for name in (EVALS, INNER, NAMED) if found.expects(name, "q")]


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ([], [EVALS, INNER, NAMED]),
        (["."], [EVALS, INNER, NAMED]),
        (["tests", "."], [EVALS, INNER, NAMED]),
        (["-k", "terms"], [EVALS, INNER, NAMED]),
        (["evals"], [EVALS, INNER]),
        (["evals/"], [EVALS, INNER]),
        (["tests/../evals"], [EVALS, INNER]),
        (["tests", "evals"], [EVALS, INNER]),
        (["evals/inner"], [INNER]),
        (["eval"], []),
        (["evals/inner/prices.rag.yaml"], [INNER]),
        (["evals/inner/prices.rag.yaml::q"], [INNER]),
        (["evals/billing.rag.yaml"], []),
        (["--ignore=evals/inner"], [EVALS, NAMED]),
        (["evals", "--ignore=evals/refunds.rag.yaml"], [INNER]),
        (["--ignore-glob=*/unit"], []),
        (["--lf"], []),
    ],
)
def test_a_run_expects_the_questions_of_the_places_that_it_searched(
    pytester: pytest.Pytester, arguments: list[str], names: list[str]
) -> None:
    assert met(reach(pytester, *arguments)) == names


def test_a_run_that_leaves_questions_out_expects_only_collected_questions(pytester: pytest.Pytester) -> None:
    assert met(reach(pytester, complete=False, read=INNER)) == [INNER]


@pytest.mark.parametrize(
    ("arguments", "selected", "meets"),
    [
        (["evals/refunds.rag.yaml"], ["evals/refunds.rag.yaml::q"], True),
        (["evals/refunds.rag.yaml::q"], ["evals/refunds.rag.yaml::q"], False),
        (["evals/refunds.rag.yaml::q"], ["evals/refunds.rag.yaml::q[Paris]"], False),
        (["evals/refunds.rag.yaml::q", "evals"], ["evals/refunds.rag.yaml::q"], True),
        (["evals/refunds.rag.yaml::q", "tests"], ["evals/refunds.rag.yaml::q"], False),
        (["tests/test_own.py::test_it"], ["tests/test_own.py::test_it[q]"], True),
        (["tests/test_own.py::test_it[q]"], ["tests/test_own.py::test_it[q]"], False),
        (["tests/test_own.py::test_it[q]", "evals"], ["tests/test_own.py::test_it[q]", "evals/r.rag.yaml::q"], True),
    ],
)
def test_a_run_of_single_questions_does_not_expect_the_others_of_their_file(
    pytester: pytest.Pytester, arguments: list[str], selected: list[str], meets: bool
) -> None:
    found = reach(pytester, *arguments, read=EVALS, selected=selected)
    assert found.expects(EVALS, "another") is meets


@pytest.mark.parametrize(
    ("name", "options", "meets"),
    [
        ("tests__test_own", ["-opython_files="], False),
        ("tests__test_own", ["-opython_files=check_*.py"], False),
        ("tests__test_own", [], True),
        ("tests__test_gone", ["-opython_files="], True),
        ("evals__refunds[test_it]", ["-opython_files="], False),
        ("evals__refunds[test_it]", [], True),
        (EVALS, ["-opython_files="], True),
    ],
)
def test_a_run_of_question_files_alone_does_not_expect_questions_of_test_files(
    pytester: pytest.Pytester, name: str, options: list[str], meets: bool
) -> None:
    (pytester.path / "tests").mkdir()
    (pytester.path / "tests" / "test_own.py").touch()
    assert reach(pytester, *options).expects(name, "q") is meets


def test_the_folders_of_the_ini_file_are_all_there_is(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\ntestpaths = evals\n")
    assert met(reach(pytester)) == [EVALS, INNER, NAMED]
    assert met(reach(pytester, complete=False)) == []


def test_a_run_from_an_inner_folder_is_one_of_that_folder(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\n")
    reach(pytester)
    os.chdir(pytester.path / "evals" / "inner")
    assert met(reach(pytester)) == [INNER]
    assert met(reach(pytester, "..")) == [EVALS, INNER]


def test_a_run_of_a_folder_outside_of_the_root_expects_nothing_by_its_name(pytester: pytest.Pytester) -> None:
    assert met(reach(pytester, "evals", "--rootdir=tests")) == []


@pytest.mark.parametrize(
    ("not_passed", "names"),
    [
        ("tests/test_own.py::test_two", []),
        ("tests/test_own.py::test_one", ["test_two-1", "test_two-2"]),
        ("tests/test_other.py::test_two", ["test_two-1", "test_two-2"]),
        ("tests/test_own.py", []),
    ],
)
def test_calls_of_a_test_that_did_not_pass_may_only_not_have_been_made(
    pytester: pytest.Pytester, not_passed: str, names: list[str]
) -> None:
    found = reach(pytester, not_passed=[not_passed])
    assert [name for name in ("test_two-1", "test_two-2") if found.expects("tests__test_own", name)] == names


def test_calls_of_parametrized_methods_are_distinguished(pytester: pytest.Pytester) -> None:
    found = reach(pytester, not_passed=["test_own.py::TestIt::test_two[Paris]"])
    assert not found.expects("test_own", "TestIt.test_two(Paris)-1")
    assert found.expects("test_own", "TestIt.test_two(Rome)-1")


def test_a_file_that_was_skipped_whole_may_have_held_any_dataset(pytester: pytest.Pytester) -> None:
    assert met(reach(pytester, not_passed=["tests/test_own.py"])) == []
