"""`ragcheck rejudge`, from a recording and its questions to new result files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck import Judgement
from pytest_ragcheck.judging.judgement import material_digest
from pytest_ragcheck.questions.question import GoldPassage
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.redaction import Redactor
from pytest_ragcheck.report.files.result_files import write_results
from pytest_ragcheck.scores import Score
from pytest_ragcheck.summary.aggregate import aggregate
from pytest_ragcheck.verdict.verdict import Verdict
from tests.making import a_question, a_record, a_set, an_error, some_outcomes
from tests.servers.canary_judge import says_of_canaries
from tests.servers.openai_server import OpenAIServer, verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_ragcheck.questions.question import Question

    Ragcheck = Callable[..., tuple[int, str, str]]

TERMS = a_question("terms", expected_answer="30 days")
SKIPPED = a_question("later", skip="not yet")
SAID = Judgement(answer_correctness=0.75, groundedness=0.8, error_message="short", abstained=False)


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A recording with a question that passed, one that the judge failed to judge, and a skipped one."""
    monkeypatch.chdir(tmp_path)
    answered: dict[str, Any] = {"answer": "30 days", "contexts": ("30 days.",)}
    material = material_digest(TERMS, RagAnswer(text="30 days", contexts=("30 days.",)))
    records = [
        a_record(question=TERMS, judgement=SAID, material=material, **answered),
        an_error("hours", error_kind="judge_reply", reason="no JSON", **answered),
    ]
    questions = a_set("billing", TERMS, records[1].question, SKIPPED)
    outcomes = some_outcomes(*records, sets=(questions,), skipped={"billing": 1})
    write_results(outcomes, aggregate(outcomes), tmp_path / "recorded", Redactor())
    return "recorded/rag_predictions.json"


