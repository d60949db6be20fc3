"""Makes the requests of the gate for one question, in the process of its client and judge."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from pytest_ragcheck.concurrency.tasks import in_thread
from pytest_ragcheck.engine.budget import OverBudget
from pytest_ragcheck.metrics.cost import summed
from pytest_ragcheck.metrics.metric import measure
from pytest_ragcheck.scores import PROHIBITIONS, RETRIEVAL, measured_values
from pytest_ragcheck.summary.gate.comparability import other_settings
from pytest_ragcheck.summary.gate.gate_decision import is_newly_forbidden
from pytest_ragcheck.summary.gate.gate_replies import GateReplies, is_deterministic
from pytest_ragcheck.summary.gate.procedure.candidate import asks_again, examine
from pytest_ragcheck.summary.gate.procedure.compared_question import (
    AskAgain,
    ComparedQuestion,
    KnownRun,
    Look,
    Reply,
    Scores,
    passes,
)
from pytest_ragcheck.summary.gate.procedure.mean_test import can_be_judged
from pytest_ragcheck.summary.gate.recorded_verdicts import look_of_today
from pytest_ragcheck.summary.gate.saved_answer import ASKED, EXPECTED, PARTS, answer_digest, context_digest
from pytest_ragcheck.verdict.maximums import with_whole_cost
from pytest_ragcheck.verdict.record import Record, lacks_secrets
from pytest_ragcheck.verdict.verdict import Verdict

if TYPE_CHECKING:
    from pytest_ragcheck.plugin.asking.checker import Checker
    from pytest_ragcheck.plugin.asking.schedule import Backends
    from pytest_ragcheck.plugin.collecting.run_baseline import RunBaseline
    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.rag.answer import RagAnswer
    from pytest_ragcheck.summary.gate.baseline_reader import BaselineRow


async def with_evidence(record: Record, backends: Backends, checker: Checker, run: RunBaseline) -> Record:
    """
    The record with the evidence that the gate needs, asking the system and the judge again if necessary.

    A resumed record may have its evidence already; it is kept if it is whole, with the same saved runs and procedure.
    """
    question, evidence = record.question, record.evidence
    row = run.row(question)
    excused = question.quarantine is not None or question.xfail
    kept = (tuple(evidence.get("saved_runs", ())), evidence.get("gate")) == (run.baseline.runs, run.gate)
    lacks = evidence.get("over_budget") or evidence.get("not_judged") or None in evidence.get("replies", ())
    if row is None or record.verdict is Verdict.ERROR or (kept and not lacks):
        return record
    # The gate refuses a baseline of other settings without further requests.
    if excused or (run.rules.other_baseline == "refuse" and other_settings(row, record)):
        recorded = any((each.judge, each.material) == (record.judge, record.material) for each in row.answers)
        return replace(record, verdict_cached=record.verdict_cached and not recorded)
    return await _Examination(record, backends, checker, run, row).run()


@dataclass(slots=True)
class _Examination:
    record: Record
    backends: Backends
    checker: Checker
    baseline: RunBaseline
    row: BaselineRow
    answers: dict[str, tuple[Question, RagAnswer]] = field(default_factory=dict)
    """Recorded answers and those of this run, by digest, each with its question and the turns before it."""

    recorded: set[str] = field(default_factory=set)
    """Digests of recorded answers that today's judge judged."""

    retrieval: dict[str, dict[str, float]] = field(default_factory=dict)
    """Retrieval scores of recorded answers by digest, if today's gold ids are unknown to them."""

    relabelled: dict[str, Scores] = field(default_factory=dict)
    """Scores under changed labels by digest of the answer; empty if it could not be judged again."""

    again: list[Record] = field(default_factory=list)
    judged: list[Record] = field(default_factory=list)
    over_budget: bool = False

    async def run(self) -> Record:
        thresholds = self.record.thresholds
        now = await self._look(self.record, thresholds)
        self.relabelled[now.answer or ""] = now.scores
        known = await self._known(thresholds)
        latest, question = self.row.saved[-1][0], self.record.question
        common = {m: t for m, t in thresholds.items() if any(m in look.scores for look in self.row.answers)}
        if not known and (common or latest.has_labels_of(question)):
            # A metric that is asserted for the first time must not hide a collapse of the others.
            thresholds, known = common, await self._known(common)
        lower = {
            metric: min(minimum, self.row.thresholds.get(metric, minimum)) for metric, minimum in thresholds.items()
        }
        same = {m: t for m, t in thresholds.items() if latest.has_labels_of(question, ASKED, PARTS.get(m, EXPECTED))}
        # No raised threshold hides a fall below the former one, and no edited label one of another metric.
        for weaker in (lower, same):
            if not (known and known[-1].passed) and not passes(now.scores, weaker):
                found = await self._known(weaker)
                if found and found[-1].passed:
                    thresholds, known = weaker, found
        now = replace(now, passed=passes(now.scores, thresholds))
        evidence = GateReplies(
            gate=self.baseline.gate,
            thresholds=thresholds,
            now=now,
            known=known,
            apart="" if known else "its labels changed, and the recorded answers cannot be scored under the new ones",
            ids_renamed=bool(self.baseline.recorded_ids(self.record)),
            saved_runs=self.baseline.baseline.runs,
        )
        if known:
            evidence = replace(await self._asked(evidence), over_budget=self.over_budget)
        verdicts = tuple(each.verdict.value for each in self.again)
        # Judging again costs the system nothing.
        judged = (
            replace(each.cost, system_input_tokens=0, system_output_tokens=0, system_usd=0) for each in self.judged
        )
        cost = summed((self.record.cost, *(each.cost for each in self.again), *judged))
        # A leak may be searched by a regular expression.
        shown = await in_thread(self._leaking) if self.again else self.record
        return with_whole_cost(replace(shown, evidence=evidence.to_document(), asked_again=verdicts), cost)

    def _leaking(self) -> Record:
        # The worst leak of today, first of those that no saved run has; without a leak the first failure.
        failed = [each for each in (self.record, *self.again) if each.verdict is Verdict.FAIL]

        def kept(record: Record) -> tuple[bool, float]:
            shares = (record.shortfalls.get(metric, 1.0) for metric in PROHIBITIONS)
            return not is_newly_forbidden(record, self.row), sum(shares)

        # No later PASS excuses a leak.
        return min(failed, key=kept, default=self.record)

    async def _known(self, thresholds: Mapping[str, float]) -> tuple[KnownRun, ...]:
        renamed = self.baseline.renames_gold(self.record)
        metrics = [m for m in self.checker.metrics_of(self.backends) if not (renamed and m.names == RETRIEVAL)]
        # A model judges recorded answers again for the means of `regression`, and if the answer of today fails.
        wanted = (
            self.baseline.gate == "regression" or self.record.verdict is Verdict.FAIL or is_deterministic(self.record)
        )
        found = []
        for run, saved in enumerate(self.row.saved, -len(self.row.saved)):
            question = replace(self.record.question, history=saved[0].history)
            if not question.history:
                question = self.baseline.with_saved_turns(self.record.question, run)
            looks = []
            for each in saved:
                digest, same = each.digest(question) or "", each.has_labels_of(question, ASKED, EXPECTED)
                if each.judge == self.record.judge and same:
                    self.recorded.add(digest)
                if each.answer is not None:
                    self.answers.setdefault(digest, (question, each.answer))
                weights = self.backends.settings.run.weights
                rescored = partial(look_of_today, each, question, thresholds, metrics=metrics, weights=weights)
                look = await rescored()
                if look is None and digest in self.answers and not same and each.has_labels_of(question, ASKED):
                    if wanted and digest not in self.relabelled:
                        judged = await self._judge((digest,))
                        self.relabelled[digest] = judged[0] if judged else {}
                    look = await rescored(judged=self.relabelled.get(digest))
                if look is not None and look.answer is not None and renamed:
                    self.retrieval[look.answer] = {m: v for m, v in look.scores.items() if m in RETRIEVAL}
                looks.append(look)
            if looks[0] is not None:
                found.append(KnownRun(looks=tuple(look for look in looks if look is not None)))
        return tuple(found)

    async def _look(self, record: Record, thresholds: Mapping[str, float]) -> Look:
        contexts, reply = list(map(context_digest, record.contexts)), record.reply
        scores = measured_values(record.scores)
        if ids := self.baseline.recorded_ids(record):
            # A gold passage without a text is found by its recorded id only.
            reply = replace(reply, source_ids=ids)
            for metric in self.checker.metrics_of(self.backends):
                if metric.names == RETRIEVAL:
                    scores |= measured_values(await measure(metric, record.question, reply))
        digest = None
        if not lacks_secrets(record):
            digest = answer_digest(reply.text, contexts, reply.source_ids, record.question)
            self.answers.setdefault(digest, (record.question, reply))
        return Look(
            answer=digest,
            scores=scores,
            passed=passes(scores, thresholds),
            fresh=not record.verdict_cached and record.judge is not None,
        )

    async def _asked(self, evidence: GateReplies) -> GateReplies:
        compared = evidence.compared(self.record)
        deterministic = is_deterministic(self.record)
        steps = examine(compared, gate=evidence.gate, deterministic_judge=deterministic)
        replies: list[Reply] = []
        try:
            request = next(steps)
            while True:
                if isinstance(request, AskAgain):
                    replies.append(await self._ask_again(evidence.thresholds))
                else:
                    replies.append(await self._judge(request.answers))
                request = steps.send(replies[-1])
        except StopIteration:
            pass
        evidence = replace(evidence, replies=tuple(replies))
        if evidence.gate == "regression":
            if not compared.now.passed and not compared.is_candidate:
                evidence = replace(evidence, replies=await self._looks_to_save(compared, evidence.thresholds))
            evidence = await self._judged_for_means(evidence, compared, deterministic=deterministic)
        same = compared.now.answer in self.recorded
        drift = None
        if same and not deterministic and self.row.key in self.baseline.drift_sample:
            drift = await self._drift(compared)
        return replace(evidence, same=same, drift=drift)

    async def _ask_again(self, thresholds: Mapping[str, float]) -> Look | None:
        try:
            record = await self.checker.ask_again(self.record, self.backends)
        except OverBudget:
            self.over_budget = True
            return None
        self.again.append(record)
        return None if record.verdict is Verdict.ERROR else await self._look(record, thresholds)

    async def _looks_to_save(self, compared: ComparedQuestion, thresholds: Mapping[str, float]) -> tuple[Look, ...]:
        # Ask a known failure again until it passes, for the baseline that this run may be saved into.
        # A later run counts a question as improved only if it failed every look of a saved run.
        looks: list[Look] = []
        for _ in range(asks_again(compared, "regression")):
            look = await self._ask_again(thresholds)
            if look is not None:
                looks.append(look)
            if look is None or look.passed:
                break
        return tuple(looks)

    async def _judge(self, answers: Sequence[str]) -> tuple[Scores, ...] | None:
        # Return new scores of the answers, in order; None if one of them could not be measured.
        done = await asyncio.gather(
            *(self.checker.judge_again(*self.answers[digest], self.backends) for digest in answers),
            return_exceptions=True,
        )
        for raised in done:
            if isinstance(raised, BaseException) and not isinstance(raised, OverBudget):
                raise raised
        records = [record for record in done if not isinstance(record, BaseException)]
        self.judged += records
        self.over_budget = self.over_budget or len(records) < len(done)
        if len(records) < len(done) or any(record.verdict is Verdict.ERROR for record in records):
            return None
        judged = zip(answers, records, strict=True)
        return tuple(measured_values(record.scores) | self.retrieval.get(digest, {}) for digest, record in judged)

    async def _drift(self, compared: ComparedQuestion) -> tuple[Scores, Scores] | None:
        looks = (look for run in compared.known for look in run.looks)
        recorded = next((look for look in looks if look.answer == compared.now.answer), None)
        if recorded is None or recorded.answer is None:
            return None
        over_budget = self.over_budget
        today = await self._judge((recorded.answer,))
        # The cost limit may reduce the sample, because the question itself is examined.
        self.over_budget = over_budget
        return None if today is None else (recorded.scores, today[0])

    async def _judged_for_means(
        self, evidence: GateReplies, compared: ComparedQuestion, *, deterministic: bool
    ) -> GateReplies:
        # Judge each answer of a changed question once more, or twice if the question asserts a single metric.
        if not can_be_judged([compared]):
            return evidence
        times = 1 if deterministic or len(compared.thresholds) > 1 else 2
        fresh = compared.now.answer if compared.now.fresh else None
        answers = dict.fromkeys(look.answer or "" for look in reversed(compared.looks_by_run))
        wanted = [each for each in answers for _ in range(times - (each == fresh))]
        scores = await self._judge(wanted)
        if scores is None:
            return replace(evidence, not_judged=True)
        found = list(zip(wanted, scores, strict=True))
        return replace(evidence, judged={each: tuple(s for of, s in found if of == each) for each in answers})
