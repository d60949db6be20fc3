"""`ragcheck calibrate`, from a file of labelled answers to the numbers."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from pytest_ragcheck.summary.judge_calibration import read_agreements
from tests.servers.canary_judge import RIGHT, canary_of, says_of_canaries
from tests.servers.openai_server import OpenAIServer, Reply, Request, completion, error, json_reply, verdict_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Ragcheck = Callable[..., tuple[int, str, str]]

CONTEXTS = ["The refund window is 30 days.", "Delivery takes a week."]
ROWS = [
    {"id": "right", "answer": "The refund window is 30 days.", "label_grounded": 1},
    {"id": "also-right", "answer": "Delivery takes a week.", "label_grounded": 1},
    {"id": "odd", "answer": "The refund window is 30 days.", "label_grounded": 0},
    {"id": "made-up", "answer": "Giraffes run a hotel in Bergen.", "label_grounded": 0},
]
FOLDER = os.environ.get("RAGCHECK_JUDGING_LABELS", "")


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    filled = [{"question": "What holds?", "contexts": CONTEXTS, **row} for row in rows]
    path.write_text("".join(json.dumps(row) + "\n" for row in filled), encoding="utf-8")
    return path


def asking(server: OpenAIServer) -> tuple[str, ...]:
    """The arguments by which the server is the judge."""
    return "--judge=openai", "--judge-model=m", f"--judge-url={server.url}"


@pytest.fixture
def closed_judge(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    """A judge that refuses the key it is given."""
    monkeypatch.setenv("RAGCHECK_JUDGE_API_KEY", "sk-of-the-judge-0123456789")
    with OpenAIServer(error(401, "bad key")) as server:
        yield server


def test_the_offline_judge_is_measured(tmp_path: Path, ragcheck: Ragcheck) -> None:
    status, printed, _ = ragcheck("calibrate", str(write(tmp_path / "l.jsonl", ROWS)), "--judge", "offline")
    assert status == 0
    lines = printed.splitlines()
    assert lines[0].startswith("judge: offline (")
    assert lines[1] == "groundedness against label_grounded of l.jsonl: 4 answers, 2 grounded, 2 not grounded"
    assert "balanced_accuracy  0.750  " in printed
    assert (
        "\nat threshold 0.7       pass   fail\n"
        "  grounded                2      0\n"
        "  not grounded            1      1\n" in printed
    )
    assert (
        "widest disagreements, 1 of 1:\n"
        "- odd: groundedness 1.00, people say: not grounded\n"
        "    question: What holds?\n"
        "    answer: The refund window is 30 days.\n" in printed
    )


@pytest.mark.parametrize("name", ["by_length", "make_judge"])
def test_a_function_is_measured_as_a_judge_or_for_the_judge_that_it_makes(
    name: str, tmp_path: Path, ragcheck: Ragcheck, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / f"judges_of_{name}.py").write_text(
        "from pytest_ragcheck import Judgement\n\n"
        "def by_length(question, answer):\n    return Judgement(groundedness=min(1, len(answer.text) / 100))\n\n"
        "def make_judge(kind='plain'):\n    return by_length\n",
        encoding="utf-8",
    )
    labelled = str(write(tmp_path / "l.jsonl", ROWS))
    status, printed, errors = ragcheck("calibrate", labelled, f"--judge=judges_of_{name}:{name}")
    assert (status, errors) == (0, "")
    assert printed.startswith("judge: by_length\n")


def test_the_numbers_and_the_curve_are_written(tmp_path: Path, ragcheck: Ragcheck) -> None:
    output = tmp_path / "calibration.json"
    labelled = write(tmp_path / "l.jsonl", ROWS)
    status, printed, _ = ragcheck(
        "calibrate", str(labelled), "--judge=offline", "--output", str(output), "--threshold=0.5"
    )
    assert status == 0
    assert printed.endswith(f"written: {output}\nwritten: {output.with_suffix('.svg')}\n")
    told = json.loads(output.read_text(encoding="utf-8"))
    assert (told["n"], told["n_good"], told["n_bad"], told["threshold"]) == (4, 2, 2, 0.5)
    # Of the four pairs three are in order and one is a tie... "odd" equals both good ones: 2 + 2 / 2 of 4.
    assert told["roc_auc"] == 0.75
    assert (told["accuracy"], told["balanced_accuracy"], told["tpr"], told["tnr"], told["kappa"]) == (
        0.75,
        0.75,
        1.0,
        0.5,
        0.5,
    )
    assert told["judge"]["kind"] == "offline"
    assert told["intervals"].keys() == {"accuracy", "balanced_accuracy", "tpr", "tnr", "kappa", "roc_auc"}
    assert [row["id"] for row in told["disagreements"]] == ["odd"]
    picture = ET.fromstring(output.with_suffix(".svg").read_text(encoding="utf-8"))
    assert picture.find("{*}title").text.startswith("groundedness: area 0.750 (")  # type: ignore[union-attr]


MINE = """
from pytest_ragcheck import Judgement

