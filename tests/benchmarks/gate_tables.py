"""The figures of docs/explanation/statistics.md, from the results of the simulation of the gate."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from tests.benchmarks.gate_results import Tally

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tests.benchmarks.gate_results import Key, Results

    Rows = Iterable[tuple[Key, Tally]]


def tables(results: Results) -> Iterator[str]:
    """The lines of all tables, each with its heading."""
    parts: dict[str, list[tuple[Key, Tally]]] = defaultdict(list)
    for key, tally in results.items():
        parts[key[0]].append((key, tally))
    nothing = parts["nothing"]
    yield from ("### Nothing changed", "", *sum_lines(nothing), "", *_by_size(nothing), "", t_line(nothing), "")
    outside = parts["outside"]
    yield from ("### Outside of the promise", "", *_by_size(outside), "")
    warned = [(key, replace(tally, red=tally.warned)) for key, tally in outside]
    yield from ("### Warnings of documents that share noise", "", *_by_size(warned), "")
    yield from ("### Something changed", "", *_with_other_tests(parts["changed"]), "")
    yield from ("### What is stated is seen", "", *_stated(parts["stated"]), "")
    yield from ("### One question is enough: `confirmed`", "", *_confirmed(parts["confirmed"]))


def sum_lines(rows: Sequence[tuple[Key, Tally]]) -> Iterator[str]:
    """The rate over all models, of the model with the highest rate, and by the number of questions."""
    models: dict[str, Tally] = defaultdict(Tally)
    sizes: dict[int, Tally] = defaultdict(Tally)
    for (_, model, size, _), tally in rows:
        models[model] += tally
        sizes[size] += tally
    every = sum(models.values(), Tally())
    varying = sum((tally for model, tally in models.items() if "same answers" not in model), Tally())
    highest = max(models, key=lambda model: models[model].red / models[model].runs)
    yield f"Of all {every.runs:,} runs {every.red:,} were red: {_percent(every)}."
    yield f"Without the models whose answers stay the same, which cannot be red, the rate is {_percent(varying)}."
    yield f"The model with the highest rate over all sizes has {_percent(models[highest])}: {highest}."
    for size, pooled in sorted(sizes.items()):
        yield f"With {size} questions {pooled.red:,} of {pooled.runs:,} runs were red: {_percent(pooled)}."


def t_line(rows: Sequence[tuple[Key, Tally]]) -> str:
    """How often the paired t test is red if only the judge's level changes."""
    shares = {
        start: [tally.t_red / tally.runs for (_, model, _, _), tally in rows if model.startswith(start)]
        for start in ("judge's level", "judge -0.03")
    }
    by_day, stricter = (f"{100 * min(found):.0f} to {100 * max(found):.0f} %" for found in shares.values())
    return (
        f"The paired t test at 1 % is red in {by_day} of the runs if the judge's level differs by the day, "
        f"and in {stricter} if the judge is 0.03 stricter today."
    )


def _percent(tally: Tally) -> str:
    low, high = tally.ends
    return f"{100 * tally.red / tally.runs:.2f} % (95 % interval {100 * low:.2f} to {100 * high:.2f} %)"


def _by_size(rows: Rows) -> Iterator[str]:
    by_model: dict[tuple[str, int], dict[int, Tally]] = defaultdict(dict)
    for (_, model, size, known), tally in rows:
        by_model[model, known][size] = tally
    sizes = sorted({size for cells in by_model.values() for size in cells})
    body = (
        (model, known, *(_rate(cells.get(size, Tally()))[0] for size in sizes))
        for (model, known), cells in by_model.items()
    )
    return _table(("model", "saved runs", *(f"{size} questions" for size in sizes)), body)


def _with_other_tests(rows: Rows) -> Iterator[str]:
    head = ("model", "questions", "saved runs", "red", "95 % interval", "paired t", "McNemar", "told the noise")
    body = (
        (*key[1:], *_rate(tally), *map(tally.share, (tally.t_red, tally.mcnemar_red, tally.told_red)))
        for key, tally in rows
    )
    return _table(head, body)


def _stated(rows: Rows) -> Iterator[str]:
    head = ("model", "questions", "saved runs", "red", "95 % interval")
    return _table(head, ((*key[1:], *_rate(tally)) for key, tally in rows))


def _confirmed(rows: Rows) -> Iterator[str]:
    head = ("model", "red", "95 % interval", "asks", "judgements")
    body = (
        (key[1], *_rate(tally), f"{tally.asks / tally.runs:.1f}", f"{tally.judgements / tally.runs:.0f}")
        for key, tally in rows
    )
    return _table(head, body)


def _rate(tally: Tally) -> tuple[str, str]:
    return f"{tally.red}/{tally.runs}", "{:.4f} to {:.4f}".format(*tally.ends)


def _table(head: tuple[str, ...], body: Iterable[tuple[object, ...]]) -> Iterator[str]:
    for row in (head, ("---",) * len(head), *body):
        yield f"| {' | '.join(map(str, row))} |"
