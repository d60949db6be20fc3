"""Small exports in the forms of other tools, written for these tests as the tools' own writers write them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

WHO, CUSTOMER, RULE = "Who pays for a return?", "The customer pays.", "The customer pays for returns."
TALK = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "How long may I return it?"},
    {"role": "assistant", "content": "30 days."},
    {"role": "user", "content": "And who pays?"},
]


def _lines(*rows: Any) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def _bedrock(text: str) -> dict[str, Any]:
    return {"content": [{"text": text}]}


_GOLDEN = {
    "input": WHO, "actual_output": "We do.", "expected_output": CUSTOMER, "retrieval_context": ["Lamps"],
    "context": [RULE, "Returns take 30 days."], "name": None, "comments": "often asked", "source_file": None,
    "tools_called": None, "expected_tools": [{"name": "lookup", "type": "FUNCTION"}], "token_cost": None,
    "input_token_count": None, "output_token_count": None, "additional_metadata": {"level": "easy"},
    "custom_column_key_values": None, "expectations": None,
}  # fmt: skip
_SCENARIO = {
    "scenario": "A customer returns a lamp", "turns": TALK[1:], "expected_outcome": "knows the cost",
    "user_description": None, "persona": None, "context": [RULE], "name": None, "comments": None,
    "additional_metadata": None, "custom_column_key_values": None, "expectations": None,
}  # fmt: skip
_PROMPTFOO = r"""
description: Returns, and who pays
prompts: ['Answer from {{context}}: {{question}}']
providers: [openai:gpt-4o]
defaultTest:
  assert:
    - {type: latency, threshold: 2500}
    - {type: not-icontains, value: as an AI}