def results(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Predictions and summary."""
    read = [json.loads((folder / f"rag_{name}.json").read_bytes()) for name in ("predictions", "summary")]
    return read[0], read[1]


def test_without_a_judge_the_recorded_verdicts_are_decided_anew(
    recorded: str, ragcheck: Ragcheck, tmp_path: Path
) -> None:
    status, printed, _ = ragcheck("rejudge", recorded, "--rag-threshold=0.78")
    assert status == 1
    assert "0 PASS, 1 FAIL, 1 ERROR, 1 skipped" in printed.splitlines()
    assert "results: ragcheck-results/rag_summary.json, rag_predictions.json" in printed.splitlines()
    predictions, summary = results(tmp_path / "ragcheck-results")
    (row,) = predictions["predictions"]
    assert (row["verdict"], row["reason"], row["judge"]["kind"]) == ("FAIL", "short", "offline")
    assert (predictions["errors"][0]["kind"], predictions["errors"][0]["message"]) == ("judge_reply", "no JSON")
    assert (summary["complete"], summary["replay_of"]) == (True, recorded)
    assert (tmp_path / "ragcheck-results" / "billing_questions.json").exists()


def test_a_flaky_question_of_repeats_is_named(
    tmp_path: Path, ragcheck: Ragcheck, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    record = a_record(
        question=TERMS,
        contexts=("30 days.",),
        judgement=SAID,
        material=material_digest(TERMS, RagAnswer(text="30 days", contexts=("30 days.",))),
        scores={"answer_correctness": 1.0, "groundedness": 0.75},
        repeated={"answer_correctness": ((1.0,), (1.0,)), "groundedness": ((1.0,), (0.5,))},
    )
    outcomes = some_outcomes(record)
    write_results(outcomes, aggregate(outcomes), tmp_path / "recorded", Redactor())
    status, printed, _ = ragcheck("rejudge", "recorded")
    assert (status, printed.count("flaky: billing::terms passed 1 of 2 times\n")) == (0, 1)
    flaky = [{"dataset_name": "billing", "question_id": "terms", "passes": 1, "fails": 1}]
    assert results(tmp_path / "ragcheck-results")[1]["flaky"] == flaky


def test_a_partial_run_stays_partial(recorded: str, ragcheck: Ragcheck, tmp_path: Path) -> None:
    # As of a run of `test_own.py::test_own`, whose other calls of rag_check are in no file.
    path = tmp_path / recorded
    path.write_text(path.read_text(encoding="utf-8").replace('"complete": true', '"complete": false'), encoding="utf-8")
    _, printed, _ = ragcheck("rejudge", recorded)
    assert "partial: the recorded run was partial" in printed.splitlines()
    folder = tmp_path / "ragcheck-results"
    for name in ("predictions", "summary"):
        document = json.loads((folder / f"rag.partial_{name}.json").read_bytes())
        assert document["complete"] is False
    assert not (folder / "rag_predictions.json").exists()


def test_the_questions_that_the_run_was_not_asked_to_collect_stay_known(
    recorded: str, ragcheck: Ragcheck, tmp_path: Path
) -> None:
    path = tmp_path / recorded
    document = json.loads(path.read_bytes())
    # A test that failed may not have made its second call of rag_check.
    document["reach"] = {"searched": ["*"], "left_out": ["test_own::test_it-*"]}
    path.write_text(json.dumps(document), encoding="utf-8")
    ragcheck("rejudge", recorded)
    assert results(tmp_path / "ragcheck-results")[0]["reach"] == document["reach"]


def test_the_folder_of_a_run_is_its_predictions_file(recorded: str, ragcheck: Ragcheck, tmp_path: Path) -> None:
    assert ragcheck("rejudge", "recorded", "--rag-threshold=0.78")[0] == 1
    assert results(tmp_path / "ragcheck-results")[1]["replay_of"] == recorded
    (tmp_path / "recorded" / "other_predictions.json").write_bytes((tmp_path / recorded).read_bytes())
    status, _, text = ragcheck("rejudge", "recorded")
    assert (status, text) == (
        2,
        (
            "ragcheck rejudge: recorded: expected one file *_predictions.json in the folder, "
            "found other_predictions.json, rag_predictions.json. Name the file.\n"
        ),
    )


def test_a_threshold_on_a_metric_of_conftest_is_an_error_and_no_pass(
    ragcheck: Ragcheck, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    asked = a_question("terms", expected_answer="30 days", thresholds={"cited": 0.5})
    scores = {"answer_correctness": Score(1.0), "groundedness": Score(1.0), "cited": Score(0.1)}
    record = a_record(question=asked, scores=scores, answer="30 days", contexts=("30 days.",), judgement=SAID)
    outcomes = some_outcomes(record, sets=(a_set("billing", asked),))
    write_results(outcomes, aggregate(outcomes), tmp_path / "recorded", Redactor())
    status, _, _ = ragcheck("rejudge", "recorded/rag_predictions.json", "--rag-judge=offline")
    (row,) = results(tmp_path / "ragcheck-results")[0]["errors"]
    assert (status, row["kind"]) == (1, "unscored")
    assert row["message"].startswith("cited could not be measured: no metric has this name. Run pytest with the hook")


@pytest.mark.parametrize(("options", "name"), [((), "reranker"), (("-o", "rag_top_k=7", "--rag-agent=other"), "other")])
def test_top_k_is_that_of_the_recorded_run_and_so_is_the_agent_unless_it_is_given(
    recorded: str, ragcheck: Ragcheck, options: tuple[str, ...], name: str
) -> None:
    folder = Path(recorded).parent
    passage = GoldPassage(doc_id="terms", text="30 days.")
    asked = a_question("terms", expected_answer="30 days", gold_passages=(passage,))
    scores = {"answer_correctness": 1.0, "groundedness": 1.0, "cites_section": 0.5}
    record = a_record(question=asked, scores=scores, answer="30 days", contexts=("30 days.",), judgement=SAID, top_k=3)
    outcomes = some_outcomes(record, sets=(a_set("billing", asked),), agent_name="reranker")
    write_results(outcomes, aggregate(outcomes), folder, Redactor())
    _, printed, _ = ragcheck("rejudge", f"{folder}/reranker", "--rag-judge=offline", *options)
    document = json.loads(Path("ragcheck-results", f"{name}_predictions.json").read_bytes())
    (row,) = document["predictions"]
    assert (document["agent_name"], row["top_k"]) == (name, 3)
    assert max(metric for metric in row["metrics"] if metric.startswith("recall")) == "recall_at_3"
    assert "not measured again: cites_section" in printed.splitlines()
    assert any(line.startswith("asserted: answer_correctness >= 0.7, ") for line in printed.splitlines())


@pytest.mark.parametrize("verdict", [Verdict.PASS, Verdict.FAIL])
@pytest.mark.parametrize("beside", [(), (SKIPPED,)])
def test_questions_keep_the_tier_of_the_recorded_run(
    ragcheck: Ragcheck,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    beside: tuple[Question, ...],
    verdict: Verdict,
) -> None:
    monkeypatch.chdir(tmp_path)
    gold = (GoldPassage(doc_id="terms", text="Refunds take 30 days."),)
    sought = a_question("terms", tier="retrieval", ingest=not beside, gold_passages=gold)
    found = {"contexts": ("5 EUR.",), "source_ids": ("fees",)}
    record = a_record(question=sought, answer=None, judge=None, verdict=verdict, **found)
    # A questions file has one tier, or none if those of `rag_check` calls differ.
    skipped = {"billing": len(beside)}
    outcomes = some_outcomes(record, sets=(a_set("billing", sought, *beside),), skipped=skipped)
    write_results(outcomes, aggregate(outcomes), tmp_path / "recorded", Redactor())
    status, printed, _ = ragcheck("rejudge", "recorded/rag_predictions.json")
    assert (status, f"0 PASS, 1 FAIL, 0 ERROR, {len(beside)} skipped" in printed.splitlines()) == (1, True), printed
    (row,) = results(tmp_path / "ragcheck-results")[0]["predictions"]
    assert (row["tier"], "abstained" in row["metrics"], row["thresholds"]) == ("retrieval", False, {"recall_at_5": 0.7})


def test_a_tier_that_only_a_part_of_the_questions_had_is_refused(
    ragcheck: Ragcheck, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    sought = a_question("fees", tier="retrieval", gold_passages=(GoldPassage(doc_id="fees", text="5 EUR."),))
    found = a_record(question=sought, answer=None, judge=None, contexts=("5 EUR.",), source_ids=("fees",))
    answered = a_record(question=TERMS, answer="30 days", contexts=("30 days.",))
    for folder, records in (("mixed", (found, answered)), ("alike", (found,))):
        outcomes = some_outcomes(*records, sets=(a_set("billing", *(each.question for each in records)),))
        write_results(outcomes, aggregate(outcomes), tmp_path / folder, Redactor())
    status, _, errors = ragcheck("rejudge", "mixed", "-o", "rag_tier=retrieval")
    assert status == 2
    assert errors.startswith("ragcheck rejudge: rag_tier: only a pytest run can honour this. Leave it out, or run ")
    assert ragcheck("rejudge", "alike", "-o", "rag_tier=retrieval")[0] == 0


def test_another_judge_judges_all_answers_those_too_that_the_first_could_not(
    recorded: str, ragcheck: Ragcheck, tmp_path: Path
) -> None:
    with OpenAIServer(says_of_canaries(instructed={"groundedness": 1.0})) as server:
        arguments = (f"--rag-judge-url={server.url}", "--rag-judge-model=m", "--rag-output=new", "-o", "rag_retries=0")
        for times in (1, 2):
            status, printed, errors = ragcheck("rejudge", recorded, *arguments)
            assert (status, errors) == (0, "")
            # The judge is tried out on six answers, once for that folder of results.
            assert len(server.requests) == 6 + 2 * times
            assert "2 PASS, 0 FAIL, 0 ERROR, 1 skipped" in printed.splitlines()
            weak = "is weak: of the answers that it was tried on, the instructed answer passes with groundedness 1."
            assert weak in printed
    predictions, _ = results(tmp_path / "new")
    assert {row["judge"]["model"] for row in predictions["predictions"]} == {"m"}


def test_a_judge_that_cannot_tell_good_from_bad_judges_nothing_anew(
    recorded: str, ragcheck: Ragcheck, tmp_path: Path
) -> None:
    with OpenAIServer(verdict(groundedness=0.9)) as server:
        arguments = (f"--rag-judge-url={server.url}", "--rag-judge-model=m", "--rag-output=new")
        status, printed, errors = ragcheck("rejudge", recorded, *arguments)
        assert (status, printed, len(server.requests)) == (2, "", 6)
        assert errors.startswith("ragcheck rejudge: the judge openai (m, en-2, ")
        assert "it cannot tell good answers from bad ones\n" in errors
        assert "or keep this one with -o rag_disable=preflight. See " in errors
        assert not (tmp_path / "new").exists()
        assert ragcheck("rejudge", recorded, *arguments, "-o", "rag_disable=preflight")[0] == 0
        assert len(server.requests) == 6 + 2


def test_nothing_is_judged_if_the_results_cannot_be_written(recorded: str, ragcheck: Ragcheck, tmp_path: Path) -> None:
    (tmp_path / "new").write_text("", encoding="utf-8")
    with OpenAIServer(verdict()) as server:
        arguments = (f"--rag-judge-url={server.url}", "--rag-judge-model=m", "--rag-output=new")
        status, printed, text = ragcheck("rejudge", recorded, *arguments)
        assert (status, printed) == (2, "")
        assert (
            text
            == f"ragcheck rejudge: {tmp_path / 'new'} is a file, and results go into a folder. Use another folder.\n"
        )
        assert server.requests == []


def test_a_summary_that_cannot_be_read_is_not_needed(recorded: str, ragcheck: Ragcheck, tmp_path: Path) -> None:
    (tmp_path / "recorded" / "rag_summary.json").write_text("[" * 200_000, encoding="utf-8")
    assert ragcheck("rejudge", recorded)[2] == ""


def test_an_output_folder_that_is_a_loop_of_links_is_refused(recorded: str, ragcheck: Ragcheck, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    status, _, text = ragcheck("rejudge", recorded, "--rag-output=loop")
    assert (status, "loop is a file, and results go into a folder. Use another folder.\n" in text) == (2, True)


def test_ini_values_are_given_as_to_pytest(recorded: str, ragcheck: Ragcheck, tmp_path: Path) -> None:
    arguments = ("--rag-judge=none", "-o", "rag_metrics=overlap", "--rag-min", "f1=0.5")
    # Without a judge it is no ERROR.
    assert ragcheck("rejudge", recorded, *arguments)[0] == 0
    predictions, summary = results(tmp_path / "ragcheck-results")
    assert summary["counts"] == {"pass": 2, "fail": 0, "error": 0, "skipped": 1}
    assert predictions["predictions"][0]["metrics"] == {"exact_match": 1.0, "f1": 1.0}


def test_the_baseline_of_the_folder_changes_nothing(recorded: str, ragcheck: Ragcheck, tmp_path: Path) -> None:
    arguments = ("rejudge", recorded, "--rag-judge=offline", "--rag-min=groundedness=0.99")
    without, files = ragcheck(*arguments), results(tmp_path / "ragcheck-results")
    (tmp_path / "ragcheck-baseline.json").write_bytes((tmp_path / recorded).read_bytes())
    assert ragcheck(*arguments) == without
    for before, after in zip(files, results(tmp_path / "ragcheck-results"), strict=True):
        assert {**after, "timestamp": before["timestamp"]} == before


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            ["nowhere.json"],
            "nowhere.json: there is no such file. Replay the ",
        ),
        (
            ["recorded/rag_predictions.json", "--rag-output=recorded"],
            "recorded/rag_predictions.json would be overwritten. Give another --rag-agent or --rag-output.",
        ),
        (["recorded/rag_predictions.json", "--rag-threshold=2"], "--rag-threshold: '2' is not a number from 0 to 1; "),
        (["recorded/rag_predictions.json", "-o", "rag_top=2"], "-o: 'rag_top=2' is not a setting. "),
        (
            ["recorded/rag_predictions.json", "-o", "rag_tier=retrieval"],
            "rag_tier: only a pytest run can honour this. Leave it out, or run pytest --rag-replay=recorded/rag_pred",
        ),
        (
            ["recorded/rag_predictions.json", "-o", "rag_gate=rate:0.9", "-o", "rag_resume=true"],
            "rag_gate, rag_resume: only a pytest run can honour this. Leave it out, or run pytest --rag-re",
        ),
        (["recorded/rag_predictions.json", "-o", "rag_top_k=no"], "-o rag_top_k: 'no' is not a whole number from 1; "),
        (
            ["recorded/rag_predictions.json", "--rag-judge-model=m"],
            "recorded/rag_predictions.json was judged by another judge, and the openai judge needs a key: ",
        ),
    ],
)
def test_wrong_usage_says_what_to_give(
    recorded: str, ragcheck: Ragcheck, arguments: list[str], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    status, printed, errors = ragcheck("rejudge", *arguments)
    assert (status, printed) == (2, "")
    assert errors.startswith(f"ragcheck rejudge: {text}")


def test_the_questions_have_to_lie_beside_the_recording(recorded: str, ragcheck: Ragcheck, tmp_path: Path) -> None:
    (tmp_path / "recorded" / "billing_questions.json").unlink()
    status, _, errors = ragcheck("rejudge", recorded)
    assert status == 2
    assert errors == (
        "ragcheck rejudge: recorded/rag_predictions.json: question 'terms' of 'billing' is in no "
        "questions file of its folder. Copy the {dataset}_questions.json of the same run into 'recorded'.\n"
    )
