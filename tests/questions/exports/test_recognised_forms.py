"""Each recognised export becomes a question file that checks and runs; the page lists the forms."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.cli import main
from pytest_ragcheck.questions.exports.export import Export
from pytest_ragcheck.questions.exports.material import value_of
from pytest_ragcheck.questions.exports.recognised_forms import FORMS, read_exports
from tests.harness import exhaustive
from tests.questions.exports.samples import BEIR, CUSTOMER, QRELS, RULE, SAMPLES, TREC_TOPICS, WHO
from tests.servers.fake_endpoint import FakeEndpoint, json_reply

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.harness import Project

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "convert.md"
GOLD = [{"text": RULE}]
TURNS = ["How long may I return it?", "And who pays?"]


def convert(folder: Path, capsys: pytest.CaptureFixture[str], *names: str) -> tuple[list[str], list[dict[str, Any]]]:
    """Return the values that were not carried over, and the entries of the written file, which has no mistakes."""
    output = folder / "converted"
    status = main(["convert", *(str(folder / name) for name in names), "-o", str(output)])
    printed = capsys.readouterr()
    assert (status, printed.err) == (0, "")
    (written,) = output.iterdir()
    assert main(["check", str(written)]) == 0, capsys.readouterr().out
    left = [line.removeprefix("  not carried over: ") for line in printed.out.splitlines()[2:]]
    return left, json.loads(written.read_text(encoding="utf-8"))["questions"]


def of_sample(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[list[str], list[dict[str, Any]]]:
    file_name, text = SAMPLES[name]
    (folder / file_name).write_text(text, encoding="utf-8")
    return convert(folder, capsys, file_name)


def entry(**keys: Any) -> dict[str, Any]:
    """Return the entry of the usual question."""
    return {"question": WHO, "expected_answer": CUSTOMER, **keys}


NO_TOOLS = "expected_tools (kept in metadata, not asserted): 1"
OF_A_GOLDEN = {
    "level": "easy",
    "actual_output": "We do.",
    "comments": "often asked",
    "expected_tools": [{"name": "lookup", "type": "FUNCTION"}],
}
TWO_PASSAGES = [*GOLD, {"text": "Returns take 30 days."}]
NO_SYSTEM = "system messages (the endpoint has its own)"

EXPECTED: dict[str, tuple[list[str], dict[str, Any]]] = {
    "ragas testset, JSON Lines": ([], entry(gold_passages=GOLD, metadata={"synthesizer_name": "single_hop"})),
    "ragas testset, CSV": (
        [],
        entry(gold_passages=[*GOLD, {"text": "It's free."}], metadata={"synthesizer_name": "single_hop"}),
    ),
    "ragas EvaluationDataset, JSON Lines": (
        [],
        entry(gold_passages=GOLD, metadata={"retrieved_contexts": ["Lamps"], "response": "We do."}),
    ),
    "ragas 0.1 testset, CSV": (
        [],
        entry(
            gold_passages=GOLD,
            metadata={"evolution_type": "simple", "metadata": [{"source": "terms.md"}], "episode_done": "True"},
        ),
    ),
    "ragas 0.1 dataset, JSON Lines": (
        [],
        entry(
            all_acceptable_answers=[CUSTOMER, "They do."],
            metadata={"answer": "We do.", "contexts": ["Lamps"]},
        ),
    ),
    "deepeval, JSON": (
        [NO_TOOLS],
        entry(gold_passages=TWO_PASSAGES, metadata={**OF_A_GOLDEN, "retrieval_context": ["Lamps"]}),
    ),
    "deepeval, JSON Lines": (
        [NO_TOOLS],
        entry(gold_passages=TWO_PASSAGES, metadata={**OF_A_GOLDEN, "retrieval_context": "Lamps"}),
    ),
    "deepeval, CSV": (
        [NO_TOOLS],
        entry(gold_passages=TWO_PASSAGES, metadata={**OF_A_GOLDEN, "retrieval_context": "Lamps"}),
    ),
    "promptfoo, CSV": (
        ["llm-rubric: 1", "similar: 1"],
        {
            "question": WHO,
            "must_mention": ["/customer/i", "/(?:pays|bears)/"],
            "metadata": {
                "level": "easy",
                "description": "the cost",
                "not_carried_over": [{"type": "llm-rubric", "value": "is polite"}],
            },
        },
    ),
    "LlamaIndex LabelledRagDataset": ([], entry(gold_passages=GOLD)),
    "LlamaIndex EmbeddingQAFinetuneDataset": (
        ["documents of the corpus that are relevant to no query: 1"],
        {"id": "q1", "question": WHO, "gold_passages": [{"doc_id": "d1", "text": RULE}]},
    ),
    "LangSmith, JSON Lines": (
        [
            (
                "rows whose inputs name no question (one of question, query, input, user_input, user_query, prompt, "
                "message, text, or a single text; name another with --column question=NAME): 1"
            ),
            f"{NO_SYSTEM}: 1",
        ],
        entry(
            id="e-1",
            metadata={"level": "easy", "inputs": {"tone": "polite"}, "outputs": {"contexts": [RULE]}},
        ),
    ),
    "LangSmith, CSV": ([], entry(id="e-1")),
    "LangSmith columns, CSV": ([], entry(id="e-1")),
    "Langfuse, JSON": (
        ["archived items: 1"],
        entry(id="i-1", metadata={"level": "easy", "datasetId": "d", "status": "ACTIVE"}),
    ),
    "Langfuse, CSV": ([], entry(id="i-1", metadata={"level": "easy"})),
    "OpenAI evals, JSON Lines": ([f"{NO_SYSTEM}: 2"], entry(all_acceptable_answers=[CUSTOMER, "They do."])),
    "MLflow, JSON Lines": (
        ["guidelines (kept in metadata, not asserted): 1", f"{NO_SYSTEM}: 1"],
        entry(
            gold_passages=[{"doc_id": "terms.md", "text": RULE}, {"doc_id": "fees.md"}],
            metadata={"outputs": {"response": "We do."}, "tags": {"level": "easy"}, "guidelines": ["Be kind."]},
        ),
    ),
    "MLflow columns, CSV": ([], entry(metadata={"retrieved_context": [{"doc_uri": "lamps.md"}]})),
    "Databricks, JSON Lines": (
        [],
        entry(id="r-1", metadata={"response": "We do.", "retrieved_context": [{"doc_uri": "lamps.md"}]}),
    ),
    "Azure AI evaluation, JSON Lines": ([], entry(metadata={"context": "Lamps", "response": "We do."})),
    "Bedrock, JSON Lines": ([], entry()),
    "Vertex AI, JSON Lines": ([], entry(metadata={"response": "We do."})),
    "Phoenix evals, CSV": (
        [],
        entry(expected_answer=None, metadata={"context.span_id": "x1", "output": "We do.", "reference": "Lamps"}),
    ),
    "Phoenix spans, CSV": (
        ["spans within a trace: 1"],
        entry(expected_answer=None, metadata={"context.span_id": "x1", "attributes.output.value": "We do."}),
    ),
    "Phoenix examples, JSON": (
        [],
        entry(id="e-1", metadata={"level": "easy", "updated_at": "2026-01-01T00:00:00Z"}),
    ),
    "Phoenix dataset, CSV": ([], entry(id="e-1", metadata={"level": "easy", "node_id": "n"})),
    "Phoenix dataset, JSON Lines": ([], entry(id="e-1", metadata={"level": "easy", "node_id": "n"})),
    "Phoenix openai_evals, JSON Lines": ([], entry()),
    "Confident AI, JSON": (
        ["expectedTools (kept in metadata, not asserted): 1", "rows of the list 'conversationalGoldens': 1"],
        entry(
            gold_passages=GOLD,
            metadata={
                "level": "easy",
                "actualOutput": "We do.",
                "retrievalContext": ["Lamps"],
                "expectedTools": [{"name": "lookup"}],
            },
        ),
    ),
    "Braintrust, JSON": ([], entry(id="e-1", metadata={"level": "easy", "_xact_id": "1", "dataset_id": "d"})),
    "Braintrust query, JSON Lines": ([], entry()),
    "TREC lines": ([], {"id": "301", "question": WHO, "expected_answer": None}),
}
"""By sample, the values that are not carried over, and keys of the first question."""

OF_CONVERSATIONS = {
    "ragas EvaluationDataset with turns, CSV": [],
    "deepeval conversations, JSON": [
        "expected_outcome (kept in metadata, not asserted): 1",
        "scenarios without turns of the user, which deepeval's simulator would play: 1",
    ],
    "giskard, JSON Lines": [],
    "Bedrock with turns, JSON Lines": [],
}


@pytest.mark.parametrize("name", EXPECTED)
def test_an_export_becomes_questions(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    left, entries = of_sample(name, tmp_path, capsys)
    wanted, keys = EXPECTED[name]
    assert left == wanted
    assert {key: entries[0].get(key) for key in keys} == keys


@pytest.mark.parametrize("name", OF_CONVERSATIONS)
def test_messages_become_turns_and_only_the_last_is_judged(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left, [conversation] = of_sample(name, tmp_path, capsys)
    assert left == OF_CONVERSATIONS[name]
    first, last = conversation["turns"]
    assert [first["question"], last["question"]] == TURNS
    assert first["thresholds"] == {"answer_correctness": 0.0, "groundedness": 0.0}
    assert "thresholds" not in last


def test_assertions_of_promptfoo_keep_their_meaning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    left, [cost, long, _, mayor] = of_sample("promptfoo, YAML", tmp_path, capsys)
    assert left == [
        "javascript: 1",
        "llm-rubric: 2",
        "threshold of context-recall (its value is the expected answer): 1",
    ]
    assert (cost["question"], cost["expected_answer"]) == (WHO, CUSTOMER)
    assert cost["must_mention"] == ["/the customer/i", "/(?:pays|bears)/", r"/\bcustomer\b/"]
    assert cost["must_not_mention"] == ["/as an AI/i"]
    assert cost["thresholds"] == {"groundedness": 0.9, "latency_seconds": 2.5}
    assert cost["metadata"]["vars"] == {"context": "file://terms.txt", "who": "customer"}
    assert (long["expected_answer"], long["must_mention"]) == ("no", [r"/\A\s*no\s*\Z/"])
    assert mayor["answerable"] is False


def test_judged_collections_run_in_the_tier_retrieval(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "topics.txt").write_text(TREC_TOPICS, encoding="utf-8")
    (tmp_path / "judged.txt").write_text(QRELS, encoding="utf-8")
    left, [topic] = convert(tmp_path, capsys, "topics.txt", "judged.txt")
    assert left == [
        "grades above 1 (they count as relevant): 1",
        "judgements of documents as not relevant: 2",
        "queries without a relevant document: 1",
    ]
    assert (topic["id"], topic["question"], topic["gold_passages"]) == (
        "301",
        "cost of a return",
        [{"doc_id": "terms"}],
    )
    write_beir(tmp_path / "beir")
    capsys.readouterr()
    assert main(["convert", str(tmp_path / "beir"), "-o", str(tmp_path)]) == 0
    assert "  not carried over: titles of documents with a text: 1\n" in capsys.readouterr().out
    document = json.loads((tmp_path / "beir.rag.json").read_text(encoding="utf-8"))
    assert document["tier"] == "retrieval"
    assert document["questions"][0]["gold_passages"] == [{"doc_id": "terms", "text": RULE}]


def test_documents_and_judgements_without_a_query_are_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    judged, unneeded = "judged queries without a text: 1", "documents of the corpus that are relevant to no query: 1"
    write_beir(tmp_path / "beir")
    (tmp_path / "beir" / "qrels" / "dev.tsv").write_text("q9\tterms\t1\n", encoding="utf-8")
    (tmp_path / "t.tsv").write_text(f"301\t{WHO}\n", encoding="utf-8")
    (tmp_path / "qrels.txt").write_text("301 0 terms 1\n999 0 lamps 1\n999 0 terms 1\n", encoding="utf-8")
    corpus = {"d1": RULE, "d2": "Lamps"}
    pairs = {"queries": {"q1": WHO}, "corpus": corpus, "relevant_docs": {"q1": ["d1"], "q9": ["d2"]}}
    (tmp_path / "a.json").write_text(json.dumps(pairs), encoding="utf-8")
    for names, lines in {
        ("beir",): [unneeded, judged],
        ("t.tsv", "qrels.txt"): [judged],
        ("a.json",): [unneeded, judged],
    }.items():
        assert main(["convert", *(str(tmp_path / name) for name in names), "-o", str(tmp_path)]) == 0
        printed = capsys.readouterr().out
        assert all(f"  not carried over: {line}\n" in printed for line in lines), printed


@pytest.mark.parametrize(
    ("name", "text", "kept"),
    [
        (
            "a.json",
            (
                '[{"input": "A?", "expected_output": "b", "comments": "ours", "source_file": "a.md",'
                ' "additional_metadata": {"comments": "theirs", "comments.1": 0, "source_file": "a.md"}}]'
            ),
            {"comments": "theirs", "comments.1": 0, "comments.1.1": "ours", "source_file": "a.md"},
        ),
        (
            "a.yaml",
            "tests: [{vars: {question: A?, who: we}, description: b, metadata: {vars: 1, description: 2}}]",
            {"vars": 1, "description": 2, "description.1": "b", "vars.1": {"who": "we"}},
        ),
        (
            "a.json",
            '[{"inputs": {"question": "A?", "tone": "kind"}, "outputs": {}, "metadata": {"inputs": 1}}]',
            {"inputs": 1, "inputs.1": {"tone": "kind"}},
        ),
    ],
)
def test_a_value_whose_key_the_metadata_has_gets_another_key(
    name: str, text: str, kept: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    [question] = of_text(name, text, tmp_path, capsys)
    assert question["metadata"] == kept


def test_other_values_of_a_query_of_beir_go_to_its_metadata(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query = {"_id": "q1", "text": WHO, "narrative": "Costs", "metadata": {"level": "easy"}}
    write_beir(tmp_path / "beir", queries_jsonl=json.dumps(query))
    _, [question] = convert(tmp_path, capsys, "beir")
    assert question["metadata"] == {"level": "easy", "narrative": "Costs", "splits": ["dev", "test"]}


@pytest.mark.parametrize("context", ["Ships tomorrow morning.", "Shipping info\nShips tomorrow morning."])
def test_a_short_document_of_beir_is_found_with_and_without_its_title(
    context: str, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    document = {"_id": "terms", "title": "Shipping info", "text": "Ships tomorrow morning."}
    write_beir(project.folder / "beir", corpus_jsonl=json.dumps(document))
    (project.folder / "beir" / "qrels" / "test.tsv").write_text("q1\tterms\t1\n", encoding="utf-8")
    assert main(["convert", str(project.folder / "beir"), "-o", str(project.folder)]) == 0, capsys.readouterr().err
    with FakeEndpoint(json_reply({"contexts": [context]})) as endpoint:
        run = project.run(f"--rag-url={endpoint.url}")
    assert list(run.verdicts.values()) == ["PASS"], run.text


@pytest.mark.parametrize(
    ("queries", "text"),
    [
        ("queries.csv", f"qid;query;team\n301;{WHO};returns\n302;How long?;\n"),
        ("queries.jsonl", json.dumps({"_id": "301", "text": WHO, "team": "returns"}) + "\n"),
        ("queries.tsv", f"query_id\tquestion\tteam\n301\t{WHO}\treturns\n"),
    ],
)
@pytest.mark.parametrize(
    "qrels",
    ["301 0 terms 1\n", "\ufeff301 0 terms 1\r\n", "query-id\tcorpus-id\tscore\n301\tterms\t1\n", "301\tterms\t1"],
)
def test_queries_in_a_table_get_the_judgements_of_the_same_command(
    queries: str, text: str, qrels: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / queries).write_text(text, encoding="utf-8")
    (tmp_path / "qrels.tsv").write_text(qrels, encoding="utf-8")
    _, [topic] = convert(tmp_path, capsys, queries, "qrels.tsv")
    assert (topic["id"], topic["question"], topic["gold_passages"]) == ("301", WHO, [{"doc_id": "terms"}])
    assert topic["metadata"] == {"team": "returns"}


@pytest.mark.parametrize(
    "text", ["Frage\tDokument\tAntwort\nWho?\tterms\tThey do.\n", "質問\t答え\n返品期間は?\t30日\n"]
)
def test_a_table_with_tabs_is_no_list_of_topics(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "table.tsv").write_text(text, encoding="utf-8")
    assert main(["convert", str(tmp_path / "table.tsv"), "-o", str(tmp_path)]) == 2
    assert "table.tsv: is not a recognised export (found: " in capsys.readouterr().err


def write_beir(folder: Path, **files: str) -> None:
    for name, text in {**BEIR, **{name.replace("_", "."): text for name, text in files.items()}}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def test_judgements_of_beir_may_have_a_byte_order_mark_and_must_be_utf_8(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_beir(tmp_path / "beir")
    judgements = tmp_path / "beir" / "qrels" / "test.tsv"
    judgements.write_text("q1\tterms\t1\n", encoding="utf-8-sig")
    _, [question] = convert(tmp_path, capsys, "beir")
    assert question["id"] == "q1"
    judgements.write_bytes(b"q1\tterms\t1\nqu\xe9\tterms\t1\n")
    assert main(["convert", str(tmp_path / "beir")]) == 2
    assert "test.tsv: line 2: the file is not UTF-8: byte 0xe9 at offset 13. Save it as" in capsys.readouterr().err


def test_a_judged_document_that_the_corpus_lacks_is_named_with_the_remedy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lacks = "which corpus.jsonl lacks"
    to_do = "Copy the whole corpus.jsonl, or delete the lines of such documents from qrels.\n"
    folder = tmp_path / "beir"
    write_beir(folder, corpus_jsonl='{"_id": "lamps", "title": "", "text": "Lamps"}\n')
    assert main(["convert", str(folder)]) == 2
    error = f"ragcheck convert: {folder}: qrels/test.tsv names the document 'terms', {lacks}. {to_do}"
    assert capsys.readouterr().err == error
    more = "query-id\tcorpus-id\tscore\nq2\ta\t1\nq2\tb\t1\n"
    (folder / "qrels" / "test.tsv").write_text(more, encoding="utf-8")
    assert main(["convert", str(folder)]) == 2
    error = f"ragcheck convert: {folder}: qrels/test.tsv names the document 'a', {lacks} like 2 more. {to_do}"
    assert capsys.readouterr().err == error
    pairs = {"queries": {"q1": WHO}, "corpus": {"d1": RULE}, "relevant_docs": {"q1": ["d9"]}}
    (tmp_path / "a.json").write_text(json.dumps(pairs), encoding="utf-8")
    assert main(["convert", str(tmp_path / "a.json")]) == 2
    assert capsys.readouterr().err == (
        "ragcheck convert: a.json: 'relevant_docs' of 'q1' has 'd9', which has no text in 'corpus'. "
        "Add its text there, or delete the id from 'relevant_docs'.\n"
    )


@pytest.mark.parametrize(
    ("name", "text", "error"),
    [
        (
            "qrels/dev.tsv",
            "q1 terms 1\n",
            (
                "dev.tsv: line 1: expected query-id, corpus-id and score, found 'q1 terms 1'. "
                "Correct the line, or delete it"
            ),
        ),
        (
            "t.txt",
            "<top> x </top>",
            (
                "t.txt: expected a number and a title in each topic, found '<top> x </top>'. "
                "Complete the topic, or delete it"
            ),
        ),
        (
            "p.yaml",
            "tests: file://a.csv",
            "p.yaml: 'tests' names 'file://a.csv', and there is no such file beside it. Copy the file there",
        ),
    ],
)
def test_a_part_that_cannot_be_read_is_named_with_the_remedy(
    name: str, text: str, error: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_beir(tmp_path)
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert main(["convert", str(tmp_path if "/" in name else tmp_path / name)]) == 2
    assert capsys.readouterr().err == f"ragcheck convert: {error}.\n"


def test_every_converted_file_runs(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    for number, (file_name, text) in enumerate(SAMPLES.values()):
        export = project.folder / "exports" / f"sample{number}{Path(file_name).suffix}"
        export.parent.mkdir(exist_ok=True)
        export.write_text(text, encoding="utf-8")
        assert main(["convert", str(export), "-o", str(project.folder)]) == 0, capsys.readouterr().err
    with FakeEndpoint(json_reply({"answer": CUSTOMER, "contexts": [RULE]})) as endpoint:
        shape = 'rag_request={"question": "{query}", "messages": "{history}"}'
        run = project.run(f"--rag-url={endpoint.url}", "--rag-judge=offline", "-o", shape)
    asked = {request.json["question"] for request in endpoint.requests}
    assert {WHO, *TURNS, "How long?", "Who is the mayor?"} <= asked
    assert "ERROR" not in run.verdicts.values(), run.text
    assert {"PASS", "FAIL"} <= set(run.verdicts.values())


def test_an_existing_question_file_is_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    of_sample("LangSmith columns, CSV", tmp_path, capsys)
    again = ["convert", str(tmp_path / "a.csv"), "-o", str(tmp_path / "converted")]
    written = tmp_path / "converted" / "a.rag.json"
    assert main(again) == 2
    assert capsys.readouterr().err == (
        f"ragcheck convert: {written}: exists already. Delete it, or name another folder with --output.\n"
    )


def test_an_unknown_form_is_reported_with_the_remedies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.json"
    path.write_text('[{"foo": 1}]', encoding="utf-8")
    assert main(["convert", str(path)]) == 2
    errors = capsys.readouterr().err
    assert f"{path}: is not a recognised export (found: 'foo')." in errors
    assert "such as --column question=NAME --column expected_answer=NAME. `ragcheck docs convert` lists" in errors
    assert "SQuAD and other standard datasets need `ragcheck dataset`." in errors
    path.write_text("301 0 terms 1\n", encoding="utf-8")
    assert main(["convert", str(path)]) == 2
    what = "has judgements of TREC and no questions. Name the file of their topics too"
    forms = "SGML, XML, lines of a number, a tab and a text, or a table with the columns qid and query"
    assert capsys.readouterr().err == f"ragcheck convert: {path}: {what}: {forms}. Or name BEIR's folder.\n"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (
            "Frage;Rückgabe\n".encode("cp1252"),
            "is not UTF-8: byte 0xfc at offset 7. Save it as UTF-8; in Excel, choose 'CSV UTF-8'.",
        ),
        (b"PK\x03\x04\0", "is a workbook or an archive. In Excel, save the sheet as 'CSV UTF-8'."),
        (gzip.compress(b"user_input,reference", mtime=0), "is compressed with gzip. Unpack it."),
    ],
)
def test_a_spreadsheet_in_another_encoding_is_reported_with_the_menu_item(
    content: bytes, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "fragen.csv").write_bytes(content)
    assert main(["convert", str(tmp_path / "fragen.csv")]) == 2
    assert capsys.readouterr().err == f"ragcheck convert: fragen.csv: line 1: the file {told}\n"


def test_parquet_becomes_questions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arrow = pytest.importorskip("pyarrow", reason="parquet needs pyarrow, of the extra 'datasets'")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(
        arrow.table({"user_input": [WHO], "reference": [CUSTOMER], "reference_contexts": [[RULE]]}),
        tmp_path / "testset.parquet",
    )
    left, [entry] = convert(tmp_path, capsys, "testset.parquet")
    assert (left, entry["question"], entry["expected_answer"], entry["gold_passages"]) == ([], WHO, CUSTOMER, GOLD)


ODD_VALUES: tuple[Any, ...] = (None, 5, [], {}, " ", ["a", None], {"a": 1}, "half \ud800")


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each container in *value* with each of its keys or indices."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in list(pairs):
        yield value, key
        yield from places(part)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in {"giskard, JSON Lines", "MLflow, JSON Lines"} else exhaustive)
        for name, (file, _) in SAMPLES.items()
        if file.endswith(".jsonl")
    ],
)
def test_an_odd_value_is_left_out_or_told(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [json.loads(line) for line in SAMPLES[name][1].splitlines()]
    path, written = tmp_path / "a.jsonl", tmp_path / "a.rag.json"
    for container, key in list(places(rows)):
        kept = container[key]
        for odd in ODD_VALUES:
            container[key] = odd
            path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
            if main(["convert", str(path), "-o", str(tmp_path)]) == 0:
                assert main(["check", str(written)]) == 0, capsys.readouterr().out
                written.unlink()
        container[key] = kept


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[" * 100_000 + "]" * 100_000, "expected JSON, found something else ("),
        ('{"input": "a"}\n{"input": ' + "[" * 100_000 + "]" * 100_000 + "}", "line 2: expected a JSON object, found a"),
        ("tests:\n- " + "[" * 10_000 + "]" * 10_000, "line 2: the file nests values more than 100 levels deep. "),
    ],
    ids=["whole", "line", "yaml"],
)
def test_an_export_that_nests_too_deep_is_broken(
    text: str, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "deep"
    path.write_text(text, encoding="utf-8")
    assert main(["convert", str(path)]) == 2
    assert capsys.readouterr().err.startswith(f"ragcheck convert: deep: {problem}")


def test_a_cell_that_only_looks_like_a_literal_is_a_text(tmp_path: Path) -> None:
    path = tmp_path / "goldens.csv"
    path.write_text("input,expected_output\nWhich?,{[1]: 2}\n", encoding="utf-8")
    assert main(["convert", str(path), "-o", str(tmp_path)]) == 0
    written = json.loads((tmp_path / "goldens.rag.json").read_text(encoding="utf-8"))
    assert written["questions"][0]["expected_answer"] == "{[1]: 2}"


def of_text(file_name: str, text: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    (folder / file_name).write_text(text, encoding="utf-8")
    return convert(folder, capsys, file_name)[1]


def test_a_bullet_list_in_a_cell_does_not_make_a_csv_file_yaml(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = 'input,actual_output,expected_output\nWhich?,,"Two:\n- lamps\n- shoes"\n'
    [question] = of_text("goldens.csv", text, tmp_path, capsys)
    assert question["expected_answer"] == "Two:\n- lamps\n- shoes"


@pytest.mark.parametrize(
    "text",
    [
        "user_input;reference\nA, or B?;Yes, B.\n",
        "user_input\treference\nA, or B?\tYes, B.\n",
        "sep=;\r\nuser_input;reference\r\nA, or B?;Yes, B.\r\n",
        '"sep=\t"\nuser_input\treference\nA, or B?\tYes, B.\n',
    ],
    ids=["semicolons", "tabs", "Excel", "Excel with tabs"],
)
def test_a_csv_file_may_have_other_delimiters(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    [question] = of_text("a.csv", text, tmp_path, capsys)
    assert (question["question"], question["expected_answer"]) == ("A, or B?", "Yes, B.")


def test_a_csv_row_with_too_many_cells_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.csv"
    path.write_text("sep=,\nuser_input,reference\nWho?,A.\nWhich?,A, or B.\n", encoding="utf-8")
    assert main(["convert", str(path)]) == 2
    assert capsys.readouterr().err == (
        "ragcheck convert: a.csv: line 4: the row has 3 cells, and the header 2. Put a cell that holds ',' into "
        "quotes.\n"
    )


@pytest.mark.parametrize(
    ("name", "row", "told"),
    [
        ("a.csv", '"Q" is what?,d', "has 'is what?,d' behind the closing quote of a cell. Write each"),
        ("a.csv", '"How long?,30 days', "has a cell in quotes that is not closed. Close it"),
        ("a.tsv", '"Q" is what?\td', "has 'is what?\\td' behind the closing quote of a cell. Write each"),
        ("a.txt", '"Q" is what?\td', "has 'is what?\\td' behind the closing quote of a cell. Write each"),
    ],
)
def test_a_stray_quote_of_a_table_is_named_with_its_line(
    name: str, row: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    delimiter = "," if name == "a.csv" else "\t"
    (tmp_path / name).write_text(f"question{delimiter}expected_answer\n{row}\n", encoding="utf-8")
    assert main(["convert", str(tmp_path / name)]) == 2
    assert capsys.readouterr().err.startswith(f"ragcheck convert: {name}: line 2: the file {told}")


def test_topics_and_prose_may_have_stray_quotes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    [topic] = of_text("topics.tsv", '1\t"Q" is what?\n', tmp_path, capsys)
    assert topic["question"] == '"Q" is what?'
    (tmp_path / "a.txt").write_text('Well, this is prose.\n"Q" is what?\n', encoding="utf-8")
    assert main(["convert", str(tmp_path / "a.txt")]) == 2
    assert "a.txt: is not a recognised export (found: no keys)" in capsys.readouterr().err


def test_a_csv_file_of_nothing_but_commas_has_no_form(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.csv"
    path.write_text(",,\n,,\n", encoding="utf-8")
    assert main(["convert", str(path)]) == 2
    assert "a.csv: is not a recognised export (found: no keys)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("dataset_name: shop\nquestions:\n- question: Who?\n", "'dataset_name', 'questions'"),
        ("tests: 3\n", "'tests'"),
        ("- prompt: Who?\n", "'prompt'"),
        ("Who?\n", "no keys"),
    ],
)
def test_the_keys_of_a_yaml_file_without_a_form_are_named(
    text: str, keys: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(text, encoding="utf-8")
    assert main(["convert", str(path)]) == 2
    assert f"a.yaml: is not a recognised export (found: {keys})" in capsys.readouterr().err


def test_promptfoo_tests_may_be_a_pattern_of_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.tests.yaml").write_text(f"- vars: {{question: {name}?}}\n", encoding="utf-8")
    found = of_text("config.yaml", "tests: file://*.tests.yaml\n", tmp_path, capsys)
    assert [each["question"] for each in found] == ["a?", "b?"]


def test_the_index_column_of_pandas_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    [question] = of_text("a.csv", ",user_input,reference\n0,Which?,A.\n", tmp_path, capsys)
    assert "metadata" not in question


def test_an_array_as_numpy_writes_it_is_a_list(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cell = r"""['The \'a\' is' ""it's""
 '30 days']"""
    text = f'user_input,reference,reference_contexts\nWhich?,30,"{cell}"\n'
    [question] = of_text("a.csv", text, tmp_path, capsys)
    assert [passage["text"] for passage in question["gold_passages"]] == ["The 'a' is", "it's", "30 days"]


def test_a_nan_of_pandas_is_a_missing_value(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    [question] = of_text("a.json", '[{"user_input": "Which?", "reference": NaN}]', tmp_path, capsys)
    assert question["expected_answer"] is None


@pytest.mark.parametrize(
    "columns",
    [
        {"question": ["Which?", "Who?"], "contexts": [["c"], []], "ground_truth": ["A.", "B."], "answer": ["a", "b"]},
        {"user_input": {"0": "Which?", "4": "Who?"}, "reference": {"0": "A.", "4": "B."}},
    ],
    ids=["lists", "pandas"],
)
def test_columns_in_json_are_rows(columns: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    questions = of_text("a.json", json.dumps(columns), tmp_path, capsys)
    assert [(each["question"], each["expected_answer"]) for each in questions] == [("Which?", "A."), ("Who?", "B.")]


@pytest.mark.parametrize(
    ("columns", "form"),
    [
        ("user_input,reference,input_tokens,output_tokens", "ragas testset and EvaluationDataset"),
        ("question,contexts,ground_truth,input_tokens,output_tokens", "ragas 0.1 testset"),
        ("question,contexts,ground_truth,query", "ragas 0.1 testset"),
        ("question,reference_answer,reference_context,input_cost,output_cost", "giskard QATestset"),
        ("input,expected_output,output,updated_at", "deepeval goldens"),
        ("input,actual_output,query,response", "deepeval goldens"),
    ],
)
def test_columns_of_the_user_do_not_change_the_form(columns: str, form: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f"{columns}\n{','.join('a' for _ in columns.split(','))}\n", encoding="utf-8")
    [export] = read_exports([tmp_path / "a.csv"])
    assert isinstance(export, Export)
    assert export.form_name == form


def test_lists_of_messages_are_no_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = {"input": [{"role": "user", "content": "Which?"}], "ideal": ["A."]}
    [question] = of_text("a.jsonl", json.dumps(row), tmp_path, capsys)
    assert (question["question"], question["expected_answer"]) == ("Which?", "A.")


def test_a_row_without_the_column_of_the_question_is_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.jsonl").write_text('{"user_input": "Q?", "reference": "A"}\n{"reference": "B"}', encoding="utf-8")
    left, [question] = convert(tmp_path, capsys, "a.jsonl")
    assert (question["question"], left) == ("Q?", ["rows without a question: 1"])


@pytest.mark.parametrize("name", ["id", "example_id"])
def test_an_id_may_be_0_and_is_that_of_a_phoenix_csv(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = {name: 0, "inputs": {"question": "Which?"}, "outputs": {"answer": "A."}}
    [question] = of_text("a.jsonl", json.dumps(row), tmp_path, capsys)
    assert (question["id"], question.get("metadata")) == ("0", None)


def test_an_answer_in_parts_of_a_message_is_expected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = {"role": "assistant", "content": [{"type": "text", "text": "A."}]}
    row = {"inputs": {"question": "Which?"}, "outputs": {"messages": [answer]}}
    [question] = of_text("a.jsonl", json.dumps(row), tmp_path, capsys)
    assert question["expected_answer"] == "A."


def test_chat_examples_of_langsmith_have_messages_in_the_form_of_langchain(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = {"system": "Be kind.", "human": "Which?", "ai": "A."}
    system, human, ai = ({"type": kind, "data": {"content": text}} for kind, text in said.items())
    row = {"id": "c-1", "inputs": {"input": [system, human]}, "outputs": {"output": ai}}
    (tmp_path / "a.jsonl").write_text(json.dumps(row), encoding="utf-8")
    left, [question] = convert(tmp_path, capsys, "a.jsonl")
    assert left == [f"{NO_SYSTEM}: 1"]
    assert (question["question"], question["expected_answer"], question.get("metadata")) == ("Which?", "A.", None)


def test_topics_may_have_commas_and_line_separators(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "judged.txt").write_text("1 0 a 1\n2 0 b 1\n", encoding="utf-8")
    (tmp_path / "topics.tsv").write_text("1\tWho, and when?\r\n2\tHow\u2028 long?\n", encoding="utf-8")
    _, topics = convert(tmp_path, capsys, "topics.tsv", "judged.txt")
    assert [topic["question"] for topic in topics] == ["Who, and when?", "How\u2028 long?"]


def test_promptfoo_may_have_a_question_mark_in_a_flow_mapping(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "---\n# Tests\n- vars: {question: Who pays?}\n  assert: [{$ref: '#/assertionTemplates/polite'}]\n"
    (tmp_path / "tests.yaml").write_text(text, encoding="utf-8")
    left, [question] = convert(tmp_path, capsys, "tests.yaml")
    assert (question["question"], left) == ("Who pays?", ["#/assertionTemplates/polite: 1"])


def test_variables_of_promptfoo_may_have_variables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.yaml").write_text(
        """tests:
