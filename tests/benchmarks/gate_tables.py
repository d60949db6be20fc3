"""The figures of docs/explanation/gate-simulation.md, from the results of the simulation of the gate."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from tests.benchmarks.gate_results import Tally

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tests.benchmarks.gate_results import Key, Results

    Rows = Iterable[tuple[Key, Tally]]
    ByFields = Mapping[tuple[object, ...], Tally]


def tables(results: Results) -> Iterator[str]:
    """The lines of all tables, each with its heading. Cells that a table does not distinguish are added up."""
    parts: dict[str, list[tuple[Key, Tally]]] = defaultdict(list)
    for key, tally in results.items():
        parts[key[0]].append((key, tally))
    nothing, confirmed = parts["nothing"], dict(_added_up(parts["confirmed"], 1))
    models = _by_model(nothing, confirmed)
    yield from ("## Nothing changed", "", *sum_lines(nothing), "", *models, "", t_line(nothing), "")
    yield from ("## Where the promise does not hold", "", *_with_warnings(parts["outside"], confirmed), "")
    yield from ("## Something changed", "", *_beside_the_t_test(parts["changed"]), "")
    yield from ("## The stated changes are found", "", *_stated(parts["stated"]))


def sum_lines(rows: Sequence[tuple[Key, Tally]]) -> Iterator[str]:
    """The rate over all models, of the model with the highest rate, and by the number of questions."""
    models: dict[str, Tally] = defaultdict(Tally)
    sizes: dict[int, Tally] = defaultdict(Tally)
    for (_, model, size, _), tally in rows:
        models[model] += tally
        sizes[size] += tally
    every = sum(models.values(), Tally())
    same = {model: tally for model, tally in models.items() if _same_answers(model)}
    varying = sum((tally for model, tally in models.items() if model not in same), Tally())
    highest = max(models, key=lambda model: models[model].red / models[model].runs)
    yield f"Of all {every.runs:,} runs {every.red:,} were red: {_percent(every)}."
    yield f"{_sentence(same)} keep their answers: {sum(tally.red for tally in same.values())} runs were red."
    yield f"Without them the rate is {_percent(varying)}."
    yield f"The model with the highest rate over all sizes has {_percent(models[highest])}: {highest}."
    yield ""
    yield from _table(
        ("questions", "red", "rate and its 95 % interval"),
        ((size, _rate(tally), _percent(tally)) for size, tally in sorted(sizes.items())),
    )


def _same_answers(model: str) -> bool:
    return model.endswith(", same answers")


def _sentence(models: Iterable[str]) -> str:
    """The names of models whose answers stay the same, in one enumeration."""
    *first, last = (f'"{model.removesuffix(", same answers")}"' for model in models)
    return f"The models {', '.join(first)} and {last}"


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
    return f"{100 * tally.red / tally.runs:.2f} % ({100 * low:.2f} to {100 * high:.2f} %)"


def _by_model(rows: Rows, confirmed: ByFields) -> Iterator[str]:
    body = (
        (*key, _rate(tally), _rate(confirmed[key]), f"{confirmed[key].asks / confirmed[key].runs:.1f}")
        for key, tally in _added_up(rows, 1)
        if not _same_answers(str(key[0]))
    )
    return _table(("model", "`regression`", "`confirmed`", "further requests"), body)


def _with_warnings(rows: Rows, confirmed: ByFields) -> Iterator[str]:
    body = (
        (*key, _rate(tally), f"{tally.warned}/{tally.runs}", _rate(confirmed[key])) for key, tally in _added_up(rows, 1)
    )
    return _table(("model", "`regression`", "with the warning", "`confirmed`"), body)


def _beside_the_t_test(rows: Rows) -> Iterator[str]:
    body = ((*key, _rate(tally), tally.share(tally.t_red)) for key, tally in _added_up(rows, 1, 3))
    return _table(("model", "saved runs", "red", "paired t"), body)


def _added_up(rows: Rows, *fields: int) -> Iterable[tuple[tuple[object, ...], Tally]]:
    """Rows by these fields of their keys, in the order of their first ones."""
    sums: dict[tuple[object, ...], Tally] = defaultdict(Tally)
    for key, tally in rows:
        sums[tuple(key[field] for field in fields)] += tally
    return sums.items()


def _stated(rows: Rows) -> Iterator[str]:
    head = ("model", "questions", "saved runs", "red")
    return _table(head, ((*key[1:], _rate(tally)) for key, tally in rows))


def _rate(tally: Tally) -> str:
    return f"{tally.red}/{tally.runs}"


def _table(head: tuple[str, ...], body: Iterable[tuple[object, ...]]) -> Iterator[str]:
    for row in (head, ("---",) * len(head), *body):
        yield f"| {' | '.join(map(str, row))} |"
