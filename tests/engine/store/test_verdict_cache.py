"""The verdict cache returns the verdict on the same answer, and no other."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_ragcheck.engine.store.verdict_cache import FILE, CachingJudge, VerdictCache
from pytest_ragcheck.errors import JudgeError, JudgeReplyError
from pytest_ragcheck.judging.judge_prompt import load_prompt
from pytest_ragcheck.judging.judgement import JudgeIdentity, Judgement
from pytest_ragcheck.judging.model.openai_judge import OpenAIJudge
from pytest_ragcheck.judging.panel import Panel, afresh, judge_by_all
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.redaction import REDACTED, Redactor
from tests.making import Judges, a_question

QUESTION = a_question(expected_answer="30 days")
ANSWER = RagAnswer(text="30 days", contexts=("Within 30 days.",))
SAID = Judgement(
    answer_correctness=0.25,
    groundedness=0.5,
    error_message="too short",
    abstained=False,
    unsupported_claims=("for ever",),
)
KEPT = {"groundedness": 0.5, "error_message": "too short", "unsupported_claims": ["for ever"]}


LOCK = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("begin immediate")
print("locked", flush=True)
sys.stdin.readline()
"""


class Fingerprinted(Judges):
    """A judge with a fingerprint."""

    identity = JudgeIdentity(kind="openai", model="m", prompt_version="en-1")
    closed = False

    def __init__(self, judgement: Any = SAID, *, fingerprint: str = "f-1") -> None:
        super().__init__(judgement)
        self.fingerprint = fingerprint

    async def aclose(self) -> None:
        self.closed = True


def test_a_fresh_judgement_bypasses_the_cache_for_every_judge_of_a_panel(tmp_path: Path) -> None:
    asyncio.run(CachingJudge(Fingerprinted(), cache_of(tmp_path, "earlier")).judge(QUESTION, ANSWER))
    said = replace(SAID, groundedness=0.75)
    judge, other = Fingerprinted(said), Fingerprinted(said, fingerprint="f-2")
    caching = CachingJudge(judge, cache_of(tmp_path, "now"))
    assert asyncio.run(caching.judge(QUESTION, ANSWER)).groundedness == 0.5
    assert judge.judged == []
    assert asyncio.run(caching.afresh().judge(QUESTION, ANSWER)).groundedness == 0.75
    panel = Panel([CachingJudge(judge, cache_of(tmp_path, "later")), other])
    asyncio.run(panel.judge(QUESTION, ANSWER))
    assert (len(judge.judged), len(other.judged)) == (1, 1)
    asyncio.run(afresh(panel).judge(QUESTION, ANSWER))
    assert (len(judge.judged), len(other.judged)) == (2, 2)


def cache_of(folder: Path, run: str, **said: Any) -> VerdictCache:
    return VerdictCache(folder, run=run, **{"redactor": Redactor(), **said})


def judged(
    folder: Path,
    run: str,
    judge: Fingerprinted | None = None,
    *,
    question: Any = QUESTION,
    answer: RagAnswer = ANSWER,
    repeat: int = 0,
) -> Judgement:
    """The record of one question from a run in its own process."""

    async def run_it() -> Judgement:
        caching = CachingJudge(judge or Fingerprinted(), cache_of(folder, run), repeat=repeat)
        try:
            return await caching.judge(question, answer)
        finally:
            await caching.aclose()

    return asyncio.run(run_it())


def test_a_later_run_is_given_what_the_judge_said(tmp_path: Path) -> None:
    assert judged(tmp_path, "run 1") == SAID
    silent = Fingerprinted(AssertionError("asked again"))
    assert judged(tmp_path, "run 2", silent) == replace(SAID, cached=True)
    assert judged(tmp_path, "run 3", silent) == replace(SAID, cached=True)
    assert silent.judged == []
    assert silent.closed


