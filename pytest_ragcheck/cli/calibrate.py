from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.cli.command_line import complain, ini_values, say, settings_as_typed
from pytest_ragcheck.config.readers import OWN_JUDGE, WITH_MODEL
from pytest_ragcheck.config.table import Given
from pytest_ragcheck.errors import RagcheckError, StepFailed, UsageError

if TYPE_CHECKING:
    from pytest_ragcheck.config.settings import Settings
    from pytest_ragcheck.judging.judgement import Judge
    from pytest_ragcheck.report.terminal.calibration_lines import Measured

_OPTIONS = ("judge_url", "judge_prompt", "threshold", "concurrency", "disable")
"""The arguments that apply to all judges."""

_INI = ("rag_judge_parameters", "rag_judge_headers", "rag_judge_price", "rag_embedding_model", "rag_timeout")

_MOST_WRITTEN = 50
"""Most disagreements of a judge in the file."""

_JUDGE_VARIABLES = ("RAGCHECK_JUDGE", "RAGCHECK_JUDGE_MODEL", "RAGCHECK_JUDGE_URL", "RAGCHECK_EMBEDDING_MODEL")


def run(chosen: argparse.Namespace) -> int:
    from pytest_ragcheck.cli.judge_measurement import measure_judge, read_labelled_answers
    from pytest_ragcheck.judging.checked_judgement import identity_of

    if not 0 <= chosen.margin <= 1:
        raise UsageError(f"--margin: {chosen.margin:g} is not a number from 0 to 1; write one such as 0.05")
    try:
        judges = [(settings, _judge(name, settings)) for name, settings in _judges(chosen)]
    except UsageError as error:
        # The command has options, not fixtures.
        text = str(error).replace(f"none, or {OWN_JUDGE}", "or MODULE:NAME of your own")
        raise UsageError(re.sub("rag_judge_(model|url|prompt)", r"--judge-\1", text)) from None
    if chosen.output is not None:
        _check_writable(chosen.output, chosen.file)
    answers = read_labelled_answers(chosen.file, label=f"label_{chosen.label}" if chosen.label else None)
    measured: list[Measured] = []
    failures: list[RagcheckError] = []
    for settings, judge in judges:
        name = identity_of(judge).words
        try:
            measured.append(measure_judge(answers, chosen.file, judge, settings))
        except (StepFailed, UsageError) as error:
            failures.append(error)
            if len(judges) > 1:
                complain("calibrate", f"{name}: {error}")
    if not measured:
        raise failures[0]
    settings = judges[0][0]
    if len(measured) == 1:
        _report_one(measured[0], chosen, settings)
    else:
        _report_several(measured, chosen, settings)
    return 1 if failures or any(each.errors for each in measured) else 0


def _report_one(measured: Measured, chosen: argparse.Namespace, settings: Settings) -> None:
    from pytest_ragcheck.report.terminal.calibration_lines import calibration_document, calibration_lines, curve_svg

    say(*map(settings.redactor.text, calibration_lines(measured, most_shown=max(0, chosen.show))))
    if chosen.output is not None:
        _write(chosen.output, calibration_document(measured, most_shown=_MOST_WRITTEN), settings)
        if measured.calibration.curve:
            _write_text(chosen.output.with_suffix(".svg"), curve_svg(measured))


def _report_several(measured: list[Measured], chosen: argparse.Namespace, settings: Settings) -> None:
    from pytest_ragcheck.report.terminal.calibration_lines import comparison_document, comparison_lines
    from pytest_ragcheck.summary.judge_calibration import compare_judges

    comparison = compare_judges(
        [each.judged for each in measured],
        [each.cost.judge_usd for each in measured],
        threshold=settings.gate.threshold,
        margin=chosen.margin,
    )
    say(*map(settings.redactor.text, comparison_lines(measured, comparison)))
    if chosen.output is not None:
        _write(chosen.output, comparison_document(measured, comparison, most_shown=_MOST_WRITTEN), settings)


def _judges(chosen: argparse.Namespace) -> Iterator[tuple[str | None, Settings]]:
    for name in chosen.judge or [None]:
        settings = _settings(chosen, name, None)
        has_model = settings.judge.name in WITH_MODEL and not _is_own(name)
        for model in (has_model and chosen.judge_model) or [None]:
            yield name, _settings(chosen, name, model)


def _settings(chosen: argparse.Namespace, name: str | None, model: str | None) -> Settings:
    values = {argument: getattr(chosen, argument) for argument in _OPTIONS}
    values |= {"judge": None if _is_own(name) else name, "judge_model": model}
    typed = {f"rag_{each}": Given(value, f"--{each.replace('_', '-')}") for each, value in values.items()}
    return settings_as_typed(typed | ini_values(chosen.settings, _INI), variables=_JUDGE_VARIABLES)


def _is_own(name: str | None) -> bool:
    return ":" in (name or "")


def _judge(name: str | None, settings: Settings) -> Judge:
    from pytest_ragcheck.cli.judge_measurement import own_judge
    from pytest_ragcheck.judging.judge_choice import choose_judge

    if name is not None and _is_own(name):
        return own_judge(name)
    judge = choose_judge(settings) if settings.judge.name else None
    if judge is None:
        raise UsageError("no judge to measure. Give --judge=offline, or --judge=openai with --judge-model.")
    return judge


def _check_writable(path: Path, labels: Path) -> None:
    from pytest_ragcheck.report.files.output_folder import without_links

    if path.is_dir():
        raise UsageError(f"--output: {path} is a folder. Write the name of a file, such as calibration.json.")
    if not path.parent.is_dir():
        raise UsageError(f"--output: there is no folder {path.parent}. Make it, or choose another file.")
    if without_links(labels) in map(without_links, (path, path.with_suffix(".svg"))):
        raise UsageError(f"--output: {labels} holds the labels. Choose another file.")
    if path.suffix.lower() == ".svg":
        raise UsageError(f"--output: {path} would be the file of the curve. Write another ending, such as .json.")


def _write(path: Path, document: dict[str, Any], settings: Settings) -> None:
    from pytest_ragcheck.report.files.json_writer import rounded

    document = settings.redactor.document(rounded(document))
    _write_text(path, json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n")


def _write_text(path: Path, text: str) -> None:
    from pytest_ragcheck.report.write_report import write_text

    write_text(path, text)
    say(f"written: {path}")