def lenient(question, answer):
    return Judgement(groundedness=1.0)
"""


def test_several_judges_are_compared_on_the_same_answers(
    tmp_path: Path, ragcheck: Ragcheck, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    module = f"judges_beside_{tmp_path.name.replace('-', '_')}".lower()
    (tmp_path / f"{module}.py").write_text(MINE, encoding="utf-8")
    labelled = str(write(tmp_path / "l.jsonl", [{**row, "id": f"{row['id']}{n}"} for n in range(30) for row in ROWS]))
    output = tmp_path / "c.json"
    status, printed, errors = ragcheck(
        "calibrate", labelled, f"--judge={module}:lenient", "--judge=offline", f"--output={output}"
    )
    assert (status, errors) == (0, "")
    lines = printed.splitlines()
    assert lines[0] == "groundedness against label_grounded of l.jsonl: 120 answers scored by all judges"
    # The offline judge is wrong about "odd" alone, the lenient one about all that is not grounded.
    (first,) = (line for line in lines if line.startswith("1. lenient ") and "  unknown" in line)
    assert "  0.500 (" in first
    (second,) = (line for line in lines if line.startswith("2. offline (") and line.endswith("  none"))
    assert "  0.750 (" in second
    assert any(line.startswith("1. lenient") and "  -0.250 (" in line for line in lines)
    assert lines[-3].startswith("best by balanced_accuracy: 2. offline (")
    assert lines[-2:] == ["no other judge is shown to be as good within 0.05", f"written: {output}"]
    told = json.loads(output.read_text(encoding="utf-8"))
    assert (told["best"], told["cheapest"], told["n"]) == (1, 1, 120)
    assert [judge["judge"]["kind"] for judge in told["judges"]] == ["lenient", "offline"]
    assert {each.judge.kind for each in read_agreements([output])} == {"lenient", "offline"}


RAISES = """
from pytest_ragcheck import Judgement

def always(question, answer):
    raise ValueError("no weights")

def on_giraffes(question, answer):
    return Judgement(groundedness=1 / (0 if "Giraffes" in answer.text else 1))

def undecided(question, answer):
    return Judgement(groundedness=1.0, abstained="MAYBE")
"""


@pytest.fixture
def raising(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a module with judges that raise."""
    monkeypatch.chdir(tmp_path)
    module = f"raising_{tmp_path.name.replace('-', '_')}".lower()
    (tmp_path / f"{module}.py").write_text(RAISES, encoding="utf-8")
    return module


def test_an_answer_on_which_the_judge_raises_could_not_be_judged(
    tmp_path: Path, ragcheck: Ragcheck, raising: str
) -> None:
    labelled = str(write(tmp_path / "l.jsonl", [ROWS[0], ROWS[3]]))
    status, printed, told = ragcheck("calibrate", labelled, f"--judge={raising}:on_giraffes")
    assert (status, told) == (1, "")
    failure = f"made-up: ZeroDivisionError: division by zero ({raising}.py:8)"
    assert printed.splitlines()[1:3] == [
        "groundedness against label_grounded of l.jsonl: 1 answer, 1 grounded, 0 not grounded",
        f"1 further answer could not be judged, the first: {failure}",
    ]


