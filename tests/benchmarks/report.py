"""
Measures the HTML report of a long run: `python -m tests.benchmarks.report [QUESTIONS...]`, by default 30 5000.
With `--trend RUNS` it is the page of the trend over so many runs.

Headless Chromium opens the page from disk. Each step is done `--rounds` times (default 5), of all questions each time,
as a reader does it: by a change of a control or a click. It is measured from there until the browser has drawn what
came of it. Beside the median stands the slowest of the rounds; the first search has to read all texts once, so it
stands by itself.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_ragcheck.report.files.results_reader import Results
from pytest_ragcheck.report.html.page import page_of
from pytest_ragcheck.report.html.trend_page import trend_page
from pytest_ragcheck.report.view import view_of
from pytest_ragcheck.summary.trend import trend_of
from tests.chromium import CHROMIUM, Tab, open_tab
from tests.report.html.test_trend_page import many_runs
from tests.report.many import many
from tests.report.results import written

if TYPE_CHECKING:
    from collections.abc import Mapping

STEPS = {
    "filter by outcome": "box.checked = false; say(box)",
    "search a text, first": "text.value = 'hotline'; say(text)",
    "search a text": "text.value = 'receipt'; say(text)",
    "filter by tag": "tag.value = 'payments'; say(tag)",
    "filter by dataset": "dataset.value = 'shop'; say(dataset)",
    "sort by a score": "sort.value = 'groundedness, lowest first'; say(sort)",
    "open a question": "document.querySelector('#list details.q summary').click()",
    "show more": "document.getElementById('more-button').click()",
}
"""The reader's actions by name; `say` sends the event that a control has changed."""

TREND_STEPS = {
    "search a text": "text.value = 'q1'; say(text)",
    "show a score": "const cells = document.getElementById('cells'); cells.value = 'groundedness'; say(cells)",
    "open a question": "document.querySelector('#list button').click()",
    "show more": "document.getElementById('more-button').click()",
}

STEP = """new Promise(done => {
    const say = control => control.dispatchEvent(new Event('input', {bubbles: true}));
    const [text, tag, dataset, sort] = ['text', 'tag', 'dataset', 'sort'].map(id => document.getElementById(id));
    const box = document.querySelector('#verdicts input');
    const began = performance.now();
    // What the page makes of it ends with a change of the list, or at once.
    const seen = new MutationObserver(() => {
        seen.disconnect();
        requestAnimationFrame(() => setTimeout(() => done(performance.now() - began)));
    });
    seen.observe(document.getElementById('list'), {childList: true, subtree: true});
    STEP;
})"""
ONCE = {"search a text, first"}


def measure(tab: Tab, path: Path, rounds: int, steps: Mapping[str, str] = STEPS) -> dict[str, list[float]]:
    """By step the milliseconds of each round."""
    taken: dict[str, list[float]] = {"open the page": []}
    for _ in range(rounds):
        began = time.perf_counter()
        tab.open(path)
        taken["open the page"].append((time.perf_counter() - began) * 1000)
    tab.run("document.getElementById('questions')?.setAttribute('open', '')")
    for name, step in steps.items():
        if name == "show more" and tab.run("document.getElementById('more').hidden"):
            continue
        taken[name] = []
        for _ in range(1 if name in ONCE else rounds):
            tab.run("document.querySelector('#filters button').click()")
            tab.settle()
            tab.settle()
            taken[name].append(tab.run(STEP.replace("STEP;", step)))
    return taken


def main() -> None:
    """Prints a table for each number of questions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("numbers", nargs="*", type=int, default=[30, 5000])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--trend", type=int, metavar="RUNS")
    chosen = parser.parse_args()
    if CHROMIUM is None:
        parser.error("there is no Chromium: install Debian's chromium")
    steps = STEPS if chosen.trend is None else TREND_STEPS
    for number in chosen.numbers:
        with tempfile.TemporaryDirectory() as folder, open_tab() as tab:
            results = many(number) if chosen.trend is None else many_runs(number, chosen.trend)
            began = time.perf_counter()
            text = page_of(view_of(results)) if isinstance(results, Results) else trend_page(trend_of(results))
            path = written(Path(folder) / "report.html", text)
            made = time.perf_counter() - began
            size = path.stat().st_size / 2**20
            print(f"\n{number:,} questions, {size:.1f} MiB, written in {made:.1f} s\n")
            print(f"{'':<22} {'ms':>6} {'slowest':>8}")
            for name, values in measure(tab, path, chosen.rounds, steps).items():
                print(f"{name:<22} {statistics.median(values):6.0f} {max(values):8.0f}", flush=True)


if __name__ == "__main__":
    main()
