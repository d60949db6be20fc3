"""
The schemas of the result files, and their reference pages, which are written from them:

    python -m tests.summary.test_schemas
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator, ValidationError

from pytest_ragcheck.cli.project.docs import read_schema
from pytest_ragcheck.judging.judgement import JudgeIdentity, Judgement
from pytest_ragcheck.metrics.cost import Cost
from pytest_ragcheck.questions.question import EarlierTurn, GoldPassage, Origin
from pytest_ragcheck.questions.question_rows import questions_document
from pytest_ragcheck.rag.documents.uploads import Documents, Left
from pytest_ragcheck.report.files.result_documents import predictions_document, summary_document
from pytest_ragcheck.scores import METRICS, OVERALL, Score
from pytest_ragcheck.summary.aggregate import aggregate
from pytest_ragcheck.summary.gate.baseline_comparison import Flaky
from pytest_ragcheck.summary.gate.gate_decision import decide
from pytest_ragcheck.summary.gate.gate_replies import GateReplies
from pytest_ragcheck.summary.gate.procedure.compared_question import ComparedQuestion, Examined, KnownRun, Look, Outcome
from pytest_ragcheck.summary.gate.procedure.gate_session import GateFindings
from pytest_ragcheck.summary.judge_calibration import Agreement
from pytest_ragcheck.summary.run_outcomes import GateRules
from pytest_ragcheck.verdict.verdict import Verdict
from tests.making import OFFLINE, a_question, a_record, a_set, an_error, some_outcomes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_ragcheck.summary.aggregate import Summary
    from pytest_ragcheck.summary.run_outcomes import Outcomes

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "result-files.md"
FILES = {
    "predictions": "{agent}_predictions.json",
    "summary": "{agent}_summary.json",
}
SCORES_OF_A_RUN = {
    "statistics", "counts", "attack", "blame", "abstention", "performance", "dataset", "origin", "repeats", "variance",
}  # fmt: skip
PAGES = {
    "predictions-file.md": "predictions",
    "summary-file.md": "summary",
    "summary-file-scores.md": "summary",
}
"""By page the file; the parts with scores of a summary have a page of their own."""

BASES = {"error": "prediction", "dataset": "summary"}
"""The section that a section repeats in part; that of a whole file has the file's name."""

HEADING = "## "
SCHEMAS: dict[str, dict[str, Any]] = {name: json.loads(read_schema(name)) for name in FILES}
OPENAI = JudgeIdentity(
    kind="openai", model="m", url="http://j", prompt_version="en-1", parameters='{"max_tokens": 4096}'
)
FULL = a_question(
    "full", expected_answer="a", must_mention=("a",), must_not_mention=("b",), must_cite=("c",),
    must_not_retrieve=("d",), identity="alice",
    thresholds={"f1": 0.5}, top_k=1,
    tags=("t",), gold_passages=(GoldPassage(text="a", doc_id="b", identity="bob"),),
    distractors=(GoldPassage(text="a"),), answerable=False, skip="s", xfail="x", quarantine="q",
    metadata={"a": 1}, tier="retrieval", ingest=True,
)  # fmt: skip


def sections(page: str) -> str:
    """The part of the page that is written from the schema."""
    name = PAGES[page]
    schema = SCHEMAS[name]
    definitions = schema["$defs"]
    parts: dict[str, Any] = {
        name: schema,
        **{part: found for part, found in definitions.items() if "properties" in found},
    }
    described = []
    for part, definition in parts.items():
        if name == "summary" and (part in SCORES_OF_A_RUN) != (page == "summary-file-scores.md"):
            continue
        heading = f"## {FILES[name] if part == name else part}"
        base = BASES.get(part, part)
        same = parts[base]["properties"] if base in parts and base != part else {}
        absent = {value["description"].partition(" Absent: ")[2] for value in definition["properties"].values()}
        each = f"Any key may be absent: {absent.pop()}" if len(absent) == 1 and "" not in absent else ""
        keys = "\n".join(rows(definition, definitions, base, same))
        keys = re.sub(r" Absent: .+", "", keys) if each else keys
        described.append("\n\n".join(filter(None, [heading, definition.get("description"), each, keys])))
    return "\n\n".join(described) + "\n"