tests:
  - description: the cost
    vars: {question: "Who pays for a return?", context: file://terms.txt, who: customer}
    metadata: {level: easy}
    assert:
      - {type: icontains, value: 'the {{who}}'}
      - {type: contains-any, value: [pays, bears]}
      - {type: regex, value: '\bcustomer\b'}
      - {type: context-recall, value: The customer pays., threshold: 0.8}
      - {type: context-faithfulness, threshold: 0.9}
      - {type: llm-rubric, value: is polite}
      - type: javascript
        value: output.length < 100
  - vars: {question: ["How long?", "Until when?"]}
    assert:
      - {type: equals, value: no}
  - vars: {question: "Who is the mayor?"}
    assert: [{type: is-refusal}, {type: llm-rubric, value: is kind}]
"""

SAMPLES: Mapping[str, tuple[str, str]] = {
    "ragas testset, JSON Lines": (
        "a.jsonl",
        _lines(
            {"user_input": WHO, "reference_contexts": [RULE], "reference": CUSTOMER, "synthesizer_name": "single_hop"}
        ),
    ),
    "ragas testset, CSV": (
        "a.csv",
        ("user_input,reference_contexts,reference,synthesizer_name\n"
        f"{WHO},\"['{RULE}', 'It\\'s free.']\",{CUSTOMER},single_hop\n"),
    ),
    "ragas EvaluationDataset, JSON Lines": (
        "a.jsonl",
        _lines(
            {
                "user_input": WHO, "retrieved_contexts": ["Lamps"], "reference_contexts": [RULE],
                "response": "We do.", "reference": CUSTOMER,
            }
        ),
    ),
    "ragas EvaluationDataset with turns, CSV": (
        "a.csv",
        ("user_input,reference\n"
        "\"[{'content': 'How long may I return it?', 'type': 'human'}, {'content': '30 days.', 'type': 'ai'}, "
        "{'content': 'And who pays?', 'type': 'human'}]\",The customer pays.\n"),
    ),
    "ragas 0.1 testset, CSV": (
        "a.csv",
        ("question,contexts,ground_truth,evolution_type,metadata,episode_done\n"
        f"{WHO},['{RULE}'],{CUSTOMER},simple,[{{'source': 'terms.md'}}],True\n"),
    ),
    "ragas 0.1 dataset, JSON Lines": (
        "a.jsonl",
        _lines({"question": WHO, "answer": "We do.", "contexts": ["Lamps"], "ground_truths": [CUSTOMER, "They do."]}),
    ),
    "deepeval, JSON": ("a.json", json.dumps([_GOLDEN], indent=4)),
    "deepeval, JSON Lines": (
        "a.jsonl",
        _lines(_GOLDEN | {"context": f"{RULE}|Returns take 30 days.", "retrieval_context": "Lamps"}),
    ),
    "deepeval, CSV": (
        "a.csv",
        ("input,actual_output,expected_output,retrieval_context,context,name,comments,source_file,tools_called,"
        "expected_tools,token_cost,input_token_count,output_token_count,additional_metadata,"
        "custom_column_key_values,expectations\n"
        f'{WHO},We do.,{CUSTOMER},Lamps,{RULE}|Returns take 30 days.,,often asked,,,"[{{""name"": ""lookup"", ""type"":'
        ' ""FUNCTION""}]",,,,"{""level"": ""easy""}",,\n'),
    ),
    "deepeval conversations, JSON": (
        "a.json",
        json.dumps([_SCENARIO, _SCENARIO | {"turns": None, "scenario": "A customer complains"}]),
    ),
    "promptfoo, YAML": ("promptfooconfig.yaml", _PROMPTFOO),
    "promptfoo, CSV": (
        "a.csv",
        ("question,__expected,__expected2,__expected3,__description,__metadata:level\n"
        f'{WHO},icontains: customer,"contains-any: pays,bears",llm-rubric: is polite,the cost,easy\n'
        "How long?,30 days,similar(0.8): Thirty days,,,\n"),
    ),
    "giskard, JSON Lines": (
        "a.jsonl",
        _lines(
            {
                "id": "3f2a", "question": "And who pays?", "reference_answer": CUSTOMER,
                "reference_context": f"Document 4: {RULE}", "conversation_history": TALK[1:3],
                "metadata": {"question_type": "conversational", "seed_document_id": 4},
            }
        ),
    ),
    "LlamaIndex LabelledRagDataset": (
        "a.json",
        json.dumps(
            {
                "examples": [
                    {
                        "query": WHO, "query_by": {"model_name": "", "type": "human"}, "reference_contexts": [RULE],
                        "reference_answer": CUSTOMER, "reference_answer_by": {"model_name": "m", "type": "ai"},
                    }
                ]
            }
        ),
    ),
    "LlamaIndex EmbeddingQAFinetuneDataset": (
        "a.json",
        json.dumps(
            {
                "queries": {"q1": WHO}, "corpus": {"d1": RULE, "d2": "Lamps"}, "relevant_docs": {"q1": ["d1"]},
                "mode": "text",
            }
        ),
    ),
    "LangSmith, JSON Lines": (
        "a.jsonl",
        _lines(
            {
                "id": "e-1", "inputs": {"question": WHO, "tone": "polite"},
                "outputs": {"answer": CUSTOMER, "contexts": [RULE]}, "metadata": {"level": "easy"},
            },
            {
                "id": "e-2", "inputs": {"messages": TALK},
                "outputs": {"messages": [{"role": "assistant", "content": "You."}]},
            },
            {"id": "e-3", "inputs": {"left": "a", "right": "b"}, "outputs": {}},
        ),
    ),
    "LangSmith, CSV": (
        "a.csv",
        f'id,inputs,outputs\ne-1,"{{""question"": ""{WHO}""}}","{{""answer"": ""{CUSTOMER}""}}"\n',
    ),
    "LangSmith columns, CSV": ("a.csv", f"id,input_question,output_answer\ne-1,{WHO},{CUSTOMER}\n"),
    "Langfuse, JSON": (
        "a.json",
        json.dumps(
            [
                {
                    "id": "i-1", "datasetId": "d", "status": "ACTIVE", "input": {"question": WHO},
                    "expectedOutput": {"answer": CUSTOMER}, "metadata": {"level": "easy"}, "sourceTraceId": None,
                },
                {"id": "i-2", "status": "ARCHIVED", "input": {"question": "Old?"}, "expectedOutput": None},
            ]
        ),
    ),
    "Langfuse, CSV": (
        "a.csv",
        ("id,input,expectedOutput,metadata,sourceTraceId\n"
        f'i-1,"""{WHO}""","{{""answer"": ""{CUSTOMER}""}}","{{""level"": ""easy""}}",\n'),
    ),
    "OpenAI evals, JSON Lines": (
        "a.jsonl",
        _lines(
            {"input": [TALK[0], {"role": "user", "content": WHO}], "ideal": [CUSTOMER, "They do."]},
            {"input": TALK, "ideal": "You."},
            {"item": {"question": "How long?", "ground_truth": "30 days"}},
        ),
    ),
    # mlflow.genai.datasets, and the flat rows of Databricks' Agent Evaluation
    "MLflow, JSON Lines": (
        "a.jsonl",
        _lines(
            {
                "inputs": {"question": WHO}, "outputs": {"response": "We do."},
                "expectations": {
                    "expected_response": CUSTOMER, "guidelines": ["Be kind."],
                    "expected_retrieved_context": [{"doc_uri": "terms.md", "content": RULE}, {"doc_uri": "fees.md"}],
                },
                "tags": {"level": "easy"},
            },
            {"inputs": {"messages": TALK}, "expectations": {"expected_facts": ["You pay.", "It is 5 EUR."]}},
        ),
    ),
    "MLflow columns, CSV": (
        "a.csv",
        ("inputs.question,expectations.expected_response,retrieved_context\n"
        f'{WHO},{CUSTOMER},"[{{""doc_uri"": ""lamps.md""}}]"\n'),
    ),
    "Databricks, JSON Lines": (
        "a.jsonl",
        _lines(
            {
                "request_id": "r-1", "request": {"messages": [{"role": "user", "content": WHO}]}, "response": "We do.",
                "retrieved_context": [{"doc_uri": "lamps.md"}], "expected_response": CUSTOMER,
            }
        ),
    ),
    # The columns of azure.ai.evaluation.evaluate()
    "Azure AI evaluation, JSON Lines": (
        "a.jsonl", _lines({"query": WHO, "context": "Lamps", "response": "We do.", "ground_truth": CUSTOMER})
    ),
    # The prompt dataset of a RAG evaluation job
    "Bedrock, JSON Lines": (
        "a.jsonl",
        _lines(
            {
                "conversationTurns": [
                    {"prompt": _bedrock(WHO), "referenceResponses": [_bedrock(CUSTOMER)]},
                ]
            }
        ),
    ),
    "Bedrock with turns, JSON Lines": (
        "a.jsonl",
        _lines(
            {
                "conversationTurns": [
                    {"prompt": _bedrock("How long may I return it?"), "referenceResponses": [_bedrock("30 days.")]},
                    {"prompt": _bedrock("And who pays?"), "referenceResponses": [_bedrock(CUSTOMER)]},
                ]
            }
        ),
    ),
    # The columns of vertexai.evaluation.EvalTask
    "Vertex AI, JSON Lines": ("a.jsonl", _lines({"prompt": WHO, "reference": CUSTOMER, "response": "We do."})),
    # phoenix.session.evaluation.get_qa_with_reference, Client().get_spans_dataframe, GET /v1/datasets/ID/examples
    "Phoenix evals, CSV": ("a.csv", f"context.span_id,input,output,reference\nx1,{WHO},We do.,Lamps\n"),
    "Phoenix spans, CSV": (
        "a.csv",
        ("context.span_id,parent_id,attributes.input.value,attributes.output.value\n"
        f'x1,,"{{""question"": ""{WHO}""}}",We do.\nx2,x1,{WHO},Lamps\n'),
    ),
    "Phoenix examples, JSON": (
        "a.json",
        json.dumps(
            {
                "data": {
                    "dataset_id": "d", "version_id": "v",
                    "examples": [
                        {
                            "id": "e-1", "input": {"question": WHO}, "output": {"answer": CUSTOMER},
                            "metadata": {"level": "easy"}, "updated_at": "2026-01-01T00:00:00Z",
                        }
                    ],
                }
            }
        ),
    ),
    # GET /v1/datasets/ID/csv and /jsonl and /jsonl/openai_evals
    "Phoenix dataset, CSV": (
        "a.csv", f"id,node_id,input.question,output.answer,metadata.level\ne-1,n,{WHO},{CUSTOMER},easy\n"
    ),
    "Phoenix dataset, JSON Lines": (
        "a.jsonl",
        _lines(
            {
                "id": "e-1", "node_id": "n", "input": {"question": WHO}, "output": {"answer": CUSTOMER},
                "metadata": {"level": "easy"}, "splits": [],
            }
        ),
    ),
    "Phoenix openai_evals, JSON Lines": (
        "a.jsonl", _lines({"messages": [{"role": "user", "content": WHO}], "ideal": CUSTOMER})
    ),
    # The response of Confident AI to EvaluationDataset.pull, whose goldens have the aliases of deepeval
    "Confident AI, JSON": (
        "a.json",
        json.dumps(
            {
                "id": "d",
                "goldens": [
                    {
                        "input": WHO, "actualOutput": "We do.", "expectedOutput": CUSTOMER,
                        "retrievalContext": ["Lamps"], "context": [RULE], "additionalMetadata": {"level": "easy"},
                        "expectedTools": [{"name": "lookup"}],
                    }
                ],
                "conversationalGoldens": [{"scenario": "A customer returns a lamp", "turns": TALK[1:]}],
            }
        ),
    ),
    # GET /v1/dataset/ID/fetch, and the query of its docs: SELECT input, expected
    "Braintrust, JSON": (
        "a.json",
        json.dumps(
            {
                "events": [
                    {
                        "id": "e-1", "_xact_id": "1", "dataset_id": "d", "input": {"question": WHO},
                        "expected": CUSTOMER, "metadata": {"level": "easy"}, "tags": None,
                    }
                ],
                "cursor": None,
            }
        ),
    ),
    "Braintrust query, JSON Lines": ("a.jsonl", _lines({"input": {"question": WHO}, "expected": {"answer": CUSTOMER}})),
    "TREC lines": ("topics.tsv", "301\tWho pays for a return?\n302\tHow long may I return it?\n"),
}  # fmt: skip
"""By name the file's name and its text."""

TREC_TOPICS = """<top>
<num> Number: 301
<title> cost of a return
<desc> Description:
Who pays for a return?
<narr> Narrative:
Relevant are the terms.
</top>
<top>
<num> Number: 302
<title> lamps
</top>
"""
QRELS = "301 0 terms 2\n301 0 lamps 0\n302 0 lamps 0\n"

BEIR = {
    "corpus.jsonl": _lines(
        {"_id": "terms", "title": "Terms", "text": RULE, "metadata": {}}, {"_id": "lamps", "title": "", "text": "Lamps"}
    ),
    "queries.jsonl": _lines({"_id": "q1", "text": WHO, "metadata": {}}, {"_id": "q2", "text": "How long?"}),
    "qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\tterms\t2\nq1\tlamps\t0\n",
    "qrels/dev.tsv": "query-id\tcorpus-id\tscore\nq1\tterms\t1\n",
}
"""A folder, by the names of its files."""
