"""`--column` gives keys to columns and variables of a recognised form, whose other parts convert as without it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.cli import main

if TYPE_CHECKING:
    from pathlib import Path

WHO, CUSTOMER, RULE = "Who pays for a return?", "The customer pays.", "The customer pays for returns."


def ended(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, content: Any, *columns: str
) -> tuple[int, str, str]:
    """Return the exit status, and both outputs without the path of the file."""
    text = content if isinstance(content, str) else json.dumps(content)
    (folder / name).write_text(text, encoding="utf-8")
    options = [part for column in columns for part in ("--column", column)]
    status = main(["convert", str(folder / name), "-o", str(folder), *options])
    printed = capsys.readouterr()
    return status, printed.out.replace(f"{folder / name}: ", ""), printed.err.replace(f"{folder / name}: ", "")


def convert(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, content: Any, *columns: str
) -> tuple[str, list[str], list[dict[str, Any]]]:
    """Return the name of the form, the values that were not carried over, and the entries of the written file."""
    status, printed, errors = ended(folder, capsys, name, content, *columns)
    assert (status, errors) == (0, "")
    [written] = folder.glob("*.rag.json")
    assert main(["check", str(written)]) == 0, capsys.readouterr().out
    form, _, *left = printed.splitlines()
    questions = json.loads(written.read_text(encoding="utf-8"))["questions"]
    return form.partition(",")[0], [line.removeprefix("  not carried over: ") for line in left], questions


def test_assertions_of_promptfoo_are_kept_beside_a_named_variable(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f"frage,soll,__expected,__expected2\n{WHO},{CUSTOMER},not-contains: free,icontains: {{{{soll}}}}\n"
    form, left, [question] = convert(tmp_path, capsys, "a.csv", text, "question=frage", "expected_answer=soll")
    assert (form, left) == ("promptfoo tests", [])
    assert (question["question"], question["expected_answer"]) == (WHO, CUSTOMER)
    assert (question["must_mention"], question["must_not_mention"]) == (["/The customer pays\\./i"], ["/free/"])


def test_a_variable_of_a_promptfoo_configuration_may_be_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f"""
prompts: ['{{{{kontext}}}} {{{{frage}}}}']
tests:
  - vars: {{frage: '{WHO}', kontext: '{RULE}'}}
  - vars: {{text: '{WHO}'}}
"""
    form, left, [question] = convert(tmp_path, capsys, "a.yaml", text, "question=frage", "expected_answer=soll")
    assert form == "promptfoo tests"
    assert left == [
        "tests whose question is in no variable (frage): 1",
        "tests without a text in the variable soll: 1",
    ]
    assert (question["question"], question["metadata"]) == (WHO, {"vars": {"kontext": RULE}})


def test_references_of_promptfoo_beside_a_named_answer_are_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f"""
tests:
  - vars: {{frage: '{WHO}', soll: We do.}}
    assert: [{{type: similar, value: They do.}}, {{type: factuality, value: '{{{{soll}}}}'}}, {{type: is-refusal}}]