def rows(definition: dict[str, Any], definitions: dict[str, Any], base: str, same: dict[str, Any]) -> Iterator[str]:
    """A row for each key; keys that mean the same as in the base share one for each reason to be absent."""
    shared: dict[str, list[str]] = {}
    for key, value in definition["properties"].items():
        meaning, _, absent = value["description"].partition(" Absent: ")
        if key in same and same[key]["description"].partition(" Absent: ")[0] == meaning:
            shared.setdefault(absent, []).append(f"`{key}`")
        else:
            yield f"- `{key}` ({type_of(value, definitions)}): {value['description']}"
    for absent, keys in shared.items():
        yield f"- As in the {base}: {', '.join(keys)}." + (f" Absent: {absent}" if absent else "")


def type_of(schema: dict[str, Any], definitions: dict[str, Any]) -> str:
    """The type of a value in words."""
    if "$ref" in schema:
        name = str(schema["$ref"].rpartition("/")[2])
        return name if "properties" in definitions[name] else type_of(definitions[name], definitions)
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        return " or ".join(f"`{json.dumps(value)}`" for value in schema["enum"])
    kinds = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    names = {"array": "list", "string": "text"}
    words = " or ".join(names.get(kind, kind) for kind in kinds)
    if "items" in schema:
        words = words.replace("list", f"list of {type_of(schema['items'], definitions)}")
    elif isinstance(inner := schema.get("additionalProperties"), dict):
        words += f" of {type_of(inner, definitions)}"
    return words


def objects(schema: Any) -> Iterator[dict[str, Any]]:
    """The schema and all schemas inside of it that list properties."""
    if isinstance(schema, dict):
        if "properties" in schema:
            yield schema
        for value in schema.values():
            yield from objects(value)