def test_a_judge_that_always_raises_leaves_the_results_of_the_others(
    tmp_path: Path, ragcheck: Ragcheck, raising: str
) -> None:
    labelled = str(write(tmp_path / "l.jsonl", ROWS))
    judges = ("--judge=offline", f"--judge={raising}:always")
    status, printed, told = ragcheck("calibrate", labelled, *judges)
    assert status == 1
    assert printed.startswith("judge: offline (")
    assert told == (
        f"ragcheck calibrate: always: {tmp_path / 'l.jsonl'}: none of 4 answers could be measured. "
        f"right: ValueError: no weights ({raising}.py:5)\n"
    )
    status, printed, _ = ragcheck("calibrate", labelled, *judges, f"--judge={raising}:on_giraffes")
    assert status == 1
    assert "\nbest by " in printed
    assert ragcheck("calibrate", labelled, judges[1])[0] == 2


def test_an_abstention_that_is_neither_true_nor_false_is_an_error(
    tmp_path: Path, ragcheck: Ragcheck, raising: str
) -> None:
    labelled = str(write(tmp_path / "l.jsonl", ROWS))
    status, _, told = ragcheck("calibrate", labelled, f"--judge={raising}:undecided")
    assert status == 2
    assert "undecided: judge() returned a Judgement whose abstained is 'MAYBE', not True, False or None." in told


def billed(request: Request) -> Reply:
    """The scripted judge, which reports 100 tokens in and 20 out."""
    reply = json.loads(scripted(request).body)
    return json_reply({**reply, "usage": {"prompt_tokens": 100, "completion_tokens": 20}})


