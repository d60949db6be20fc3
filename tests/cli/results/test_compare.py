"""`ragcheck compare`, from result files to its output."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.baselines import errored, failed, passed, predictions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Ragcheck = Callable[..., tuple[int, str, str]]

SMALL, LARGE = ({"kind": "openai", "model": name, "url": None, "prompt_version": "en-3"} for name in ("small", "large"))
BOTH = {"answer_correctness": 0.9, "groundedness": 0.8}


def write(folder: Path, name: str, *rows: dict[str, Any], **top: Any) -> str:
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}_predictions.json"
    path.write_text(json.dumps(predictions(*rows, **top)), encoding="utf-8")
    return str(path)


@pytest.fixture
def two(tmp_path: Path) -> tuple[str, str]:
    old = write(tmp_path, "old", passed("terms"), failed("prices"), failed("dates"), errored("hours"))
    new = write(tmp_path, "new", passed("terms"), passed("prices", metrics=BOTH), failed("dates"), passed("extra"))
    return old, new


def test_agents_stand_side_by_side(two: tuple[str, str], ragcheck: Ragcheck) -> None:
    status, printed, _ = ragcheck("compare", *two)
    assert status == 0
    # In common: terms, prices, dates. groundedness 0.91, 0.3, 0.3 and 0.91, 0.8, 0.3: up by 0.5 / 3 = 0.167. Of the
    # differences 0, 0.5, 0 the deviation is 0.2887; over sqrt(3), times 4.3027, 0.717.
    assert printed.splitlines() == [
        "2 agents, 3 questions in common; further ones: old 1, new 1",
        "",
        "metric                old    new  difference     95 % interval  n",
        "pass rate           0.333  0.750      +0.333  -0.326 to +0.726  3",
        "answer_correctness  0.983  0.950      -0.033  -0.177 to +0.110  3",
        "groundedness        0.503  0.730      +0.167  -0.550 to +0.884  3",
        "PASS                    1      3",
        "FAIL                    2      1",
        "ERROR                   1      0",
        "",
        (
            "new against old: newly passing 1, newly failing 0; no more than noise (p = 0.500), unconfirmed: "
            "the gate would ask the newly failing ones again"
        ),
        "",
        "questions with different verdicts, 1 of 1:",
        "question          old   new  text",
        "billing::prices  FAIL  PASS  What about prices?",
    ]


def test_the_frame_has_a_row_an_agent_and_leaves_out_what_was_not_measured(tmp_path: Path, ragcheck: Ragcheck) -> None:
    both = write(tmp_path, "gemma", passed(metrics={"exact_match": 0.5, "f1": 0.25, "bertscore_f1": 0.75}))
    one = write(tmp_path, "gpt", passed(metrics={"exact_match": 1.0, "f1": 1.0}))
    _, printed, _ = ragcheck("compare", both, one, "--format=csv")
    rows = list(csv.DictReader(io.StringIO(printed)))
    assert [list(row.values())[:4] for row in rows] == [["gemma", "0.5", "0.25", "0.75"], ["gpt", "1.0", "1.0", ""]]
    assert list(rows[0])[:4] == ["Agent", "Exact Match", "F1", "BERTScore"]


def test_the_frame_says_that_means_are_over_other_questions(two: tuple[str, str], ragcheck: Ragcheck) -> None:
    _, printed, _ = ragcheck("compare", *two, "--format=csv")
    first, other = csv.DictReader(io.StringIO(printed))
    assert list(first.values()) == ["old", "0.983333", "0.503333", "0.333333", "1", "2", "1", "", *[""] * 6]
    # In common: terms, prices, dates; groundedness 0.91, 0.3, 0.3 and 0.91, 0.8, 0.3.
    assert other == {
        "Agent": "new", "Answer Correctness": "0.95", "Groundedness": "0.73",
        "Pass Rate": "0.75", "PASS": "3", "FAIL": "1", "ERROR": "0", "Warnings": "",
        "Pass Rate difference": "0.333333", "Pass Rate n": "3",
        "Answer Correctness difference": "-0.033333", "Answer Correctness n": "3",
        "Groundedness difference": "0.166667", "Groundedness n": "3",
    }  # fmt: skip


@pytest.mark.parametrize("summary", ['{"overall_metrics": {"f1": 0.216667}}', None, "[]", "{"])
def test_the_means_are_those_of_the_summary_if_there_is_one(
    tmp_path: Path, ragcheck: Ragcheck, summary: str | None
) -> None:
    # 26 times 1/3, recorded as 0.333333, and 14 times 0: 26 / 40 / 3 = 0.216667, and 0.21666645.
    ids = [f"q{number}" for number in range(40)]
    rows = [passed(name, metrics={"f1": 0.333333 if place < 26 else 0.0}) for place, name in enumerate(ids)]
    one, other = write(tmp_path, "one", *rows), write(tmp_path, "other", *rows)
    if summary is not None:
        (tmp_path / "one_summary.json").write_text(summary, encoding="utf-8")
    document = json.loads(ragcheck("compare", one, other, "--format=json")[1])
    is_read = summary is not None and "overall" in summary
    assert document["agents"][0]["means"] == {"f1": 0.216667 if is_read else 0.216666}
    assert document["agents"][1]["means"] == {"f1": 0.216666}


def test_a_summary_of_another_run_gives_no_mean(tmp_path: Path, ragcheck: Ragcheck) -> None:
    one, other = write(tmp_path, "one", passed()), write(tmp_path, "other", passed())
    (tmp_path / "one_summary.json").write_text('{"overall_metrics": {"groundedness": 0.5}}', encoding="utf-8")
    document = json.loads(ragcheck("compare", one, other, "--format=json")[1])
    assert document["agents"][0]["means"]["groundedness"] == 0.91


def test_by_question_each_agent_has_its_verdict_and_metrics(two: tuple[str, str], ragcheck: Ragcheck) -> None:
    _, printed, _ = ragcheck("compare", *two, "--format=csv", "--per-question")
    rows = {row["question_id"]: row for row in csv.DictReader(io.StringIO(printed))}
    assert list(rows) == ["terms", "prices", "dates", "hours", "extra"]
    assert (rows["prices"]["old verdict"], rows["prices"]["new groundedness"]) == ("FAIL", "0.8")
    assert (rows["hours"]["old verdict"], rows["hours"]["new verdict"]) == ("ERROR", "")


def test_the_document_has_everything(two: tuple[str, str], ragcheck: Ragcheck, tmp_path: Path) -> None:
    output = tmp_path / "compared.json"
    assert ragcheck("compare", *two, "--format=json", "-o", str(output)) == (0, "", "")
    told = json.loads(output.read_text(encoding="utf-8"))
    new = told["agents"][1]
    assert (told["n_questions"], told["n_common"], new["changes"]) == (5, 3, [])
    assert new["counts"] == {"pass": 3, "fail": 1, "error": 0}
    assert new["gained"] == [{"dataset_name": "billing", "question_id": "prices"}]
    assert new["differences"]["groundedness"]["value"] == 0.166667
    assert told["questions"][3]["verdicts"] == ["ERROR", None]


def test_markdown_shows_texts_as_they_are(tmp_path: Path, ragcheck: Ragcheck) -> None:
    old = write(tmp_path, "old", failed(question="Is a|b *bold*?"))
    new = write(tmp_path, "new|er", passed("prices", question="Is a|b *bold*?"))
    _, printed, _ = ragcheck("compare", old, new, "--format=markdown")
    lines = printed.splitlines()
    assert lines[0] == "2 agents, 1 question in common"
    assert "| metric | old | new\\|er | difference | 95 % interval | n |" in lines
    assert lines[-2:] == ["| billing::prices | FAIL | PASS | Is a\\|b \\*bold\\*? |", ""]


def test_markdown_mentions_nobody_and_links_nowhere(tmp_path: Path, ragcheck: Ragcheck) -> None:
    text = "Ask @octocat in #12 at https://shop.example"
    old = write(tmp_path, "old", failed(question=text))
    new = write(tmp_path, "new", passed("prices", question=text))
    file = tmp_path / "compared.md"
    ragcheck("compare", old, new, "--format=markdown", "-o", str(file))
    printed = file.read_text(encoding="utf-8")
    assert "| Ask @\u200boctocat in \\#\u200b12 at https:\u200b//shop.example |" in printed


def test_a_clear_difference_is_marked(tmp_path: Path, ragcheck: Ragcheck) -> None:
    ids = [f"q{number}" for number in range(12)]
    old = write(tmp_path, "old", *(failed(name) for name in ids))
    new = write(tmp_path, "new", *(passed(name) for name in ids))
    _, printed, _ = ragcheck("compare", old, new, "--show=0")
    assert "pass rate           0.000  1.000     +1.000*  " in printed
    assert "* more than noise, by the tests of the gate" in printed
    assert "newly passing 12, newly failing 0; more than noise (p = 0.000), unconfirmed" in printed
    assert "different verdicts" not in printed
    _, printed, _ = ragcheck("compare", old, new, "--format=markdown")
    assert "| pass rate | 0.000 | 1.000 | +1.000\\* |" in printed
    assert "\n\\* more than noise, by the tests of the gate\n" in printed


def test_it_takes_for_more_than_noise_what_the_gate_would_if_it_were_confirmed(
    tmp_path: Path, ragcheck: Ragcheck
) -> None:
    # From one saved run the gate is red at six broken questions: 1/2^6.
    for count, words in ((5, "no more than noise (p = 0.031)"), (6, "more than noise (p = 0.016)")):
        ids = [f"q{number}" for number in range(30)]
        old = write(tmp_path, "old", *(passed(name) for name in ids))
        new = write(tmp_path, "new", *(failed(name) if ids.index(name) < count else passed(name) for name in ids))
        _, printed, _ = ragcheck("compare", old, new)
        assert f"newly failing {count}; {words}, unconfirmed" in printed


@pytest.mark.parametrize(
    ("before", "now", "told"),
    [
        ({}, {"prompt_version": "en-9"}, "prompt: canned-1 -> en-9"),
        ({"thresholds": {"f1": 0.7}}, {"thresholds": {"f1": 0.05}}, "minimum: f1 0.7 -> f1 0.05"),
        ({"top_k": 3}, {"top_k": 5}, "top_k: 3 -> 5"),
        ({"judge": SMALL}, {"judge": LARGE}, "judge: openai small -> openai large"),
        ({"judge": SMALL, "top_k": 3}, {"top_k": 5}, "judge: openai small -> none; top_k: 3 -> 5"),
    ],
)
def test_settings_that_differ_are_named_with_both_values(
    before: dict[str, Any], now: dict[str, Any], told: str, tmp_path: Path, ragcheck: Ragcheck
) -> None:
    old = write(tmp_path, "old", passed(**before), failed(**before))
    new = write(tmp_path, "new", passed(**now), failed(**now), errored("hours"))
    line = f"verdicts not comparable: new differs from old in {told}"
    assert ragcheck("compare", old, new)[1].splitlines()[1] == line
    document = json.loads(ragcheck("compare", old, new, "--format=json")[1])
    assert [agent["changes"] for agent in document["agents"]] == [[], told.split("; ")]
    frame = csv.DictReader(io.StringIO(ragcheck("compare", old, new, "--format=csv")[1]))
    assert [row["Warnings"] for row in frame] == ["", f"verdicts not comparable: {told}"]


def test_other_texts_are_said(tmp_path: Path, ragcheck: Ragcheck) -> None:
    old = write(tmp_path, "old", passed(), failed())
    new = write(tmp_path, "new", passed(), failed(question="What does it cost?"))
    assert ragcheck("compare", old, new)[1].splitlines()[1] == (
        "1 question with another text in some of the files: prices"
    )


@pytest.mark.parametrize(("answers", "p"), [("other", "no more than noise (p = 0.500)"), ("same", "(p = 0.001)")])
def test_questions_of_one_document_are_one_unit_if_other_answers_differ_too(
    answers: str, p: str, tmp_path: Path, ragcheck: Ragcheck
) -> None:
    names = [f"q{number}" for number in range(20)]
    questions = [
        {"id": name, "question": name, "gold_passages": [{"doc_id": f"{place // 10}.md"}]}
        for place, name in enumerate(names)
    ]
    document = {"dataset_name": "billing", "questions": questions}
    (tmp_path / "billing_questions.json").write_text(json.dumps(document), encoding="utf-8")
    worse = (failed(name, prediction="5 euros") for name in names[:10])
    old = write(tmp_path, "old", *(passed(name, prediction="same") for name in names))
    new = write(tmp_path, "new", *worse, *(passed(name, prediction=answers) for name in names[10:]))
    # Ten questions in one document: 1 / 2. In ten documents: 1 / 2 ** 10.
    (line,) = [line for line in ragcheck("compare", old, new)[1].splitlines() if "newly failing" in line]
    assert p in line


def test_other_labels_are_said(tmp_path: Path, ragcheck: Ragcheck) -> None:
    labels = {"expected": "1", "gold": "1", "mentions": "1"}
    rows = (passed("old"), passed("same", labels=labels), passed("hours", labels=labels), passed(labels=labels))
    before = write(tmp_path, "old", *rows)
    now = write(tmp_path, "new", *rows[:2], failed("hours", labels={**labels, "gold": "2"}), failed("terms"))
    line = "1 question with other labels in some of the files: hours"
    assert ragcheck("compare", before, now)[1].splitlines()[1] == line
    document = json.loads(ragcheck("compare", before, now, "--format=json")[1])
    assert document["relabelled"] == [{"dataset_name": "billing", "question_id": "hours"}]


def test_questions_of_the_tier_retrieval_beside_others_are_no_other_settings(
    tmp_path: Path, ragcheck: Ragcheck
) -> None:
    rows = (passed(), passed("search", tier="retrieval", prompt_version=None))
    _, printed, _ = ragcheck("compare", write(tmp_path, "old", *rows), write(tmp_path, "new", *rows))
    assert "not comparable" not in printed


def test_a_name_or_a_folder_is_enough(tmp_path: Path, ragcheck: Ragcheck) -> None:
    write(tmp_path / "a", "rag", passed())
    write(tmp_path / "b", "rag", passed())
    write(tmp_path / "b", "rag.partial", passed(), complete=False)
    status, printed, _ = ragcheck("compare", str(tmp_path / "a"), str(tmp_path / "b" / "rag"))
    assert status == 0
    assert f"{tmp_path / 'b' / 'rag'} against {tmp_path / 'a' / 'rag'}: newly passing 0" in printed


def test_wrong_usage_is_reported(tmp_path: Path, ragcheck: Ragcheck) -> None:
    one = write(tmp_path / "a", "one", passed())
    write(tmp_path / "a", "two", passed())
    other = write(tmp_path / "b", "other", passed(dataset_name="shop"))
    partial = write(tmp_path / "b", "part", passed(), complete=False)
    newer = write(tmp_path / "b", "newer", passed(), schema_version="2")
    missing, folder, empty = str(tmp_path / "none.json"), str(tmp_path / "a"), str(tmp_path)
    for arguments, text in {
        (one,): f"there is nothing to compare {one} with. Give the results of two agents or more.",
        (one, one): f"{one.removesuffix('_predictions.json')} was given twice. Give the results of different agents or "
        "runs.",
        (one, other): f"one ({one}) and other ({other}) have no question in common, by dataset name and id. Compare "
        "results over the same question files.",
        (
            one,
            newer,
        ): f'{newer}: it has "schema_version" "2", and this pytest-ragcheck reads "1". Run the '
        "questions once more to have such a file.",
        (one, missing): f"{missing}: there is no such file. Give ragcheck compare the {{agent}}_predictions.json of "
        "full runs.",
        (
            one,
            partial,
        ): f'{partial}: "complete" is false: it is of a partial run, which has only some of the questions. '
        "Give ragcheck compare the {agent}_predictions.json of full runs.",
        (one, folder): f"{folder}: expected one file *_predictions.json in the folder, found "
        "one_predictions.json, two_predictions.json. Name the file.",
        (one, empty): f"{empty}: expected one file *_predictions.json in the folder, found none. Name the file.",
        (one, write(tmp_path / "b", "o", passed()), "-o", folder): f"{folder}: cannot be written (Is a directory). "
        "Choose another file.",
    }.items():
        assert ragcheck("compare", *arguments) == (2, "", f"ragcheck compare: {text}\n")
