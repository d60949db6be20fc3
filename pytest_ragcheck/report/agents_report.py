"""Renders a comparison of agents as lines, Markdown, CSV or JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from pytest_ragcheck.report.terminal.run_lines import aligned
from pytest_ragcheck.report.write_report import cell, csv_text, table_lines
from pytest_ragcheck.short_texts import counted, one_line
from pytest_ragcheck.summary.agent_comparison import Agent, Agents, Difference, QuestionOfAll
from pytest_ragcheck.summary.trend import PASS_RATE
from pytest_ragcheck.verdict.verdict import Verdict

_TITLES = {"exact_match": "Exact Match", "f1": "F1", "bertscore_f1": "BERTScore", "mrr": "MRR", "map": "MAP"}
"""Column titles other than the capitalised name of the metric."""

_TEXT_CHARS = 70


def agents_lines(compared: Agents, *, most_shown: int) -> Iterator[str]:
    for part in _parts(compared, most_shown):
        yield from [part] if isinstance(part, str) else aligned(part)


def agents_markdown(compared: Agents, *, most_shown: int) -> Iterator[str]:
    for part in filter(None, _parts(compared, most_shown)):
        yield from [cell(part)] if isinstance(part, str) else table_lines([[*map(cell, row)] for row in part])
        yield ""


def _parts(compared: Agents, most_shown: int) -> Iterator[str | list[list[str]]]:
    line = f"{len(compared.agents)} agents, {counted(compared.n_common, 'question')} in common"
    more = [f"{agent.name} {agent.n_only}" for agent in compared.agents if agent.n_only]
    yield f"{line}; further ones: {', '.join(more)}" if more else line
    first, *others = compared.agents
    for agent in others:
        if agent.changes:
            yield f"verdicts not comparable: {agent.name} differs from {first.name} in {'; '.join(agent.changes)}"
    yield from _edited(compared)
    yield ""
    yield _table(compared)
    yield ""
    differences = (each for agent in compared.agents for each in (*agent.differences.values(), agent.pass_rate))
    if any(each is not None and each.significant for each in differences):
        yield "* more than noise, by the tests of the gate"
    for agent in others:
        flips = f"newly passing {len(agent.gained)}, newly failing {len(agent.lost)}"
        yield f"{agent.name} against {first.name}: {flips}{_significance(agent)}"
    differing = [question for question in compared.questions if question.differs]
    if differing and most_shown:
        yield ""
        yield f"questions with different verdicts, {min(most_shown, len(differing))} of {len(differing)}:"
        yield _question_table(compared, differing[:most_shown])


def _edited(compared: Agents) -> Iterator[str]:
    for what, keys in ("another text", compared.reworded), ("other labels", compared.relabelled):
        if keys:
            ids = ", ".join(key[1] for key in keys[:5])
            yield f"{counted(len(keys), 'question')} with {what} in some of the files: {ids}"


def frame_csv(compared: Agents) -> str:
    """A CSV row for each agent, with its means, verdicts and differences from the first; empty without a value."""
    columns = dict.fromkeys(
        ["Agent", *map(_title, compared.metrics), _title(PASS_RATE), *(each.value for each in Verdict)]
    )
    rows = []
    for agent in compared.agents:
        row: dict[str, Any] = {"Agent": agent.name, **{_title(m): round(mean, 6) for m, mean in agent.means.items()}}
        row |= {verdict.value: count for verdict, count in agent.counts.items()}
        if measured := row["PASS"] + row["FAIL"]:
            row[_title(PASS_RATE)] = round(row["PASS"] / measured, 6)
        changes = [f"verdicts not comparable: {'; '.join(agent.changes)}"] if agent.changes else []
        row["Warnings"] = "; ".join((*changes, *_edited(compared)))
        for metric, found in ((PASS_RATE, agent.pass_rate), *agent.differences.items()):
            if found is not None:
                name = _title(metric)
                row |= {f"{name} difference": round(found.value, 6), f"{name} n": found.n}
        columns |= dict.fromkeys(row)
        rows.append(row)
    return csv_text(list(columns), rows)


def questions_csv(compared: Agents) -> str:
    columns = ["dataset_name", "question_id", "question"]
    names = [agent.name for agent in compared.agents]
    for name in names:
        columns += [f"{name} verdict", *(f"{name} {metric}" for metric in compared.metrics)]
    rows = []
    for question in compared.questions:
        row: dict[str, Any] = dict(zip(columns, (*question.key, question.question), strict=False))
        for name, found in zip(names, question.rows, strict=True):
            if found is not None:
                row[f"{name} verdict"] = found.verdict.value
                row |= {f"{name} {metric}": value for metric, value in found.metrics.items()}
        rows.append(row)
    return csv_text(columns, rows)


def agents_document(compared: Agents) -> dict[str, Any]:
    return {
        "schema_version": "1",
        "n_questions": len(compared.questions),
        "n_common": compared.n_common,
        "reworded": list(map(_identity, compared.reworded)),
        "relabelled": list(map(_identity, compared.relabelled)),
        "agents": list(map(_agent_document, compared.agents)),
        "questions": [
            {
                **_identity(question.key),
                "question": question.question,
                "verdicts": [row and row.verdict.value for row in question.rows],
                "metrics": [row and dict(row.metrics) for row in question.rows],
            }
            for question in compared.questions
        ],
    }


def _agent_document(agent: Agent) -> dict[str, Any]:
    return {
        "agent_name": agent.name,
        "counts": {verdict.value.lower(): count for verdict, count in agent.counts.items()},
        "means": dict(agent.means),
        "n_only": agent.n_only,
        "changes": list(agent.changes),
        "differences": {metric: asdict(each) for metric, each in agent.differences.items()},
        "pass_rate_difference": agent.pass_rate and asdict(agent.pass_rate),
        "gained": list(map(_identity, agent.gained)),
        "lost": list(map(_identity, agent.lost)),
    }


def _identity(key: tuple[str, str]) -> dict[str, str]:
    return {"dataset_name": key[0], "question_id": key[1]}


def _table(compared: Agents) -> list[list[str]]:
    first, *others = compared.agents
    head = ["metric", first.name]
    for agent in others:
        head += [agent.name, "difference", "95 % interval", "n"]
    table = [head]
    for metric in (PASS_RATE, *compared.metrics):
        row = [metric, _value(first, metric)]
        for agent in others:
            difference = agent.pass_rate if metric == PASS_RATE else agent.differences.get(metric)
            row += [_value(agent, metric), *_difference_cells(difference)]
        table.append(row)
    for verdict in Verdict:
        row = [verdict.value, str(first.counts[verdict])]
        for agent in others:
            row += [str(agent.counts[verdict]), "", "", ""]
        table.append(row)
    return table


def _value(agent: Agent, metric: str) -> str:
    if metric == PASS_RATE:
        measured = agent.counts[Verdict.PASS] + agent.counts[Verdict.FAIL]
        return f"{agent.counts[Verdict.PASS] / measured:.3f}" if measured else "-"
    return f"{agent.means[metric]:.3f}" if metric in agent.means else "-"


def _difference_cells(difference: Difference | None) -> list[str]:
    if difference is None:
        return ["-", "", ""]
    mark = "*" if difference.significant else ""
    interval = f"{difference.low:+.3f} to {difference.high:+.3f}" if difference.n > 1 else "-"
    return [f"{difference.value:+.3f}{mark}", interval, str(difference.n)]


def _significance(agent: Agent) -> str:
    if agent.pass_rate is None or not (agent.gained or agent.lost):
        return ""
    noise = "more than noise" if agent.pass_rate.significant else "no more than noise"
    return f"; {noise} (p = {agent.pass_rate.p:.3f}), unconfirmed: the gate would ask the newly failing ones again"


def _question_table(compared: Agents, questions: Sequence[QuestionOfAll]) -> list[list[str]]:
    table = [["question", *(agent.name for agent in compared.agents), "text"]]
    for question in questions:
        verdicts = [row.verdict.value if row else "-" for row in question.rows]
        table.append(["::".join(question.key), *verdicts, one_line(question.question, _TEXT_CHARS)])
    width = max(len(row[-1]) for row in table)
    return [[*row[:-1], row[-1].ljust(width)] for row in table]


def _title(metric: str) -> str:
    return _TITLES.get(metric, metric.replace("_", " ").title())
