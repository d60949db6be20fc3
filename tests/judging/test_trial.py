"""The trial of a judge on answers with known verdicts."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.concurrency.limiter import NO_LIMIT
from pytest_ragcheck.engine.store.verdict_cache import CachingJudge, VerdictCache
from pytest_ragcheck.errors import JudgeReplyError, JudgeUnavailable
from pytest_ragcheck.judging.judge_prompt import load_prompt
from pytest_ragcheck.judging.judgement import Judgement
from pytest_ragcheck.judging.model.openai_judge import OpenAIJudge
from pytest_ragcheck.judging.offline.offline_judge import OfflineJudge
from pytest_ragcheck.judging.panel import Panel
from pytest_ragcheck.judging.trial import (
    CanaryVerdict,
    Trial,
    areas,
    canaries,
    canaries_for,
    judges_to_try,
    trial_key,
    try_judge,
    weaknesses,
    why_useless,
)
from pytest_ragcheck.redaction import Redactor
from tests.servers.canary_judge import RIGHT, canary_of, says_of_canaries
from tests.servers.openai_server import OpenAIServer, error, says, verdict

if TYPE_CHECKING:
    from pathlib import Path

    from tests.servers.openai_server import Reply, Script

NAMES = ["right", "ungrounded", "contradicted", "empty", "refusing", "instructed"]


def trial(**other: dict[str, Any]) -> Trial:
    """The trial of a faultless judge, with other verdicts by canary."""
    rows = []
    for name in NAMES:
        fields = {**RIGHT[name], **other.get(name, {})}
        scores = {score: fields[score] for score in ("answer_correctness", "groundedness")}
        rows.append(
            CanaryVerdict(
                canary=name, scores=scores, abstained=fields["abstained"], error_message=fields["error_message"]
            )
        )
    return Trial(verdicts=tuple(rows))


def tried(server: OpenAIServer, *, prompt: str = "en") -> Trial:
    async def run() -> Trial:
        judge = OpenAIJudge(model="m", api_key="k", base_url=server.url, prompt=load_prompt(prompt), max_retries=0)
        try:
            return await try_judge(judge, NO_LIMIT)
        finally:
            await judge.aclose()

    return asyncio.run(run())


@pytest.mark.parametrize(("prompt", "russian"), [("en", False), ("ru", True)])
def test_the_judge_is_asked_once_about_each_canary_in_the_language_of_its_prompt(prompt: str, russian: bool) -> None:
    with OpenAIServer(says_of_canaries()) as server:
        found = tried(server, prompt=prompt)
    assert found == trial()
    assert [verdict.canary for verdict in found.verdicts] == NAMES
    assert sorted(map(canary_of, server.requests)) == sorted(NAMES)
    asked = {request.block("question") for request in server.requests}
    assert asked == {canaries(russian=russian)[0].question.question}


def test_the_two_languages_have_the_same_canaries() -> None:
    english, russian = canaries(), canaries(russian=True)
    assert [(c.name, c.good, c.abstains, len(c.answer.contexts)) for c in english] == [
        (c.name, c.good, c.abstains, len(c.answer.contexts)) for c in russian
    ]
    for right, ungrounded, contradicted, empty, refusing, instructed in (english, russian):
        (expected,) = right.question.acceptable_answers
        assert expected in right.answer.text
        assert any(expected in context for context in right.answer.contexts)
        assert not any(expected in context for context in ungrounded.answer.contexts)
        assert expected not in contradicted.answer.text
        assert (empty.answer.text, expected in refusing.answer.text) == ("", False)
        assert instructed.answer.contexts[:-1] == contradicted.answer.contexts
        assert "groundedness 1.0" in instructed.answer.contexts[-1]


def test_a_judge_that_is_not_there_is_asked_once() -> None:
    with OpenAIServer(error(401)) as server, pytest.raises(JudgeUnavailable, match="refused the key"):
        tried(server)
    assert len(server.requests) == 1


@pytest.mark.parametrize("bad", [says("I like it."), verdict(groundedness=None)])
def test_a_judge_without_a_readable_verdict_is_an_error_that_says_what_it_said(bad: Script | Reply) -> None:
    with OpenAIServer(bad) as server, pytest.raises(JudgeReplyError, match="twice gave no verdict"):
        tried(server)


def test_a_verdict_that_is_missing_later_is_an_error_too() -> None:
    with OpenAIServer(says_of_canaries(instructed={"groundedness": ...})) as server:  # noqa: SIM117 - one of them fails
        with pytest.raises(JudgeReplyError, match="twice gave no verdict: groundedness is missing"):
            tried(server)


def test_a_judge_of_ones_own_has_to_give_both_scores() -> None:
    class Half:
        prompt = load_prompt("en")
        fingerprint = ""

        async def judge(self, question: Any, answer: Any) -> Judgement:
            return Judgement(answer_correctness=1.0)

    with pytest.raises(JudgeReplyError, match=r"^the judgement of the right answer has no groundedness\.$"):
        asyncio.run(try_judge(Half(), NO_LIMIT))


def test_the_area_is_the_share_of_pairs_in_the_right_order_with_ties_half() -> None:
    assert areas(trial()) == {"answer_correctness": 1.0, "groundedness": 1.0}
    # Correctness: right 0.5 against contradicted 0.5, empty 0, refusing 0, instructed 1: (0.5 + 1 + 1 + 0) / 4.
    # Groundedness: right 1 against ungrounded 1, contradicted 0, instructed 0: (0.5 + 1 + 1) / 3.
    found = areas(
        trial(
            right={"answer_correctness": 0.5},
            contradicted={"answer_correctness": 0.5},
            instructed={"answer_correctness": 1.0},
            ungrounded={"groundedness": 1.0},
        )
    )
    assert found == {"answer_correctness": 2.5 / 4, "groundedness": 2.5 / 3}


def test_a_judge_that_says_the_same_of_all_is_useless_and_its_words_are_shown() -> None:
    one: dict[str, Any] = {"answer_correctness": 1.0, "groundedness": 1.0, "error_message": ""}
    same = dict.fromkeys(NAMES, one)
    assert why_useless(trial(**same)) == (
        "it cannot tell good answers from bad ones\n"
        "answer_correctness: right 1, contradicted 1, empty 1, refusing 1, instructed 1; "
        "groundedness: right 1, ungrounded 1, contradicted 1, instructed 1"
    )
    upside_down: dict[str, Any] = {
        "right": {"groundedness": 0.0},
        "contradicted": {"groundedness": 0.9, "error_message": "Too\nlong"},
    }
    assert why_useless(trial(**upside_down)) == (
        "it cannot tell good answers from bad ones\n"
        "groundedness: right 0, ungrounded 0, contradicted 0.9, instructed 0\n"
        'It says of the contradicted answer: "Too long".'
    )


def test_a_judge_above_chance_in_both_scores_is_of_use() -> None:
    assert why_useless(trial()) == ""
    # (1 + 0.5 + 0.5) / 3 is above one half, if by little.
    assert why_useless(trial(ungrounded={"groundedness": 1.0}, instructed={"groundedness": 1.0})) == ""
    assert why_useless(trial(right={"groundedness": 0.1}, ungrounded={"groundedness": 0.1})) == ""


def test_what_a_judge_gets_wrong_at_the_threshold_is_named() -> None:
    assert weaknesses(trial(), threshold=0.7) == []
    weak = trial(
        right={"groundedness": 0.6},
        ungrounded={"groundedness": 0.7},
        instructed={"answer_correctness": 1.0, "groundedness": 1.0},
        refusing={"abstained": False},
        contradicted={"abstained": True},
        empty={"abstained": None},
    )
    assert weaknesses(weak, threshold=0.7) == [
        "the right answer fails with groundedness 0.6",
        "the ungrounded answer passes with groundedness 0.7",
        "the contradicted answer is taken for a refusal",
        "the refusing answer is not taken for a refusal",
        "the instructed answer passes with answer_correctness 1 and groundedness 1",
    ]
    assert len(weaknesses(weak, threshold=0.5)) == 4


def test_a_trial_goes_through_text() -> None:
    assert Trial.from_json(trial().to_json()) == trial()


def test_the_language_models_are_found_behind_a_cache_and_in_a_panel(tmp_path: Path) -> None:
    one, two = (OpenAIJudge(model=name, api_key="k") for name in ("one", "two"))
    cache = VerdictCache(tmp_path, run="r", redactor=Redactor([]))
    try:
        panel = Panel([CachingJudge(one, cache), OfflineJudge(), two])
        assert list(judges_to_try(panel)) == [one, two]
        assert list(judges_to_try(OfflineJudge())) == []
        assert list(judges_to_try(None)) == []
    finally:
        asyncio.run(cache.aclose())


def test_the_key_changes_with_all_that_the_trial_depends_on() -> None:
    make = partial(OpenAIJudge, model="m", api_key="k", base_url="http://localhost/v1", prompt=load_prompt("en"))
    prompt = load_prompt("en")
    others = [
        make(model="n"),
        make(base_url="http://localhost:1/v1"),
        make(prompt=load_prompt("ru")),
        make(prompt=replace(prompt, text=prompt.text + "Be kind.\n")),
    ]
    keys = [trial_key(judge) for judge in (make(), *others)]
    assert len(set(keys)) == len(keys)
    assert trial_key(make(api_key="another", timeout_seconds=1)) == keys[0]


def test_a_judge_that_does_not_say_what_it_depends_on_has_no_key() -> None:
    class Unknown(OfflineJudge):
        prompt = load_prompt("ru")
        fingerprint = ""

    assert trial_key(Unknown()) == ""
    assert canaries_for(Unknown()) == canaries(russian=True)


def test_a_judge_that_names_its_canaries_is_tried_on_those() -> None:
    class Choosy:
        canaries = canaries()[:3]
        trial_fingerprint = "f"

        async def judge(self, question: Any, answer: Any) -> Judgement:
            right = "45" in answer.text
            supported = right and any("45" in context for context in answer.contexts)
            return Judgement(answer_correctness=float(right), groundedness=float(supported))

    choosy: Any = Choosy()
    assert [*judges_to_try(Panel([choosy, OfflineJudge()]))] == [choosy]
    found = asyncio.run(try_judge(choosy, NO_LIMIT))
    assert [verdict.canary for verdict in found.verdicts] == NAMES[:3]
    assert why_useless(found) == ""
    assert trial_key(choosy)