@pytest.mark.parametrize(
    "change",
    [
        {"judge": Fingerprinted(fingerprint="f-2")},
        {"question": a_question(expected_answer="30 days", question="What about prices?")},
        {"question": a_question(expected_answer="60 days")},
        {"question": a_question(expected_answer="30 days", all_acceptable_answers=("a month",))},
        {"question": a_question()},
        {"answer": replace(ANSWER, text="30 days.")},
        {"answer": replace(ANSWER, contexts=("Within 60 days.",))},
        {"answer": replace(ANSWER, contexts=("Within 30", "days."))},
        {"answer": replace(ANSWER, contexts=())},
        {"repeat": 1},
    ],
)
def test_what_differs_in_anything_in_the_judges_request_is_judged_anew(tmp_path: Path, change: Any) -> None:
    judged(tmp_path, "run 1")
    assert not judged(tmp_path, "run 2", **change).cached


@pytest.mark.parametrize(
    "same",
    [
        {"question": a_question(expected_answer="30 days", thresholds={"groundedness": 0.9})},
        {"question": a_question("other", expected_answer="30 days", question=QUESTION.question, dataset_name="new")},
        {"answer": replace(ANSWER, latency_seconds=3.0, source_ids=("7",), extra={"trace": 1})},
    ],
)
def test_text_outside_the_judges_request_does_not_matter(tmp_path: Path, same: Any) -> None:
    judged(tmp_path, "run 1")
    assert judged(tmp_path, "run 2", **same).cached


def test_who_asks_a_second_time_in_a_run_gets_a_judgement_of_its_own(tmp_path: Path) -> None:
    judged(tmp_path, "run 1")
    assert not judged(tmp_path, "run 1").cached
    # The same holds if an earlier run, even in another process, had stored the first one.
    assert judged(tmp_path, "run 2").cached
    assert not judged(tmp_path, "run 2", Fingerprinted(replace(SAID, groundedness=1.0))).cached
    assert judged(tmp_path, "run 3").groundedness == 1.0


def test_an_error_is_never_kept(tmp_path: Path) -> None:
    for error in (JudgeError("down"), JudgeReplyError("no JSON")):
        with pytest.raises(JudgeError):
            judged(tmp_path, "run 1", Fingerprinted(error))
    assert not judged(tmp_path, "run 2").cached


def test_repeats_have_places_of_their_own(tmp_path: Path) -> None:
    scores = [0.25, 0.5, 0.75]
    for repeat, score in enumerate(scores):
        judged(tmp_path, "run 1", Fingerprinted(Judgement(groundedness=score)), repeat=repeat)
    assert [judged(tmp_path, "run 2", repeat=repeat).groundedness for repeat in range(3)] == scores


def test_what_is_stored_holds_no_secret_and_no_text_of_question_or_answer(tmp_path: Path) -> None:
    cache = cache_of(tmp_path, "run 1", redactor=Redactor(["hunter2hunter2"]))
    asyncio.run(
        CachingJudge(Fingerprinted(replace(SAID, error_message="not hunter2hunter2")), cache).judge(QUESTION, ANSWER)
    )
    asyncio.run(cache.aclose())
    assert judged(tmp_path, "run 2").error_message == f"not {REDACTED}"
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"hunter2" not in stored
    assert ANSWER.text.encode() not in stored


def test_what_was_not_used_for_longest_goes_first(tmp_path: Path) -> None:
    def fill(run: str, names: list[str], most_bytes: int) -> list[str]:
        """The names that were known."""
        cache = cache_of(tmp_path, run, most_bytes=most_bytes)
        known = [name for name in names if asyncio.run(cache.take(name)) is not None]
        for name in names:
            if name not in known:
                asyncio.run(cache.keep(name, {"error_message": "x" * 1200}))
        asyncio.run(cache.aclose())
        return known

    fill("run 1", ["a", "b", "c", "d"], 10_000)
    fill("run 2", ["a"], 3_000)  # each takes about 1,300: only two have room
    assert fill("run 3", ["d", "a"], 10_000) == ["d", "a"]
    assert fill("run 4", ["b", "c"], 10_000) == []