def test_each_model_is_a_judge_of_its_own(tmp_path: Path, ragcheck: Ragcheck, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGCHECK_JUDGE_API_KEY", "sk-of-the-judge-0123456789")
    with OpenAIServer(billed) as server:
        status, printed, _ = ragcheck(
            *("calibrate", str(write(tmp_path / "l.jsonl", ROWS)), "--judge=openai", f"--judge-url={server.url}"),
            *("--judge-model=large", "--judge-model=small", "--judge=offline", "--disable=preflight"),
        )
        models = [json.loads(request.body)["model"] for request in server.requests]
    assert status == 0
    assert (models.count("large"), models.count("small")) == (4, 4)
    assert [line[:12] for line in printed.splitlines()[3:6]] == ["1. openai (l", "2. openai (s", "3. offline ("]
    assert printed.count("400 tokens in, 80 out; price unknown") == 2
    # The same verdicts on four answers do not show that one is as good as the other.
    assert printed.endswith("\nno other judge is shown to be as good within 0.05\n")


def scripted(request: Request) -> Reply:
    """A judge that is right about everything but refuses to reply to one answer."""
    answer = request.block("answer")
    if answer == "no":
        return error(400, "I will not")
    return completion(verdict_text(request.nonce, groundedness=0.25 if "Giraffes" in answer else 0.75))


def test_a_judge_is_measured_with_its_parameters_headers_and_price(tmp_path: Path, ragcheck: Ragcheck) -> None:
    def priced(request: Request) -> Reply:
        reply = says_of_canaries()(request) if canary_of(request) else completion(verdict_text(request.nonce))
        usage = {"prompt_tokens": 1_000_000, "completion_tokens": 0}
        return json_reply({**json.loads(reply.body), "usage": usage})

    labels = str(write(tmp_path / "l.jsonl", ROWS))
    with OpenAIServer(priced) as server:
        status, printed, _ = ragcheck(
            "calibrate", labels, *asking(server), "--judge=offline", f"--output={tmp_path / 'c.json'}",
            "-o", 'rag_judge_parameters={"reasoning_effort": "low"}',
            "-o", "rag_judge_headers=X-Team: search",
            "-orag_judge_price=1 1",
        )  # fmt: skip
        asked = server.requests[-1]
    assert (status, asked.json["reasoning_effort"], asked.headers["x-team"]) == (0, "low", "search")
    assert "10.0000 USD" in printed  # with the preflight
    agreement, _ = read_agreements([tmp_path / "c.json"])
    assert json.loads(agreement.judge.parameters or "") == {"headers": {"x-team": "search"}, "reasoning_effort": "low"}
    status, _, said = ragcheck("calibrate", labels, "--judge=offline", "-o", "rag_top_k=3")
    assert status == 2
    assert "-o: 'rag_top_k=3' is not a setting. Write NAME=VALUE with one of rag_judge_parameters, rag_j" in said


def test_answers_that_could_not_be_judged_are_in_no_number(
    tmp_path: Path, ragcheck: Ragcheck, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGCHECK_JUDGE_API_KEY", "sk-of-the-judge-0123456789")
    rows = [ROWS[0], ROWS[3], {"id": "silent", "answer": "no", "label_grounded": 1}]
    with OpenAIServer(scripted) as server:
        status, printed, _ = ragcheck(
            "calibrate",
            str(write(tmp_path / "l.jsonl", rows)),
            *asking(server),
            "--concurrency=1",
            "--disable=preflight",
        )
    assert status == 1
    assert ": 2 answers, 1 grounded, 1 not grounded\n" in printed
    assert "1 further answer could not be judged, the first: silent: " in printed
    assert "I will not" in printed


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((), "no judge to measure. Give --judge=offline, or --judge=openai with --judge-model."),
        (("--judge=none",), "no judge to measure. Give --judge=offline, or --judge=openai with --judge-model."),
        (
            ("--judge=gpt-4",),
            "--judge: 'gpt-4' is not a judge; choose one of openai, offline, local, ragas, or MODULE:NAME of your own",
        ),
        (("--judge=openai",), "the openai judge needs a model: set --judge-model or RAGCHECK_JUDGE_MODEL"),
        (("--judge=offline", "--threshold=2"), "--threshold: '2' is not a number from 0 to 1; write one such as 0.7"),
        (
            ("--judge=offline", "--disable=judge"),
            "--disable: 'judge' is not a step that can be left out; choose from preflight, cache, prefetch",
        ),
        (("--judge=offline", "--margin=2"), "--margin: 2 is not a number from 0 to 1; write one such as 0.05"),
        (("--judge=offline", "--concurrency=0"), "--concurrency: '0' is not a whole number from 1"),
        (("--judge=offline", "--label=abstained"), "no row has a label_abstained that is 1 or 0."),
        (
            ("--judge=offline", "--output=c.svg"),
            "--output: c.svg would be the file of the curve. Write another ending, such as .json.",
        ),
        (
            ("--judge=offline", "--output=."),
            "--output: . is a folder. Write the name of a file, such as calibration.json.",
        ),
        (
            ("--judge=offline", "--output=no/c.json"),
            "--output: there is no folder no. Make it, or choose another file.",
        ),
    ],
)
def test_wrong_usage_is_reported(tmp_path: Path, ragcheck: Ragcheck, arguments: tuple[str, ...], text: str) -> None:
    status, _, told = ragcheck("calibrate", str(write(tmp_path / "l.jsonl", ROWS)), *arguments)
    assert status == 2
    assert told.startswith("ragcheck calibrate: ")
    assert text in told


def test_what_cannot_be_written_is_reported(tmp_path: Path, ragcheck: Ragcheck) -> None:
    (tmp_path / "c.svg").mkdir()
    labelled = write(tmp_path / "l.jsonl", ROWS)
    status, _, told = ragcheck("calibrate", str(labelled), "--judge=offline", f"--output={tmp_path / 'c.json'}")
    assert status == 2
    assert told == (
        f"ragcheck calibrate: {tmp_path / 'c.svg'}: cannot be written (Is a directory). Choose another file.\n"
    )


