from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ragcheck.report.files.output_folder import safe_name, unique_names


@pytest.mark.parametrize(
    "name",
    [
        "natural_questions",
        "tests__billing[Paris]",
        "Ответы, v2 (neu)",
        "gpt-4.1",
        "impartial",
        "a.partial.b",
        "日本語",
        "a" * 180,
    ],
)
def test_a_name_stays_as_it_is_where_it_can(name: str) -> None:
    assert safe_name(name) == name


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("llama3:8b", "llama3_8b"),
        ("../../x", "_.._x"),
        ("con", "_con"),
        ("NUL.txt", "_NUL.txt"),
        ("", "_"),
        ("..", "_"),
        ("rag.partial", "rag.partial"),
        ("rag.Partial", "rag.Partial"),
    ],
)
def test_a_name_that_cannot_stay_has_a_hash_of_it_at_its_end(name: str, kept: str) -> None:
    assert safe_name(name) == f"{kept}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


@given(st.text(max_size=400))
def test_a_safe_name_is_a_name_on_every_system(name: str) -> None:
    safe = safe_name(name)
    file = f".{safe}.partial_predictions.json.01234567.tmp"
    assert len(file.encode()) <= 255
    assert not set(safe) & set('<>:"/\\|?*\x00')
    assert safe.isprintable()
    assert safe[0] not in ". "


@given(st.lists(st.text("aAáÁ./: ", max_size=3) | st.sampled_from(["e\u0301", "\u00e9", "ß", "SS"]), unique=True))
def test_no_two_names_of_a_run_are_one_file(given_names: list[str]) -> None:
    unique = unique_names(given_names)
    assert len(unique) == len(given_names)
    assert len({name.casefold() for name in unique}) == len(unique)


def test_a_file_of_the_name_can_be_opened_in_any_locale() -> None:
    # The last two variables keep Python from using UTF-8 in this locale.
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    code = (
        "import os; from pytest_ragcheck.report.files.output_folder import safe_name; "
        "print(os.fsencode(safe_name('gr\\xf6\\xdfe')))"
    )
    ran = subprocess.run([sys.executable, "-c", code], env=os.environ | locale, capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr
    if sys.platform == "linux":
        assert ran.stdout == f"b'gre-{hashlib.sha256('größe'.encode()).hexdigest()[:8]}'\n".encode()