"""
    _, left, [question] = convert(tmp_path, capsys, "a.yaml", text, "question=frage", "expected_answer=soll")
    assert left == ["is-refusal: 1", "similar: 1"]
    assert (question["expected_answer"], question.get("answerable", True)) == ("We do.", True)


def test_a_question_of_promptfoo_in_another_file_is_listed_as_such(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tests = {"tests": [{"vars": {"question": "file://q.txt"}}]}
    status, _, errors = ended(tmp_path, capsys, "a.json", tests)
    assert (status, errors) == (
        2,
        (
            "ragcheck convert: promptfoo tests, has no questions to convert "
            "(tests whose question is in another file (file://): 1).\n"
        ),
    )


@pytest.mark.parametrize("prefix", ["", "inputs."])
def test_inputs_and_outputs_may_have_names_of_their_own(
    prefix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = {
        "inputs": {"frage": WHO, "locale": "de"},
        "outputs": {"antwort": CUSTOMER, "belege": [RULE], "note": "a"},
        "nummer": 7,
    }
    columns = ("expected_answer=antwort", "gold_passages=outputs.belege", "id=nummer")
    form, left, [question] = convert(tmp_path, capsys, "a.json", [row], f"question={prefix}frage", *columns)
    assert (form, left) == ("LangSmith dataset", [])
    assert question["gold_passages"] == [{"text": RULE}]
    assert (question["id"], question["question"], question["expected_answer"]) == ("7", WHO, CUSTOMER)
    assert question["metadata"] == {"inputs": {"locale": "de"}, "outputs": {"note": "a"}}


def test_values_of_langfuse_are_read_as_without_the_option(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        "id,input,expected_output,metadata,source_trace_id,status\n"
        f'lf1,"{{""question"":""{WHO}""}}","{{""soll"":""{CUSTOMER}"",""n"":""1""}}",,,ACTIVE\n'
        "lf2,old,P,,,ARCHIVED\n"
    )
    form, left, [question] = convert(tmp_path, capsys, "a.csv", text, "question=input", "expected_answer=soll")
    assert (form, left) == ("Langfuse and Braintrust dataset items", ["archived items: 1"])
    assert (question["id"], question["question"], question["expected_answer"]) == ("lf1", WHO, CUSTOMER)


def test_a_named_column_may_be_one_that_the_form_reads_as_recorded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"input": WHO, "output": CUSTOMER, "reference": RULE}]
    columns = ("question=input", "expected_answer=output", "gold_passages=reference")
    form, left, [question] = convert(tmp_path, capsys, "a.json", rows, *columns)
    assert (form, left) == ("Phoenix examples and spans", [])
    assert (question["question"], question["expected_answer"]) == (WHO, CUSTOMER)
    assert question["gold_passages"] == [{"text": RULE}]
    assert "metadata" not in question


def test_columns_that_are_not_named_keep_the_keys_of_the_form(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    header = "input,actual_output,expected_output,retrieval_context,context,name,number,rule"
    text = f"{header}\n{WHO},,{CUSTOMER},,{RULE}|Returns cost 5 EUR.,g1,4,pays\n"
    form, _, [question] = convert(tmp_path, capsys, "a.csv", text, "id=number", "must_mention=rule")
    assert (form, question["id"], question["metadata"]["name"]) == ("deepeval goldens", "4", "g1")
    assert (question["question"], question["expected_answer"]) == (WHO, CUSTOMER)
    assert (question["must_mention"], len(question["gold_passages"])) == (["pays"], 2)


def test_a_column_named_as_metadata_loses_the_key_of_the_form(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = {"query": WHO, "response": CUSTOMER, "ground_truth": "They do."}
    columns = ("expected_answer=response", "metadata=ground_truth")
    form, _, [question] = convert(tmp_path, capsys, "a.json", [row], *columns)
    assert (form, question["expected_answer"]) == ("Azure AI evaluation data", CUSTOMER)
    assert question["metadata"] == {"ground_truth": "They do."}


@pytest.mark.parametrize(
    ("rows", "column", "told"),
    [
        (
            [{"inputs": {"frage": WHO, "locale": "de"}}],
            "question=fragen",
            "--column question=fragen: there is no column 'fragen'; did you mean 'frage'? (found: inputs).",
        ),
        (
            [{"query": WHO, "response": CUSTOMER}],
            "id=number",
            "--column id=number: there is no column 'number' (found: query, response).",
        ),
        (
            [{"query": WHO, "response": CUSTOMER}],
            "id=query",
            "no column has the texts to ask; add --column question=NAME (found: query, response).",
        ),
        (
            {"tests": [{"vars": {"frage": WHO}}]},
            "id=frage",
            (
                "--column id=frage: 'id' is no key for promptfoo tests; choose one of question, expected_answer "
                "(found: tests)."
            ),
        ),
        (
            {"queries": {"q": WHO}, "corpus": {"d": RULE}, "relevant_docs": {"q": ["d"]}},
            "id=q",
            (
                "--column id=q: 'id' is no key for LlamaIndex EmbeddingQAFinetuneDataset; leave the option out "
                "(found: corpus, queries, relevant_docs)."
            ),
        ),
    ],
)
def test_a_name_or_key_that_the_form_lacks_is_a_mistake(
    rows: Any, column: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended(tmp_path, capsys, "a.json", rows, column) == (2, "", f"ragcheck convert: {told}\n")