def test_several_processes_fill_and_read_one_file(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_fill, args=(str(tmp_path), number)) for number in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0, 0, 0]
    cache = cache_of(tmp_path, "run 2")
    assert all(asyncio.run(cache.take(f"{number} {n}")) == KEPT for number in range(3) for n in range(50))
    asyncio.run(cache.aclose())


def _fill(folder: str, number: int) -> None:
    cache = cache_of(Path(folder), "run 1")
    for n in range(50):
        asyncio.run(cache.keep(f"{number} {n}", KEPT))
    asyncio.run(cache.aclose())
    assert not cache.problem


@pytest.mark.parametrize("content", [b"not a database " * 400, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_damaged_file_is_said_and_started_anew(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / FILE
    path.write_bytes(content)
    cache = cache_of(tmp_path, "run 1")
    assert cache.problem.startswith(f"{path}: the verdict cache was damaged (")
    assert cache.problem.endswith(") and has been recreated.")
    asyncio.run(cache.keep("k", KEPT))
    asyncio.run(cache.aclose())
    assert asyncio.run(cache_of(tmp_path, "run 2").take("k")) == KEPT


def test_damage_that_shows_later_is_met_in_the_same_way(tmp_path: Path) -> None:
    path = tmp_path / FILE
    cache = cache_of(tmp_path, "run 1")
    for n in range(500):
        asyncio.run(cache.keep(f"k{n}", KEPT))
    asyncio.run(cache.aclose())
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    path.write_bytes(bytes(content))
    cache = cache_of(tmp_path, "run 2")
    assert [asyncio.run(cache.take(f"k{n}")) for n in range(3)] == [None, None, None]
    assert "was damaged (database disk image is malformed) and has been recreated" in cache.problem
    asyncio.run(cache.keep("k0", KEPT))
    assert asyncio.run(cache_of(tmp_path, "run 3").take("k0")) is not None
    asyncio.run(cache.aclose())


def test_a_cache_that_another_process_locks_waits_and_the_loop_runs_meanwhile(tmp_path: Path) -> None:
    cache = cache_of(tmp_path, "run 1")
    command = [sys.executable, "-c", LOCK, str(tmp_path / FILE)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as locking:
        assert locking.stdout is not None
        assert locking.stdout.readline() == "locked\n"

        async def scenario() -> None:
            putting = asyncio.create_task(cache.keep("k", KEPT))
            await asyncio.sleep(0.1)
            assert not putting.done()
            locking.communicate("end\n", timeout=60)
            await putting
            await cache.aclose()

        asyncio.run(scenario())
    assert cache.problem == ""
    assert asyncio.run(cache_of(tmp_path, "run 2").take("k")) == KEPT


@pytest.mark.parametrize("stored", ["no JSON", "[]", '{"score": 1}', "{}", '{"unsupported_claims": 1}'])
def test_a_judgement_that_cannot_be_read_is_asked_for_again(tmp_path: Path, stored: str) -> None:
    judged(tmp_path, "run 1")
    with closing(sqlite3.connect(tmp_path / FILE)) as connection, connection:
        connection.execute("UPDATE verdicts SET judgement = ?", (stored,))
    assert judged(tmp_path, "run 2") == SAID


def test_a_file_of_another_layout_is_started_anew_without_a_word(tmp_path: Path) -> None:
    judged(tmp_path, "run 1")
    with closing(sqlite3.connect(tmp_path / FILE)) as connection, connection:
        connection.execute("PRAGMA user_version = 99")
    cache = cache_of(tmp_path, "run 2")
    assert cache.problem == ""
    asyncio.run(cache.aclose())
    assert not judged(tmp_path, "run 2").cached
    assert judged(tmp_path, "run 3").cached


def test_a_cache_that_cannot_be_opened_is_off_and_says_why(tmp_path: Path) -> None:
    (tmp_path / FILE).mkdir()
    cache = cache_of(tmp_path, "run 1")
    assert cache.problem == (
        f"{tmp_path / FILE}: the verdict cache is off: unable to open database file. The judge is asked about every "
        "answer. Free some space or allow writing there, or set rag_disable = cache."
    )
    assert judged(tmp_path, "run 1") == SAID
    assert judged(tmp_path, "run 2") == SAID


def test_a_cache_that_cannot_be_written_is_off_and_says_why(tmp_path: Path) -> None:
    cache = cache_of(tmp_path, "run 1")
    asyncio.run(cache.keep("k", KEPT))
    with closing(sqlite3.connect(tmp_path / FILE)) as other, other:
        other.execute("ALTER TABLE verdicts RENAME TO others")
    asyncio.run(cache.keep("l", KEPT))
    assert "the verdict cache is off: no such table: verdicts" in cache.problem
    assert asyncio.run(cache.take("k")) is None
    asyncio.run(cache.aclose())


def fingerprint(**said: Any) -> str:
    prompt = load_prompt(said.pop("prompt", "en"))
    default = {"model": "m", "api_key": "k", "base_url": "http://localhost:1/v1"}
    return OpenAIJudge(**{**default, **said}, prompt=prompt).fingerprint


@pytest.mark.parametrize(
    "change",
    [
        {"model": "m-2"},
        {"base_url": "http://localhost:2/v1"},
        {"base_url": "https://localhost:1/v1"},
        {"base_url": "http://localhost:1/v2"},
        {"base_url": "http://localhost:1/v1?deployment=other"},
        {"prompt": "ru"},
    ],
)
def test_another_model_server_or_prompt_has_another_fingerprint(change: dict[str, str]) -> None:
    assert fingerprint(**change) != fingerprint()


@pytest.mark.parametrize(
    "same",
    [{"api_key": "other"}, {"timeout_seconds": 5.0}, {"max_retries": 0}, {"base_url": "http://me:pw@localhost:1/v1/"}],
)
def test_how_the_server_is_reached_has_no_part_in_the_fingerprint(same: dict[str, Any]) -> None:
    assert fingerprint(**same) == fingerprint()


def test_a_prompt_file_counts_by_its_content(tmp_path: Path) -> None:
    texts = ["Judge {answer} to {question} by {contexts}.", "Judge {answer} to {question} by {contexts} strictly."]
    found = []
    for folder, text in zip(("a", "b"), texts, strict=True):
        path = tmp_path / folder / "mine.txt"
        path.parent.mkdir()
        path.write_text(text, encoding="utf-8")
        found.append(fingerprint(prompt=str(path)))
    assert len({*found, fingerprint()}) == 3


def test_a_judge_over_a_callers_client_has_no_fingerprint() -> None:
    from openai import AsyncOpenAI

    client = AsyncOpenAI(api_key="k", base_url="http://localhost:1/v1")
    assert OpenAIJudge(model="m", api_key="", client=client).fingerprint == ""


def test_a_judgement_survives_the_file_whole(tmp_path: Path) -> None:
    for repeat, judgement in enumerate((SAID, Judgement(), Judgement(groundedness=0.0))):
        judged(tmp_path, "run 1", Fingerprinted(judgement), repeat=repeat)
        assert judged(tmp_path, "run 2", repeat=repeat) == replace(judgement, cached=True)
    assert json.dumps(judged(tmp_path, "run 3").groundedness) == "0.5"


def test_a_judge_that_is_asked_several_times_has_a_place_for_each(tmp_path: Path) -> None:
    judges = [Fingerprinted(Judgement(groundedness=0.5)) for _ in range(2)]
    for run, judge in enumerate(judges):
        caching = CachingJudge(judge, cache_of(tmp_path, f"run {run}"))
        judgement = asyncio.run(judge_by_all(a_question(), RagAnswer(text="a", contexts=("b",)), caching, repeats=3))
        asyncio.run(caching.aclose())
        assert judgement.votes == {"groundedness": [0.5, 0.5, 0.5]}
        assert judgement.cached is (run == 1)
    assert [len(judge.judged) for judge in judges] == [3, 0]
