"""A question's row in the report of pytest-html; `tests/matrix` has the tests with the real plugin."""

from __future__ import annotations

import pytest

from pytest_ragcheck.plugin.guests.junit_properties import complete_row

NODE_ID = "billing.rag.yaml::<b>terms</b> & more"
ASKED: list[tuple[object, object]] = [
    ("ragcheck.verdict", "PASS"),
    ("ragcheck.answer_correctness", 1.0),
    ("ragcheck.groundedness", 0.914),
    ("ragcheck.abstained", 0.0),
    ("ragcheck.answer_correctness.threshold", 0.7),
    ("ragcheck.groundedness.threshold", 0.7),
    (("any", "thing"), "of the user's"),
]


def cells() -> list[object]:
    return [
        '<td class="col-result">Passed</td>',
        f'<td class="col-testId">{NODE_ID}</td>',
        '<td class="col-links"><a href="log.txt">log</a></td>',
    ]


def test_the_last_cell_has_the_asserted_scores() -> None:
    row = cells()
    complete_row(NODE_ID, ASKED, row)
    assert row[0] == cells()[0]
    assert row[2] == (
        '<td class="col-links"><a href="log.txt">log</a><small>answer_correctness=1.00 groundedness=0.91</small></td>'
    )


@pytest.mark.parametrize("properties", [[], ASKED])
def test_the_node_id_is_text_and_nothing_else(properties: list[tuple[object, object]]) -> None:
    row = cells()
    complete_row(NODE_ID, properties, row)
    assert row[1] == '<td class="col-testId">billing.rag.yaml::&lt;b&gt;terms&lt;/b&gt; &amp; more</td>'


def test_without_asserted_scores_the_last_cell_stays() -> None:
    row = cells()
    complete_row(NODE_ID, [("ragcheck.verdict", "ERROR")], row)
    assert row[2] == cells()[2]


def test_cells_of_another_make_stay() -> None:
    row: list[object] = [object(), '<td class="col-own">5</td>']
    before = list(row)
    complete_row(NODE_ID, ASKED, row)
    assert row == before
