"""`ragcheck calibrate FILE`: measures how far a judge agrees with people."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_ragcheck.cli.printing import say
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.judging.labels import LABELS, read_labelled_answers

if TYPE_CHECKING:
    import argparse

    from pytest_ragcheck.config.settings import Settings
    from pytest_ragcheck.judging.judgement import Judge
    from pytest_ragcheck.report.terminal.calibration_lines import Measured

_OPTIONS = {
    "judge": "rag_judge",
    "judge_model": "rag_judge_model",
    "judge_url": "rag_judge_url",
    "judge_prompt": "rag_judge_prompt",
    "threshold": "rag_threshold",
    "concurrency": "rag_concurrency",
    "disable": "rag_disable",
}
"""The setting of each argument."""

_JUDGE_VARIABLES = frozenset(
    {"RAGCHECK_JUDGE", "RAGCHECK_JUDGE_MODEL", "RAGCHECK_JUDGE_URL", "RAGCHECK_EMBEDDING_MODEL"}
)


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to `ragcheck`."""
    parser = commands.add_parser(
        "calibrate",
        help="measure how far a judge agrees with people",
        description="Judges labelled answers and reports how often the judge is right: accuracy, balanced accuracy,"
        " kappa and the ROC curve with intervals, the best threshold, and the widest disagreements. "
        "Exit status: 0 measured, 1 some answers could not be judged, 2 wrong usage.",
    )
    parser.add_argument(
        "file",
        metavar="LABELLED.jsonl",
        type=Path,
        help="one object a line: question, answer, contexts, expected_answers, and a label that is 1, 0 or null: "
        f"{', '.join(LABELS)}",
    )
    _add_judge(parser)
    parser.add_argument("--threshold", metavar="NUMBER", help="lowest score that passes (default: 0.7)")
    parser.add_argument(
        "--label",
        choices=[label.removeprefix("label_") for label in LABELS],
        help="the label to read if rows have several",
    )
    parser.add_argument("--concurrency", metavar="NUMBER", help="maximum concurrent requests to the judge (default: 8)")
    parser.add_argument(
        "--disable",
        metavar="preflight",
        help="skip the preflight, which tries a language model on six answers and refuses a useless one",
    )
    parser.add_argument("--show", metavar="NUMBER", type=int, default=5, help="disagreements shown (default: 5)")
    parser.add_argument(
        "--output", metavar="FILE.json", type=Path, help="write the numbers to FILE.json, and the curve to FILE.svg"
    )
    parser.set_defaults(run=_run)


def _add_judge(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that choose the judge."""
    parser.add_argument(
        "--judge",
        metavar="NAME",
        help="openai, offline or ragas, or MODULE:NAME of a judge of your own (default: $RAGCHECK_JUDGE)",
    )
    parser.add_argument("--judge-model", metavar="MODEL", help="model of the openai or ragas judge")
    parser.add_argument("--judge-url", metavar="URL", help="base URL of an OpenAI-compatible server")
    parser.add_argument("--judge-prompt", metavar="PROMPT", help="en, ru or a file (default: en)")


def _run(chosen: argparse.Namespace) -> int:
    from pytest_ragcheck.cli.judge_measurement import measure_judge
    from pytest_ragcheck.report.terminal.calibration_lines import calibration_lines

    settings = _settings(chosen)
    if chosen.output is not None:
        _check_writable(chosen.output)
    label = f"label_{chosen.label}" if chosen.label else None
    answers = read_labelled_answers(chosen.file, label=label)
    measured = measure_judge(answers, chosen.file, _judge(chosen, settings), settings)
    say(*map(settings.redactor.text, calibration_lines(measured, most_shown=max(0, chosen.show))))
    if chosen.output is not None:
        say(*(f"written: {path}" for path in _write(measured, chosen.output, settings)))
    return 1 if measured.errors else 0


def _settings(chosen: argparse.Namespace) -> Settings:
    """Return the settings of the arguments; of the environment, only the judge's variables count."""
    from pytest_ragcheck.config.given import Given
    from pytest_ragcheck.config.resolve import read_settings
    from pytest_ragcheck.config.table import TABLE

    others = {option.environment for option in TABLE} - _JUDGE_VARIABLES
    environment = {name: value for name, value in os.environ.items() if name not in others}
    given = {
        setting: Given(getattr(chosen, argument), f"--{argument.replace('_', '-')}")
        for argument, setting in _OPTIONS.items()
        if getattr(chosen, argument) is not None and not (argument == "judge" and _is_own(chosen))
    }
    settings = read_settings(given, environment=environment)
    if settings.judge.name in (None, "none") and not _is_own(chosen):
        raise UsageError("no judge to measure. Give --judge=offline, or --judge=openai with --judge-model.")
    return settings


def _is_own(chosen: argparse.Namespace) -> bool:
    return ":" in (chosen.judge or "")


def _judge(chosen: argparse.Namespace, settings: Settings) -> Judge | None:
    from pytest_ragcheck.cli.own_judge import own_judge
    from pytest_ragcheck.judging.judge_choice import choose_judge

    return own_judge(chosen.judge) if _is_own(chosen) else choose_judge(settings)


def _check_writable(path: Path) -> None:
    """Check that the output can be written, before requests cost money."""
    if path.is_dir():
        raise UsageError(f"--output: {path} is a folder. Write the name of a file, such as calibration.json.")
    if not path.parent.is_dir():
        raise UsageError(f"--output: there is no folder {path.parent}. Make it, or choose another file.")


def _write(measured: Measured, path: Path, settings: Settings) -> list[Path]:
    from pytest_ragcheck.report.files.json_writer import rounded
    from pytest_ragcheck.report.terminal.calibration_lines import calibration_document, curve_svg

    document = settings.redactor.document(rounded(calibration_document(measured, most_shown=50)))
    texts = {path: json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n"}
    if measured.calibration.curve:
        texts[path.with_suffix(".svg")] = curve_svg(measured)
    for target, text in texts.items():
        _write_one(target, text)
    return list(texts)


def _write_one(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--output: {path} cannot be written ({error.strerror}). Choose another file.") from None
