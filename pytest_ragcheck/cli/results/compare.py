from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_ragcheck.cli.command_line import json_text
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.frozen import replace
from pytest_ragcheck.redaction.printable import printable
from pytest_ragcheck.report.files.results_reader import RUN_AGAIN, asked_rows, predictions_path, questions_files
from pytest_ragcheck.summary.gate.baseline_reader import read_baseline
from pytest_ragcheck.summary.predictions_reader import ENDING

if TYPE_CHECKING:
    from pytest_ragcheck.summary.agent_comparison import Agents


def run(chosen: argparse.Namespace) -> int:
    text = _text(_compared(chosen.results), chosen)
    if chosen.output is None:
        print(text if chosen.format == "json" else printable(text), end="")
    else:
        from pytest_ragcheck.report.write_report import write_text

        write_text(chosen.output, text)
    return 0


def _compared(given: Sequence[Path]) -> Agents:
    from pytest_ragcheck.summary.agent_comparison import compare_agents

    if len(given) == 1:
        raise UsageError(f"there is nothing to compare {given[0]} with. Give the results of two agents or more.")
    paths = list(map(predictions_path, given))
    advice = "Give ragcheck compare the {agent}_predictions.json of full runs."
    read = [read_baseline(path, name=str(path), advice=advice, wrong_version=RUN_AGAIN) for path in paths]
    names = _names(paths)
    documents = {
        key: frozenset(passage["doc_id"] for passage in row.get("gold_passages", ()) if passage.get("doc_id"))
        for path, of_agent in zip(paths, read, strict=True)
        for key, row in asked_rows(questions_files(path.parent, {dataset for dataset, _ in of_agent.rows})).items()
    }
    compared = compare_agents(list(zip(names, read, strict=True)), documents)
    agents = zip(compared.agents, paths, strict=True)
    return replace(compared, agents=tuple(replace(agent, means=_means(agent.means, path)) for agent, path in agents))


def _means(means: Mapping[str, float], path: Path) -> Mapping[str, float]:
    # Those of the summary: predictions files have rounded scores, whose mean can have another last decimal.
    try:
        summary = json.loads(path.with_name(f"{path.name.removesuffix(ENDING)}_summary.json").read_bytes())
        found = summary["overall_metrics"]
        return {m: found[m] if abs(found[m] - mean) < 2e-6 else mean for m, mean in means.items()}
    except (OSError, ValueError, KeyError, TypeError):
        return means


def _names(paths: Sequence[Path]) -> list[str]:
    short = [path.name.removesuffix(ENDING) for path in paths]
    counts = Counter(short)
    names = [name if counts[name] == 1 else str(path.with_name(name)) for name, path in zip(short, paths, strict=True)]
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise UsageError(f"{twice} was given twice. Give the results of different agents or runs.")
    return names


def _text(compared: Agents, chosen: argparse.Namespace) -> str:
    from pytest_ragcheck.report import agents_report as report
    from pytest_ragcheck.report.files.json_writer import rounded

    if chosen.format == "json":
        return json_text(rounded(report.agents_document(compared)))
    if chosen.format == "csv":
        return report.questions_csv(compared) if chosen.per_question else report.frame_csv(compared)
    lines = report.agents_markdown if chosen.format == "markdown" else report.agents_lines
    return "".join(f"{line}\n" for line in lines(compared, most_shown=max(0, chosen.show)))