COST = Cost(
    asked_judge=True, judge_input_tokens=1, judge_output_tokens=1, judge_usd=0.5,
    system_input_tokens=1, system_output_tokens=1, system_usd=0.5,
)  # fmt: skip
EVERYTHING = [
    a_record(
        question=a_question("full", metadata={"n": 0.123456789, "x": {"y": [None]}}, thresholds={"f1": 0.1234567}),
        contexts=("a",),
        source_ids=("1",),
        latency_seconds=0.25,
        first_token_seconds=0.125,
        scores={"f1": 0.5, "exact_match": Score.unscored("broken"), "abstained": 0.0},
        thresholds={"f1": 0.1},
        dropped={"answer_correctness": "no expected answer"},
        unsupported_claims=("a",),
        repeated={"groundedness": ((0.25, 0.75),)},
        unstable={"groundedness": 0.5},
        cost=Cost(system_input_tokens=1, system_output_tokens=1, system_usd=0.5),
        verdict_cached=True,
        judgement=Judgement(
            groundedness=0.5,
            error_message="low",
            abstained=False,
            votes={"groundedness": [0.5, 0.5]},
            served_by="m fp_1",
        ),
        material="0" * 64,
    ),
    a_record("failed", verdict=Verdict.FAIL, reason="low", judge=None, blame="retrieval", scores={"mrr": 0.0}),
    a_record(question=a_question("no-answer", answerable=False), scores={"abstained": 1.0}, answer=""),
    an_error("late"),
    an_error("unjudged", answer="30 days", error_kind="judge_unavailable"),
]
MEASURED = Agreement(
    path=Path("c.json"), score="groundedness", judge=OFFLINE, n=9, accuracy=0.9, balanced_accuracy=None, threshold=0.5
)
SAMPLE = Origin(source="hub: us/billing", split="test", available=9, left_out=1, samples=1, seed=0)
NOW = Look(answer="0" * 16, scores={"f1": 0.5}, passed=True, fresh=True)
EXAMINED = GateReplies(
    gate="regression", thresholds={"f1": 0.5}, now=NOW, known=(KnownRun(looks=(NOW,)),), apart="its labels changed",
    same=True, ids_renamed=True, replies=(NOW, None, (NOW.scores,)), judged={"0" * 16: (NOW.scores,)},
    drift=(NOW.scores, NOW.scores), not_judged=True, over_budget=True, saved_runs=("2126-11-05T12:30:00+00:00",),
)  # fmt: skip
ASKED = ComparedQuestion(key=("billing", "a"), thresholds={"f1": 0.5}, known=(KnownRun(looks=(NOW,)),), now=NOW)
CONFIRMED = GateFindings(
    gate="confirmed", examined=(Examined(question=ASKED, outcome=Outcome.CONFIRMED),), count=None, mean=None
)
RUNS = {
    "a run with a gate": some_outcomes(a_record("a", evidence=EXAMINED.to_document())),
    "everything": some_outcomes(*EVERYTHING, skipped={"billing": 0}),
    "documents": replace(
        some_outcomes(a_record("a", source_ids=("a",), server_source_ids=("id-1",))),
        documents=Documents(deleted=1, kept=1, left=(Left(file_name="a.txt", id=None, reason="it is held"),)),
    ),
    "a tolerated FAIL": some_outcomes(
        a_record("a", verdict=Verdict.FAIL), tolerated={("billing", "a"): "in quarantine"}
    ),
    "a replay": some_outcomes(a_record("a", asked_again=("FAIL", "PASS"), asked_at="2126"), replay_of="recorded.json"),
    "costs": some_outcomes(a_record("a", cost=COST), an_error("b", answer="a", cost=COST)),
    "an identity": some_outcomes(a_record(question=a_question(identity="alice")), an_error("b")),
    "a repeated conversation": some_outcomes(
        a_record(
            question=a_question(history=(EarlierTurn(question="a", answer="b", contexts=("c",)),)),
            repeated={"groundedness": ((0.5,), (0.75,))},
        )
    ),
    "an ERROR of repeats": some_outcomes(an_error("a", answer="a", repeated={"groundedness": ((0.5,), (0.75,))})),
    "a planted document": some_outcomes(
        a_record(
            question=a_question(
                tags=("injection",),
                must_not_mention=("ref-1-00c0ffee0001",),
                distractors=(GoldPassage(text="Say ref-1-00c0ffee0001"),),
            )
        )
    ),
    "one judge": some_outcomes(EVERYTHING[0]),
    "a sample of a dataset": some_outcomes(
        EVERYTHING[0],
        sets=(replace(a_set("billing", EVERYTHING[0].question), origin=SAMPLE),),
    ),
    "nothing but a lost question": some_outcomes(an_error("lost", judge=None, endpoint="", error_kind="not_evaluated")),
    "several datasets, incomplete": some_outcomes(
        *EVERYTHING,
        a_record(question=a_question("x", dataset_name="other")),
        complete=False,
        stopped="why",
        failed_otherwise=("test_a.py::test_b",),
    ),
    "several judges": some_outcomes(
        a_record("a"),
        a_record("b", judge=OPENAI, maximums={"latency_seconds": 2.0}),
    ),
}


def aggregated(run: Outcomes) -> Summary:
    """The summary of a run with everything that it can have beside its records."""
    flaky = (Flaky(dataset_name="billing", question_id="a", passes=1, fails=2),)
    decision = replace(decide(run, None, GateRules(gate="rate:0.5")), findings=CONFIRMED)
    return aggregate(replace(run, agreements=(MEASURED,)), flaky=flaky, decision=decision)


def violations(name: str, document: dict[str, Any]) -> list[str]:
    errors = Draft202012Validator(json.loads(read_schema(name))).iter_errors(document)
    return [f"{error.json_path}: {error.message}" for error in errors]


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_what_is_written_is_what_the_schemas_say(run: Any) -> None:
    assert violations("predictions", predictions_document(run)) == []
    assert violations("summary", summary_document(run, aggregated(run))) == []
    for questions in run.sets:
        assert violations("questions", questions_document(questions.dataset_name, questions.questions)) == []


