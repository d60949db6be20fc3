"""Which absent questions a run would have had: these are gone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.summary.run_outcomes import Reach

if TYPE_CHECKING:
    from pathlib import Path

PART = Reach(searched=("billing::*", "hr__*", "news::today"), left_out=("hr__old__*", "billing::test_fees-*"))


@pytest.mark.parametrize(
    ("dataset", "name", "expected"),
    [
        ("billing", "refunds", True),
        ("billing", "test_fees-1", False),
        ("billing", "", False),
        ("hr__pay", "bonus", True),
        ("hr__pay", "", True),
        ("hr__old__pay", "bonus", False),
        ("news", "today", True),
        ("news", "yesterday", False),
        ("other", "refunds", False),
    ],
)
def test_a_part_of_the_questions_reaches_no_other(dataset: str, name: str, expected: bool) -> None:
    assert PART.expects(dataset, name) is expected


def test_the_whole_folder_does_not_reach_a_standard_dataset() -> None:
    assert Reach(searched=("*",)).expects("billing", "refunds")
    assert not Reach(searched=("*",)).expects("squad_v2", "1")
    assert Reach(searched=("*", "squad_v2::*")).expects("squad_v2", "1")


@pytest.mark.parametrize(
    ("test_files", "expected"), [((), False), (("check_*.py",), False), (("check_*.py", "test_*.py"), True)]
)
def test_calls_are_reached_only_in_test_files(test_files: tuple[str, ...], expected: bool, tmp_path: Path) -> None:
    (tmp_path / "api").mkdir()
    (tmp_path / "api" / "test_calls.py").touch()
    reach = Reach(searched=("*",), test_files=test_files, root=tmp_path)
    assert reach.expects("api__test_calls", "test_fees-1") is expected
    # A deleted file is gone, whatever its name was.
    assert reach.expects("api__test_gone", "test_fees-1")
    # Of a test with the mark rag_questions, only the name of the test is known.
    assert reach.expects("test_marked[billing]", "refunds") is bool(test_files)