- vars: {question: "How much does {{product}} cost?", product: ["{{size}} lamp", desk], size: small, price: 30}
  assert: [{type: icontains, value: "{{ price }} euros for the {{product}}"}]
""",
        encoding="utf-8",
    )
    left, questions = convert(tmp_path, capsys, "a.yaml")
    assert left == []
    assert [(each["question"], each["must_mention"]) for each in questions] == [
        ("How much does small lamp cost?", ["/30 euros for the small lamp/i"]),
        ("How much does desk cost?", ["/30 euros for the desk/i"]),
    ]
    assert questions[0]["metadata"]["vars"] == {"product": "small lamp", "size": "small", "price": 30}


def test_a_prompt_of_promptfoo_may_break_the_line_within_a_variable(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = {"prompts": ["Answer {{\n  wish\n}} briefly."], "tests": [{"vars": {"wish": "Who pays?", "tone": "kind"}}]}
    (tmp_path / "a.json").write_text(json.dumps(config), encoding="utf-8")
    left, [question] = convert(tmp_path, capsys, "a.json")
    assert (question["question"], left) == ("Who pays?", [])


@pytest.mark.parametrize(
    ("variables", "asked"),
    [
        ({"question": "{{ who | upper }}?", "who": "we"}, "{{ who | upper }}?"),
        ({"question": "{{ who }}?"}, "{{ who }}?"),
        ({"question": "{{ who }}?", "who": {"name": "we"}}, "{{ who }}?"),
        ({"question": "Do {{ who }}?", "who": "file://who.txt"}, "Do file://who.txt?"),
        ({"question": "{{ who }}?", "who": "{{ you }}", "you": "{{ who }}"}, "{{ you }}?"),
    ],
)
def test_a_template_that_convert_cannot_render_is_listed(
    variables: dict[str, Any], asked: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    test = {"vars": variables, "assert": [{"type": "contains", "value": "{{ question }}"}]}
    (tmp_path / "a.json").write_text(json.dumps([test]), encoding="utf-8")
    left, [question] = convert(tmp_path, capsys, "a.json")
    assert left == ["contains with a template or a file: 1", "templates in questions, which are asked as written: 1"]
    assert question["question"] == asked


def test_variables_of_promptfoo_that_name_themselves_stay_short(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = json.dumps([{"vars": {"question": "{{question}}" * 1000}}])  # squared five times, this fills no memory
    [question] = of_text("a.json", text, tmp_path, capsys)
    assert len(question["question"]) < 10_000_000


def test_plain_values_of_promptfoo_are_those_of_yaml_1_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    values = ["=", "<<", "12:30", "007", "no", "2024-01-01", "1e3", "9" * 5000, "-.5"]
    asserted = "".join(f"  - {{type: contains, value: {value}}}\n" for value in values)
    [question] = of_text("a.yaml", f"tests:\n- vars: {{question: When?}}\n  assert:\n{asserted}", tmp_path, capsys)
    values[values.index("1e3")], values[-1] = "1000", r"-0\.5"
    assert question["must_mention"] == [f"/{value}/" for value in values]


def test_a_cell_of_promptfoo_may_have_a_threshold_without_a_value(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    header = "question,__expected1,__expected2,__expected3,__expected4\n"
    cells = "When?,latency(3000),cost(0.01),context-faithfulness(0.9),30 days\n"
    [question] = of_text("a.csv", header + cells, tmp_path, capsys)
    assert question["thresholds"] == {"latency_seconds": 3.0, "cost_usd": 0.01, "groundedness": 0.9}
    assert (question["expected_answer"], question["must_mention"]) == ("30 days", [r"/\A\s*30 days\s*\Z/"])


def test_a_cell_of_promptfoo_whose_threshold_is_no_number_is_not_carried(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.csv").write_text("question,__expected\nWhen?,latency(1.2.3): soon\n", encoding="utf-8")
    left, [question] = convert(tmp_path, capsys, "a.csv")
    assert (left, question["expected_answer"]) == (["latency: 1"], None)


@pytest.mark.parametrize(
    ("test", "problem"),
    [
        ("assert: &a [{type: assert-set, assert: *a}]", "the file has the alias '*a' inside its own anchor. Write"),
        ("assert: [&a {type: regex, value: *a}]", "the file has the alias '*a' inside its own anchor. Write"),
        ("vars: {text: !env X}", "the file has the YAML tag '!env', which is not read. Delete"),
        ("vars: {text: \x01}", "the file has the control character U+0001. Delete"),
    ],
)
def test_a_mistake_in_yaml_is_named_with_its_line(
    test: str, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.yaml").write_text(f"tests:\n- {test}\n", encoding="utf-8")
    assert main(["convert", str(tmp_path / "a.yaml")]) == 2
    assert capsys.readouterr().err.startswith(f"ragcheck convert: a.yaml: line 2: {problem}")


@pytest.mark.parametrize("name", ["correct_answer", "expected_response"])
def test_the_expected_answer_of_an_eval_has_one_of_the_usual_names(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps({"item": {"question": "How long?", name: "30 days"}}), "utf-8")
    left, [question] = convert(tmp_path, capsys, "a.jsonl")
    assert (left, question["expected_answer"]) == ([], "30 days")


def test_recorded_outputs_of_mlflow_are_no_expected_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = {"inputs": {"question": "Which?"}, "outputs": "A.", "expectations": {"expected_facts": ["B.", "C."]}}
    (tmp_path / "a.json").write_text(json.dumps([row]), encoding="utf-8")
    left, [question] = convert(tmp_path, capsys, "a.json")
    assert (left, question["expected_answer"]) == ([], "B. C.")
    assert question["metadata"] == {"outputs": "A.", "expected_facts": ["B.", "C."]}


OUT_OF_SCOPE = {
    "question": WHO, "reference_answer": "This question can not be answered by the context.",
    "reference_context": RULE, "conversation_history": [], "metadata": {"question_type": "out of scope"},
}  # fmt: skip
NO_ANSWER = "values of expected_answer that the question cannot have (kept in metadata): 1"


def test_a_system_must_decline_to_answer_questions_out_of_scope(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps(OUT_OF_SCOPE), encoding="utf-8")
    left, [question] = convert(tmp_path, capsys, "a.jsonl")
    assert left == [NO_ANSWER]
    assert (question["answerable"], question["expected_answer"]) == (False, None)
    assert (question["distractors"], question.get("gold_passages")) == (GOLD, None)
    assert question["metadata"]["expected_answer"] == [OUT_OF_SCOPE["reference_answer"]]


@pytest.mark.parametrize(
    ("value", "accepted", "left"),
    [
        (["They do.", " We do. ", 3], ["They do.", "We do.", "3"], []),
        ({"text": "They do."}, [], [NO_ANSWER]),
        (False, [], [NO_ANSWER]),
        ([{"text": "They do."}, {"text": "We do."}], [], [NO_ANSWER]),
        ([], [], []),
        (" ", [], []),
    ],
)
def test_an_expected_answer_may_be_a_list_and_no_other_value_is_dropped_silently(
    value: Any, accepted: list[str], left: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.json").write_text(json.dumps([{"query": f" {WHO} ", "ground_truth": value}]), encoding="utf-8")
    found, [question] = convert(tmp_path, capsys, "a.json")
    assert (found, question["question"], question["all_acceptable_answers"]) == (left, WHO, accepted)
    assert question["expected_answer"] == (accepted[0] if accepted else None)
    assert question.get("metadata") == (
        {"expected_answer": value if isinstance(value, list) else [value]} if left else None
    )


def test_the_page_has_a_section_about_every_form() -> None:
    sections = PAGE.read_text(encoding="utf-8").split("\n## ")[1:]
    forms = [section.splitlines() for section in sections if "\nOtherwise: " in section]
    assert [heading for heading, *_ in forms] == [form.name for form in FORMS]
    for _, _, *lines in forms:
        assert [line.partition(":")[0] for line in lines if line] == [
            "Files",
            "Recognised by",
            "Carried over",
            "Otherwise",
        ]


@pytest.mark.parametrize("unit", ["'\\", "\\'", "\"'"])
def test_a_cell_of_quotes_without_end_is_read_in_linear_time(unit: str) -> None:
    cell = "[" + unit * 200_000  # in quadratic time this would take minutes
    assert value_of(cell) == cell


@pytest.mark.parametrize(
    ("value", "patterns"),
    [
        ('"guaranteed, no exceptions", as an AI', ["/guaranteed, no exceptions/", "/as an AI/"]),
        (' Mon ,"Tue" , ,Wed,', ["/Mon/", "/Tue/", "/Wed/"]),
        (r'"say ""a, b""", "c \"d\" \\", 5" tall', ['/say "a, b"/', r'/c "d" \\/', '/5" tall/']),
        ('"open, a', None),
        (' "open, a', None),
        ('"a" b, c', None),
        (" , ", None),
    ],
)
@pytest.mark.parametrize("is_csv", [False, True])
def test_items_in_a_text_of_promptfoo_may_be_quoted(
    value: str, patterns: list[str] | None, is_csv: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if is_csv:
        cell = value.replace('"', '""')
        (tmp_path / "a.csv").write_text(f'question,__expected\n{WHO},"not-contains-any: {cell}"\n', encoding="utf-8")
    else:
        test = {"vars": {"question": WHO}, "assert": [{"type": "not-contains-any", "value": value}]}
        (tmp_path / "a.json").write_text(json.dumps({"tests": [test]}), encoding="utf-8")
    left, [question] = convert(tmp_path, capsys, "a.csv" if is_csv else "a.json")
    assert left == ([] if patterns else ["not-contains-any: 1"])
    assert question.get("must_not_mention") == patterns


def test_references_to_assertions_of_promptfoo_are_resolved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = """
assertionTemplates:
  polite: {type: not-icontains, value: '{{word}}'}
  set: {type: assert-set, assert: [{$ref: '#/assertionTemplates/polite'}, {$ref: '#/assertionTemplates/set'}]}
defaultTest:
  assert: [{$ref: '#/assertionTemplates/set'}, {$ref: '#/assertionTemplates/polite', value: no}]
tests:
  - vars: {question: Who pays?, word: rude}
    assert: [{$ref: '#/assertionTemplates/other'}, {$ref: 'other.yaml'}, {value: 3}]
"""
    (tmp_path / "a.yaml").write_text(text, encoding="utf-8")
    left, [question] = convert(tmp_path, capsys, "a.yaml")
    assert question["must_not_mention"] == ["/rude/i", "/no/i"]
    assert left == [
        "#/assertionTemplates/other: 1",
        # A set in itself is read some levels deep.
        "#/assertionTemplates/polite: 1",
        "#/assertionTemplates/set: 1",
        "assertions of another form: 1",
        "other.yaml: 1",
    ]


def test_a_test_of_promptfoo_may_be_without_the_default_assertions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    default = {"assert": [{"type": "not-icontains", "value": "as an AI"}], "options": {"transform": "output"}}
    own = [{"type": "icontains", "value": "as an AI"}]
    options = {"disableDefaultAsserts": True, "prefix": "A"}
    tests = [{"vars": {"question": WHO}}, {"vars": {"question": "Are you?"}, "options": options, "assert": own}]
    (tmp_path / "a.json").write_text(json.dumps({"defaultTest": default, "tests": tests}), encoding="utf-8")
    left, [first, second] = convert(tmp_path, capsys, "a.json")
    assert left == ["options.prefix of a test: 1", "options.transform of a test: 2"]
    assert first["must_not_mention"] == second["must_mention"] == ["/as an AI/i"]
    assert "must_not_mention" not in second


def test_whole_numbers_of_promptfoo_are_written_as_in_javascript(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asserted = (
        "[{type: contains, value: 30.0}, {type: contains, value: '{{limit}} EUR'}, {type: contains, value: 4.90}]"
    )
    text = f"tests:\n- vars: {{question: 'Over {{{{limit}}}}?', limit: 5000.00}}\n  assert: {asserted}\n"
    [question] = of_text("a.yaml", text, tmp_path, capsys)
    assert question["question"] == "Over 5000?"
    assert question["must_mention"] == ["/30/", "/5000 EUR/", r"/4\.9/"]


def test_splits_of_beir_are_tags_and_repeated_ids_are_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"_id": name, "text": text} for name, text in (("q1", WHO), ("q2", "How long?"), ("q1", "Again?"))]
    documents = [{"_id": "terms", "text": text} for text in (RULE, "Lamps")]
    write_beir(
        tmp_path / "beir",
        queries_jsonl="".join(json.dumps(row) + "\n" for row in rows),
        corpus_jsonl="".join(json.dumps(row) + "\n" for row in documents),
    )
    (tmp_path / "beir" / "qrels" / "test.tsv").write_text("q1\tterms\t1\n", encoding="utf-8")
    (tmp_path / "beir" / "qrels" / "dev-1.tsv").write_text("q1\tterms\t1\nq2\tterms\t1\n", encoding="utf-8")
    (tmp_path / "beir" / "qrels" / "dev.tsv").unlink()
    left, [first, second] = convert(tmp_path, capsys, "beir")
    assert left == [
        "a split as a file of its own; pytest -m split_dev_1 selects it: 2",
        "a split as a file of its own; pytest -m split_test selects it: 1",
        "repeated ids of documents (the first is read): 1",
        "repeated ids of queries (the first is read): 1",
    ]
    assert (first["question"], first["gold_passages"][0]["text"]) == (WHO, RULE)
    assert (first["tags"], second["tags"]) == (["split_dev_1", "split_test"], ["split_dev_1"])