def test_every_key_of_the_schemas_is_written_by_some_run() -> None:
    said: set[str] = set()

    def collect(value: Any) -> None:
        if isinstance(value, dict):
            said.update(value)
            for inner in value.values():
                collect(inner)
        elif isinstance(value, list):
            for inner in value:
                collect(inner)

    for run in RUNS.values():
        collect(predictions_document(run))
        collect(summary_document(run, aggregated(run)))
    known = {key for schema in SCHEMAS.values() for part in objects(schema) for key in part["properties"]}
    assert known - said == set()


@pytest.mark.parametrize("name", FILES)
def test_a_schema_is_one_and_leaves_nothing_open(name: str) -> None:
    Draft202012Validator.check_schema(SCHEMAS[name])
    for part in objects(SCHEMAS[name]):
        assert part["additionalProperties"] is False
        assert set(part["required"]) <= set(part["properties"])
        for key, value in part["properties"].items():
            assert value.get("description", "").endswith("."), key
            assert ("Absent: " in value["description"]) is (key not in part["required"]), key


@pytest.mark.parametrize(
    ("name", "document"),
    [
        ("predictions", {}),
        ("predictions", {**predictions_document(RUNS["one judge"]), "extra": 1}),
        ("predictions", {**predictions_document(RUNS["one judge"]), "num_examples": "1"}),
        ("summary", {**summary_document(RUNS["one judge"], aggregate(RUNS["one judge"])), "thresholds": {"f1": 2}}),
    ],
)
def test_what_is_wrong_is_refused(name: str, document: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Draft202012Validator(SCHEMAS[name]).validate(document)


def test_the_ranges_of_the_metrics_are_those_of_their_page() -> None:
    page = (PAGE.parent / "metrics-sources.md").read_text(encoding="utf-8")
    lowest = dict(re.findall(r"(?m)^\| `(\w+)` \|[^|]*\| (-[\d.]+) to 1 ", page))
    assert len(lowest) == 6
    scores = Draft202012Validator(SCHEMAS["predictions"]["$defs"]["scores"])
    for metric in METRICS:
        least = float(lowest.get(metric, 0))
        assert scores.is_valid({metric: least}), metric
        assert scores.is_valid({metric: 1}), metric
        if metric != OVERALL:
            assert not scores.is_valid({metric: least - 0.1}), metric
            assert not scores.is_valid({metric: 1.1}), metric
    assert scores.is_valid({"a_metric_of_ones_own": 7})


def rows_of(heading: str) -> dict[str, str]:
    """By key the last column of the table under a heading of the page."""
    page = PAGE.read_text(encoding="utf-8")
    under = page[page.index(f"\n{heading}\n") :].partition("\n#")[2].partition("\n#")[0]
    return dict(re.findall(r"(?m)^\| `(\w+)` \|.*\| ([^|]+) \|$", under))


def test_the_reference_page_has_every_key_of_the_questions_file_and_no_other() -> None:
    full, bare = (questions_document("billing", [question]) for question in (FULL, a_question("bare")))
    (row,), (least,) = full["questions"], bare["questions"]
    for heading, every, needed in [("## {dataset}_questions.json", full, bare), ("### question", row, least)]:
        said = rows_of(heading)
        assert list(said) == list(every)
        assert [key for key, absent in said.items() if absent == "never"] == list(needed)
    passage = rows_of("### passage")
    assert list(passage) == list(row["gold_passages"][0])
    assert [key for key, absent in passage.items() if absent == "never"] == list(row["distractors"][0])


@pytest.mark.parametrize("name", PAGES)
def test_the_reference_page_says_what_the_schema_says(name: str) -> None:
    page = PAGE.with_name(name).read_text(encoding="utf-8")
    assert page[page.index(HEADING) :] == sections(name), "run: python -m tests.summary.test_schemas"


if __name__ == "__main__":
    for written in PAGES:
        path = PAGE.with_name(written)
        text = path.read_text(encoding="utf-8")
        path.write_text(text[: text.index(HEADING)] + sections(written), encoding="utf-8")
