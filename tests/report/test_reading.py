"""A reader of the format's first description can read the files and compare agents."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.redaction import Redactor
from pytest_ragcheck.report.files.result_files import write_results
from pytest_ragcheck.scores import Score
from pytest_ragcheck.summary.aggregate import aggregate
from tests.making import a_question, a_record, some_outcomes

if TYPE_CHECKING:
    from pathlib import Path

LOADING = """
import json

with open('outputs/natural_questions_questions.json') as f:
    questions = json.load(f)
with open('outputs/gemma_2b_baseline_predictions.json') as f:
    predictions = json.load(f)
with open('outputs/gemma_2b_baseline_summary.json') as f:
    summary = json.load(f)

by_id = {question['id']: question['all_acceptable_answers'] for question in questions['questions']}
assert questions['num_questions'] == len(by_id) == summary['num_examples'] == predictions['num_examples']
assert {file['dataset_name'] for file in (questions, predictions, summary)} == {'natural_questions'}
print(f"{summary['overall_metrics']['f1']:.4f}")
print(f"{summary['metric_statistics']['f1']['min']:.2f} to {summary['metric_statistics']['f1']['max']:.2f}")
print(f"{summary['metric_statistics']['exact_match']['std']:.4f}")
for row in predictions['predictions']:
    if row['metrics']['f1'] < 0.3:
        print(row['question'], row['prediction'], by_id[row['question_id']], row['metadata'], sep=' | ')
"""

COMPARING = """
import json
import pandas as pd

summaries = []
for agent in ['gemma_2b_baseline', 'gpt4_baseline']:
    with open(f'outputs/{agent}_summary.json') as f:
        summaries.append(json.load(f))
df = pd.DataFrame([
    {
        'Agent': s['agent_name'],
        'Exact Match': s['overall_metrics']['exact_match'],
        'F1': s['overall_metrics']['f1'],
        'BERTScore': s['overall_metrics'].get('bertscore_f1', 0),
    }
    for s in summaries
])
print(df)
"""

# The same where there is no pandas: it only draws a table of the rows.
ROWS_ONLY = "print = lambda rows: [__import__('builtins').print(*row.values(), sep=', ') for row in rows]\n"
WITHOUT_PANDAS = ROWS_ONLY + COMPARING.replace("import pandas as pd\n", "").replace("pd.DataFrame", "list")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two agents' results over the same three questions, all of which have an expected answer."""
    questions = [
        a_question(name, dataset_name="natural_questions", expected_answer="1972", all_acceptable_answers=("in 1972",))
        for name in "012"
    ]
    scores = {"gemma_2b_baseline": (1.0, 0.8571, 0.0), "gpt4_baseline": (1.0, 1.0, 1.0)}
    for agent, f1 in scores.items():
        records = [
            a_record(question=question, answer="1972", scores={"exact_match": Score(float(score == 1)), "f1": score})
            for question, score in zip(questions, f1, strict=True)
        ]
        outcomes = some_outcomes(*records, agent_name=agent)
        write_results(outcomes, aggregate(outcomes), tmp_path / "outputs", Redactor())
    return tmp_path


def run(script: str, folder: Path) -> list[str]:
    ran = subprocess.run([sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, check=True)
    return ran.stdout.splitlines()


def test_results_are_loaded_by_the_keys_of_the_description(folder: Path) -> None:
    # f1: (1 + 0.8571 + 0) / 3; exact match 1, 0, 0: a mean of 1/3 and a deviation of sqrt(2)/3.
    assert run(LOADING, folder) == [
        "0.6190",
        "0.00 to 1.00",
        "0.4714",
        "What about 2? | 1972 | ['1972', 'in 1972'] | {}",
    ]


def test_agents_are_compared_by_the_keys_of_the_description(folder: Path) -> None:
    assert run(WITHOUT_PANDAS, folder) == [
        "gemma_2b_baseline, 0.333333, 0.619033, 0",
        "gpt4_baseline, 1.0, 1.0, 0",
    ]


PANDAS = importlib.util.find_spec("pandas") is not None


@pytest.mark.skipif(not PANDAS and os.environ.get("CI") != "true", reason="pandas is not installed; in CI it has to be")
def test_agents_are_compared_in_a_table_of_pandas(folder: Path) -> None:
    header, first, second = run(COMPARING, folder)
    assert header.split() == ["Agent", "Exact", "Match", "F1", "BERTScore"]
    assert first.split() == ["0", "gemma_2b_baseline", "0.333333", "0.619033", "0"]
    assert second.split() == ["1", "gpt4_baseline", "1.000000", "1.000000", "0"]