def test_labels_of_correctness_without_accepted_answers_are_named_as_the_cause(
    tmp_path: Path, ragcheck: Ragcheck
) -> None:
    labelled = write(tmp_path / "l.jsonl", [{"question": "How long?", "answer": "30 days", "label_correct": 1}])
    status, _, told = ragcheck("calibrate", str(labelled), "--judge=offline")
    assert status == 2
    assert told == (
        f"ragcheck calibrate: {labelled}: none of 1 answer could be measured. "
        "The judge scores no answer_correctness; it may need expected_answers.\n"
    )


def test_a_judge_that_is_never_reached_is_not_measured(
    tmp_path: Path, ragcheck: Ragcheck, closed_judge: OpenAIServer
) -> None:
    labelled = str(write(tmp_path / "l.jsonl", ROWS[:1]))
    status, _, told = ragcheck("calibrate", labelled, *asking(closed_judge), "--disable=preflight")
    assert status == 2
    assert "none of 1 answer could be measured. right: " in told


def test_a_judge_that_is_not_there_is_asked_once_and_not_about_every_answer(
    tmp_path: Path, ragcheck: Ragcheck, closed_judge: OpenAIServer
) -> None:
    status, _, told = ragcheck("calibrate", str(write(tmp_path / "l.jsonl", ROWS)), *asking(closed_judge))
    assert len(closed_judge.requests) == 1
    assert status == 2
    assert told.startswith(
        f"ragcheck calibrate: the judge openai (m, en-2, {closed_judge.url}) was tried out before the first question: "
    )
    assert "refused the key" in told
    assert told.endswith("\nNo question was asked. See ragcheck docs reference/judge-preflight.\n")


@pytest.mark.parametrize(("label", "measured"), [("label_grounded", False), ("label_correct", True)])
def test_a_judge_has_to_tell_good_from_bad_in_the_score_that_is_measured(
    tmp_path: Path, ragcheck: Ragcheck, monkeypatch: pytest.MonkeyPatch, label: str, measured: bool
) -> None:
    monkeypatch.setenv("RAGCHECK_JUDGE_API_KEY", "sk-of-the-judge-0123456789")
    rows = [
        {"id": row["id"], "answer": row["answer"], "expected_answers": ["30 days"], label: row["label_grounded"]}
        for row in ROWS
    ]
    blind = says_of_canaries(**{key: {"groundedness": 1.0} for key in RIGHT})
    with OpenAIServer(blind) as server:
        status, printed, told = ragcheck(
            "calibrate",
            str(write(tmp_path / "l.jsonl", rows)),
            *asking(server),
        )
        assert len(server.requests) == 6 + (len(ROWS) if measured else 0)
    assert status == (0 if measured else 2)
    assert ("answer_correctness against label_correct" in printed) is measured
    blindness = "it cannot tell good answers from bad ones\ngroundedness: right 1, ungrounded 1, contradicted 1"
    assert (blindness in told) is not measured


OWN = """
from pytest_ragcheck import Judgement

class Strict:
    def judge(self, question, answer):
        return Judgement(groundedness=0.0 if "Giraffes" in answer.text else 1.0)

strict = Strict()
nothing = 3

def broken():
    raise OSError("no weights")
"""


