"""Texts that break terminals, files and processes, from the endpoint, the judge and a user's own classes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.canned import bad, broken, good
from tests.harness import three_ways, two_ways

if TYPE_CHECKING:
    from tests.harness import Project

RED = "\x1b[31mred\x1b[0m"


@three_ways
def test_lone_surrogates_end_no_run(project: Project) -> None:
    project.ask(
        bad("prices", reason="half \ud83d of it").but(answer="half \ude00 of it", contexts=("c \udfff",)),
        broken("hours", "canned: \udc80 is down"),
        good("terms"),
    )
    run = project.run("-v")
    assert run.outcomes == {"passed": 1, "failed": 1, "error": 1}
    assert run.verdicts == {"terms": "PASS", "prices": "FAIL", "hours": "ERROR"}
    rows = {row["question_id"]: row for row in run.predictions["predictions"]}
    assert "\N{REPLACEMENT CHARACTER}" in rows["prices"]["reason"]


@two_ways
def test_control_characters_reach_no_terminal(project: Project) -> None:
    project.ask(
        bad("prices", reason=f"{RED} and \x07").but(
            answer=f"an {RED} answer\x00", contexts=(f"a {RED} context\x9b2J",)
        ),
        broken("hours", f"canned: {RED}\nsecond \x1b]0;title\x07 line"),
    )
    run = project.run("-vv", "--color=no")
    assert run.outcomes == {"failed": 1, "error": 1}
    assert not {char for char in run.text if ord(char) < 32 or 0x7F <= ord(char) < 0xA0} - {"\n"}
    assert "groundedness 0.41 < 0.70: \\x1b[31mred\\x1b[0m and \\x07" in run.lines
    assert "answer    an \\x1b[31mred\\x1b[0m answer\\x00" in run.lines
    assert "context 1 a \\x1b[31mred\\x1b[0m context\\x9b2J" in run.lines
    assert "canned: \\x1b[31mred\\x1b[0m" in run.lines
    assert "second \\x1b]0;title\\x07 line" in run.lines
    (row,) = run.predictions["predictions"]
    assert row["prediction"] == f"an {RED} answer\x00"


def test_text_direction_cannot_be_turned_around(project: Project) -> None:
    project.ask(bad("prices", reason="safe \u202egnitset\u2066"))
    assert "groundedness 0.41 < 0.70: safe \\u202egnitset\\u2066" in project.run().lines


@two_ways
def test_no_text_is_a_command_to_a_ci_runner(project: Project) -> None:
    commands = "##vso[task.setvariable variable=x]y ##[error]z"
    project.ask(
        bad("prices", reason=commands).but(answer=f"an answer {commands}", contexts=(commands,)),
        broken("hours", f"canned: {commands}\n::add-mask::x\n  ::error::y"),
    )
    run = project.run("-vv")
    assert "##[" not in run.text
    assert "##vso[" not in run.text
    assert not [line for line in run.lines if line.strip().startswith("::")]
    assert "groundedness 0.41 < 0.70: #\\x23vso[task.setvariable variable=x]y #\\x23[error]z" in run.lines


@three_ways
def test_names_of_files_and_reasons_of_skips_cannot_command_a_terminal(project: Project) -> None:
    name = f"a{RED}\u200b.rag.yaml"
    project.ask(
        good("terms"),
        good("later", skip=f"not yet {RED} ##[error]x"),
        bad("hours").but(entry={"xfail": f"known {RED}"}),
        bad("prices"),
        file=name,
    )
    run = project.run("-vv", "-ra", "--color=no")
    assert run.outcomes == {"passed": 1, "skipped": 1, "xfailed": 1, "failed": 1}
    assert not {char for char in run.text if ord(char) < 32 or char == "\u200b"} - {"\n"}
    assert "##[" not in run.text
    shown = "a\\x1b[31mred\\x1b[0m\\u200b.rag.yaml"
    assert any(line.startswith(f"FAILED {shown}::prices - ") for line in run.lines)
    again = project.run("--lf", "-v", "--color=no")
    assert again.outcomes["failed"] == 1


def test_unseen_characters_are_shown_by_their_code(project: Project) -> None:
    project.ask(bad("prices", reason="a\u200bb\ufeffc\U000e0041d"))
    assert "groundedness 0.41 < 0.70: a\\u200bb\\ufeffc\\U000e0041d" in project.run().lines


def test_other_scripts_and_emoji_are_shown_as_they_are(project: Project) -> None:
    project.ask(bad("prices", reason="Цены нет в контексте. 価格なし。 👩\u200d💻"))
    run = project.run()
    assert run.section(" prices ")[0] == "groundedness 0.41 < 0.70: Цены нет в контексте. 価格なし。 👩\u200d💻"


@two_ways
def test_a_megabyte_of_answer_is_cut_in_the_terminal_and_whole_in_the_files(project: Project) -> None:
    answer = "лишнее " * 150_000
    project.ask(bad("prices").but(answer=answer, contexts=("контекст " * 100_000,)))
    run = project.run()
    assert len(run.text) < 10_000
    (row,) = run.predictions["predictions"]
    assert (row["prediction"], len(row["contexts"][0])) == (answer, 900_000)


@pytest.mark.parametrize(
    "text", ["100 % %s %(x)s {0} {x}", "[bold]not markup[/]", "<b>&amp;</b> ]]>", "\\n \\x1b", "'\"`$(x)"]
)
def test_texts_that_look_like_markup_are_shown_as_they_are(project: Project, text: str) -> None:
    project.ask(bad("prices", reason=text).but(answer=text, question=f"{text}?"))
    run = project.run()
    assert run.short_summary == [f"FAILED billing.rag.yaml::prices - {text} (groundedness 0.41 < 0.70)"]
    assert run.junit["prices"][1] == f"groundedness 0.41 < 0.70: {text}"
    assert f"question  {text}?" in run.lines


def test_a_reason_that_never_ends_is_cut_in_the_terminal(project: Project) -> None:
    project.ask(bad("prices", reason="No price. " * 20_000))
    run = project.run()
    assert len(run.text) < 10_000
    (row,) = run.predictions["predictions"]
    assert len(row["reason"]) > 199_000


@two_ways
def test_values_of_other_types_from_a_users_judge_are_written_as_numbers(project: Project) -> None:
    project.conftest(
        """
import decimal, fractions

class Float(float):
    pass

class Exact:
    def judge(self, question, answer):
        return Judgement(answer_correctness=Float(0.9), groundedness=fractions.Fraction(1, 2), error_message="half")

@pytest.fixture
def rag_judge():
    return Exact()

@pytest.fixture
def rag_client():
    return CannedRag()
"""
    )
    project.ask(good("terms"))
    run = project.run()
    assert run.outcomes in ({"failed": 1}, {"error": 1})
    json.dumps(run.predictions)


@pytest.mark.parametrize("value", ["float('nan')", "7", "-0.1", "'high'", "float('inf')"])
def test_a_score_that_is_none_is_an_error(project: Project, value: str) -> None:
    project.conftest(
        f"""
class Wild:
    async def judge(self, question, answer):
        return Judgement(answer_correctness=1.0, groundedness={value})

@pytest.fixture
def rag_judge():
    return Wild()

@pytest.fixture
def rag_client():
    return CannedRag()
"""
    )
    project.ask(good("terms"))
    run = project.run()
    assert run.outcomes == {"error": 1}
    ((kind, message),) = run.errors_by_id.values()
    assert kind == "judge_reply"
    assert message.startswith("Wild: ")
    assert ".py:" not in run.text