@pytest.mark.parametrize("name", ["Strict", "strict"])
def test_a_judge_of_ones_own_is_measured_by_its_place(
    tmp_path: Path, ragcheck: Ragcheck, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    module = f"judges_of_{name}_{tmp_path.name.replace('-', '_')}".lower()
    (tmp_path / f"{module}.py").write_text(OWN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    status, printed, told = ragcheck("calibrate", str(write(tmp_path / "l.jsonl", ROWS)), f"--judge={module}:{name}")
    assert (status, told) == (0, "")
    assert printed.startswith("judge: Strict\ngroundedness against label_grounded of l.jsonl: 4 answers")
    # Both good ones pass, and of the bad ones "odd" does.
    assert "balanced_accuracy  0.750  " in printed


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        ("no_such_module:x", "cannot be loaded as a judge: ModuleNotFoundError: No module named 'no_such_module'"),
        ("{module}:absent", "cannot be loaded as a judge: AttributeError: module '{module}' has no attribute 'absent'"),
        ("{module}:broken", "cannot be loaded as a judge: OSError: no weights"),
        (
            "{module}:nothing",
            (
                "is 3, not a judge. Name an object with a method judge(question, answer), or a class or function that "
                "makes one."
            ),
        ),
    ],
)
def test_a_place_without_a_judge_is_said(
    tmp_path: Path, ragcheck: Ragcheck, monkeypatch: pytest.MonkeyPatch, place: str, problem: str
) -> None:
    module = f"judges_in_{tmp_path.name.replace('-', '_')}".lower()
    (tmp_path / f"{module}.py").write_text(OWN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    place, problem = place.format(module=module), problem.format(module=module)
    status, printed, told = ragcheck("calibrate", str(write(tmp_path / "l.jsonl", ROWS)), f"--judge={place}")
    assert (status, printed, told) == (2, "", f"ragcheck calibrate: --judge: {place!r} {problem}\n")


@pytest.mark.skipif(
    not FOLDER, reason="RAGCHECK_JUDGING_LABELS is not set: the folder of the label files that judges are held against"
)
def test_the_verdicts_of_gpt_4_reproduce_its_published_agreement(
    tmp_path: Path, ragcheck: Ragcheck, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGCHECK_JUDGE_API_KEY", "sk-of-the-judge-0123456789")
    labels = Path(FOLDER) / "nq301.jsonl"
    rows = [json.loads(line) for line in labels.read_text(encoding="utf-8").splitlines()]
    said = {(row["question"], row["answer"]): row["meta"]["judges"]["gpt4"] for row in rows}

    def gpt_4(request: Request) -> Reply:
        if canary_of(request):
            return says_of_canaries()(request)
        score = said[request.block("question"), request.block("answer")]
        return completion(verdict_text(request.nonce, answer_correctness=score))

    output = tmp_path / "gpt4.json"
    with OpenAIServer(gpt_4) as server:
        status, printed, told = ragcheck(
            *("calibrate", str(labels), "--judge=openai", "--judge-model=gpt-4"),
            *(f"--judge-url={server.url}", f"--output={output}", "--show=0"),
        )
    # Of six of the 914 answers GPT-4 gave no verdict.
    assert (status, told) == (1, "")
    assert "\n6 further answers could not be judged, the first: nq301:1037: " in printed
    measured = json.loads(output.read_text(encoding="utf-8"))
    assert measured["n"] == 908
    assert measured["balanced_accuracy"] == pytest.approx(0.835, abs=0.0005)


def test_an_output_that_is_a_loop_of_links_is_refused(tmp_path: Path, ragcheck: Ragcheck) -> None:
    labelled, loop = write(tmp_path / "l.jsonl", ROWS), tmp_path / "loop"
    loop.symlink_to(loop)
    status, _, told = ragcheck("calibrate", str(labelled), "--judge=offline", f"--output={loop}")
    assert (status, told.partition(" (")[0]) == (2, f"ragcheck calibrate: {loop}: cannot be written")


def test_the_labels_are_never_overwritten(tmp_path: Path, ragcheck: Ragcheck) -> None:
    labelled = write(tmp_path / "l.svg", ROWS)
    before = labelled.read_bytes()
    for output in (labelled, tmp_path / "l.json"):
        status, _, told = ragcheck("calibrate", str(labelled), "--judge=offline", f"--output={output}")
        assert status == 2
        assert told == f"ragcheck calibrate: --output: {labelled} holds the labels. Choose another file.\n"
    assert labelled.read_bytes() == before
