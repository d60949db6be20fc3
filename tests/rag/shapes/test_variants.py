"""The setting that an error names takes the reply that the error is about."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ragcheck.errors import EndpointReplyError
from pytest_ragcheck.rag.client import RagClient
from pytest_ragcheck.rag.shapes.reading import Reading
from pytest_ragcheck.rag.shapes.variants import fitting_response
from tests.servers.fake_endpoint import FakeEndpoint, json_reply

ANSWER, TEXTS = "30 days", ["Refunds take 30 days.", "Exchanges take 14."]


RETURN, BOTH = 'Return {"answer": "...", "contexts": ["...", ...]}.', "answer and contexts are"


def message(**more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": {"role": "assistant", "content": ANSWER, **more}}]}


def each(key: str) -> list[dict[str, Any]]:
    return [{"id": str(number), key: text} for number, text in enumerate(TEXTS)]


PART = {"start": 0, "end": 7, "text": ANSWER}

QUOTES = {
    "moduleType": "datasetSearchNode",
    "quoteList": [{"q": each, "a": "", "sourceName": "a.md"} for each in TEXTS],
}

VARIANTS: dict[str, Any] = {
    "answer=Answer contexts=Contexts": {"Answer": ANSWER, "Contexts": TEXTS},
    "answer=finalAnswer contexts=retrievedContexts": {"finalAnswer": ANSWER, "retrievedContexts": TEXTS},
    'answer="final-answer" contexts="source documents"': {"final-answer": ANSWER, "source documents": TEXTS},
    "answer=answer contexts=contexts[].text source_ids=contexts[].id": {"answer": ANSWER, "contexts": each("text")},
    "answer=answer contexts=contexts[?text].text source_ids=contexts[?text].id": {
        "answer": ANSWER,
        "contexts": [{"id": "null", "text": None}, *each("text"), {"id": "empty", "text": ""}],
    },
    "answer=answer contexts=contexts[].content source_ids=contexts[].id": {
        "answer": ANSWER,
        "contexts": each("content"),
    },
    "answer=answer contexts=contexts[].page_content source_ids=contexts[].id": {
        "answer": ANSWER,
        "contexts": each("page_content"),
    },
    "answer=result contexts=sources[].pageContent source_ids=sources[].id": {
        "result": ANSWER,
        "sources": each("pageContent"),
    },
    "answer=answer contexts=chunks": {"answer": ANSWER, "chunks": TEXTS},
    "answer=replies[0] contexts=documents[].content source_ids=documents[].id": {
        "replies": [ANSWER],
        "documents": each("content"),
    },
    "answer=answer.text contexts=contexts": {"answer": {"text": ANSWER}, "contexts": TEXTS},
    "answer=answer contexts=[context]": {"answer": ANSWER, "context": TEXTS[0]},
    "answer=answer contexts=contexts[]": {"answer": ANSWER, "contexts": [[text] for text in TEXTS]},
    "answer=[0].answer contexts=[0].contexts": [{"answer": ANSWER, "contexts": TEXTS}],
    "answer=result.answer contexts=result.documents[].content source_ids=result.documents[].id": {
        "result": {"answer": ANSWER, "documents": each("content")}
    },
    "answer=output.answer contexts=output.context[].page_content source_ids=output.context[].id": {
        "output": {"answer": ANSWER, "context": each("page_content")},
        "metadata": {"run_id": "1"},
    },
    "answer=data.answer contexts=metadata.sources[].text source_ids=metadata.sources[].id": {
        "data": {"answer": ANSWER},
        "metadata": {"sources": each("text")},
    },
    "answer=response contexts=references[].content[]": {
        "response": ANSWER,
        "references": [{"content": [text]} for text in TEXTS],
    },
    "answer=response contexts=source_nodes[].node.text source_ids=source_nodes[].node.id": {
        "response": ANSWER,
        "source_nodes": [{"node": node, "score": 1} for node in each("text")],
    },
    "answer=output.text contexts=citations[].retrievedReferences[].content.text": {
        "output": {"text": ANSWER},
        "citations": [{"retrievedReferences": [{"content": {"text": text}}]} for text in TEXTS],
    },
    "answer=choices[0].message.content contexts=choices[0].message.context.citations[].content "
    "source_ids=choices[0].message.context.citations[].id": message(context={"citations": each("content")}),
    "answer=choices[0].message.content contexts=sources[].text source_ids=sources[].id": {
        **message(),
        "sources": each("text"),
    },
    "answer=answer contexts=context[].page_content source_ids=context[].metadata.source": {
        "answer": ANSWER,
        "context": [{"id": None, "page_content": text, "metadata": {"source": "a.md", "page": 1}} for text in TEXTS],
    },
    "answer=answer contexts=documents source_ids=ids[].to_string(@)": {
        "answer": ANSWER,
        "documents": list(TEXTS),
        "ids": list(range(len(TEXTS))),
    },
    "answer=answer contexts=sources[].text source_ids=sources[].to_string(document_id)": {
        "answer": ANSWER,
        "sources": [{"document_id": 7, "id": "c1", "text": text} for text in TEXTS],
    },
    "answer=answers[0] contexts=contexts source_ids=document_ids": {
        "answers": [ANSWER],
        "contexts": TEXTS,
        "document_ids": ["a", "b"],
    },
    "answer=response contexts=contexts source_ids=sources[].file_name": {
        "response": ANSWER,
        "contexts": TEXTS,
        "sources": [{"file_name": "a.md"}, {"file_name": "b.md"}],
    },
    "answer=response contexts=chunks[].text": {
        "response": ANSWER,
        "chunks": [{"text": TEXTS[0], "id": "1"}, {"text": TEXTS[1], "id": None}],
    },
    # Dify in the mode "blocking"
    (
        "answer=answer contexts=metadata.retriever_resources[].content "
        "source_ids=metadata.retriever_resources[].document_id"
    ): {
        "event": "message",
        "answer": ANSWER,
        "metadata": {
            "usage": {"total_tokens": 3},
            "retriever_resources": [
                {"position": at, "document_id": f"d{at}", "document_name": "terms.md", "content": text}
                for at, text in enumerate(TEXTS)
            ],
        },
    },
    # Bedrock
    "answer=output.text contexts=citations[].retrievedReferences[].content.text "
    "source_ids=citations[].retrievedReferences[].location.s3Location.uri": {
        "output": {"text": ANSWER},
        "citations": [
            {"retrievedReferences": [{"content": {"text": text}, "location": {"s3Location": {"uri": "s3://a"}}}]}
            for text in TEXTS
        ],
    },
    # LightRAG, whose references have several texts each
    "answer=response contexts=references[].join(' ', content) source_ids=references[].file_path": {
        "response": ANSWER,
        "references": [{"file_path": text[:3], "content": text.split(" ")} for text in TEXTS],
    },
    # hayhooks
    "answer=result.llm.replies[0] contexts=result.retriever.documents[].content "
    "source_ids=result.retriever.documents[].meta.file_path": {
        "result": {
            "llm": {"replies": [ANSWER]},
            "retriever": {"documents": [{"content": text, "meta": {"file_path": "a"}} for text in TEXTS]},
        }
    },
    "answer=answers[0].data contexts=answers[0].documents[].content source_ids=answers[0].documents[].id": {
        "answers": [{"data": ANSWER, "documents": each("content")}]
    },
    # LangGraph
    "answer=messages[-1].content contexts=docs[].page_content source_ids=docs[].id": {
        "messages": [{"type": "human", "content": "?"}, {"type": "ai", "content": ANSWER}],
        "docs": each("page_content"),
    },
    # Vertex AI Search
    (
        "answer=answer.answerText contexts=answer.references[].chunkInfo.content "
        "source_ids=answer.references[].chunkInfo.documentMetadata.document"
    ): {
        "answer": {
            "answerText": ANSWER,
            "citations": [],
            "references": [
                {"chunkInfo": {"content": text, "documentMetadata": {"document": "d/1", "uri": "gs://terms"}}}
                for text in TEXTS
            ],
        },
        "session": {},
    },
    # Perplexity
    "answer=choices[0].message.content contexts=search_results[].snippet source_ids=search_results[].url": message()
    | {
        "citations": ["https://a.example/1", "https://a.example/2"],
        "search_results": [{"url": "https://a.example/1", "snippet": text} for text in TEXTS],
    },
    # Gemini
    "answer=candidates[0].content.parts[0].text "
    "contexts=candidates[0].groundingMetadata.groundingChunks[].retrievedContext.text "
    "source_ids=candidates[0].groundingMetadata.groundingChunks[].retrievedContext.uri": {
        "candidates": [
            {
                "content": {"parts": [{"text": ANSWER}]},
                "groundingMetadata": {
                    "groundingChunks": [{"retrievedContext": {"text": text, "uri": "gs://a"}} for text in TEXTS]
                },
            }
        ]
    },
    # Qdrant's points and Pinecone's matches, as a service of one's own may return them
    "answer=answer contexts=retrieved_docs[].payload.text source_ids=retrieved_docs[].payload.source": {
        "answer": ANSWER,
        "retrieved_docs": [{"id": 1, "payload": {"text": text, "source": "terms.md"}} for text in TEXTS],
    },
    "answer=answer contexts=matches[].text source_ids=matches[].id": {"answer": ANSWER, "matches": each("text")},
    # Vectara, Onyx and PrivateGPT
    "answer=summary contexts=search_results[].text source_ids=search_results[].id": {
        "summary": ANSWER,
        "search_results": each("text"),
    },
    "answer=answer contexts=top_documents[].blurb source_ids=top_documents[].id": {
        "answer": ANSWER,
        "top_documents": each("blurb"),
    },
    "answer=choices[0].message.content contexts=choices[0].sources[].text "
    "source_ids=choices[0].sources[].document.doc_metadata.file_name": {
        "choices": [
            {
                "message": {"content": ANSWER},
                "sources": [
                    {"text": text, "document": {"object": "document", "doc_metadata": {"file_name": "a.md"}}}
                    for text in TEXTS
                ],
            }
        ]
    },
    # Chroma
    "answer=answer contexts=found.documents[] source_ids=found.ids[]": {
        "answer": ANSWER,
        "found": {"documents": [TEXTS], "ids": [["a", "b"]]},
    },
    "answer=answer contexts=context source_ids=metadata.sources": {
        "answer": ANSWER,
        "context": TEXTS,
        "metadata": {"sources": ["a", "b"]},
    },
    "answer=results.generated_answer contexts=results.search_results.chunk_search_results[].text "
    "source_ids=results.search_results.chunk_search_results[].id": {
        "results": {
            "generated_answer": ANSWER,
            "citations": [],
            "search_results": {"chunk_search_results": each("text")},
        }
    },
    "answer=answer contexts=values(contexts)[] source_ids=keys(contexts)": {
        "answer": ANSWER,
        "contexts": dict(zip("ab", TEXTS, strict=True)),
    },
    "answer=answer contexts=values(contexts)[].text source_ids=values(contexts)[].id": {
        "answer": ANSWER,
        "contexts": dict(zip("ab", each("text"), strict=True)),
    },
    # Structured output, and a proxy of AWS Lambda
    "answer=from_json(choices[0].message.content).answer contexts=from_json(choices[0].message.content).sources[].text "
    "source_ids=from_json(choices[0].message.content).sources[].id": {
        "choices": [{"message": {"content": json.dumps({"answer": ANSWER, "sources": each("text")})}}]
    },
    "answer=from_json(body).answer contexts=from_json(body).contexts": {
        "statusCode": 200,
        "body": json.dumps({"answer": ANSWER, "contexts": TEXTS}),
    },
    "answer=join('', [].text) contexts=[?docs].docs[].text source_ids=[?docs].docs[].id": [
        {"docs": each("text")},
        *({"text": piece} for piece in ("30", " days")),
    ],
    "answer=join('', [?type=='token'].text) contexts=[?contexts].contexts[]": [
        {"type": "status", "text": "Searching"},
        {"type": "token", "text": "30 "},
        {"type": "token", "text": "days"},
        {"type": "end", "text": ANSWER, "contexts": TEXTS},
    ],
    # OpenAI's Responses API
    "answer=join('', output[?type=='message'].content[0].text) contexts=output[?results].results[].text "
    "source_ids=output[?results].results[].filename": {
        "object": "response",
        "output": [
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Look."}]},
            {
                "type": "file_search_call",
                "status": "completed",
                "results": [{"file_id": "f", "filename": "a.md", "text": text, "score": 0.9} for text in TEXTS],
            },
            {"type": "message", "content": [{"type": "output_text", "text": ANSWER, "annotations": []}]},
        ],
    },
    # create-llama, over AI SDK 4
    (
        """answer=join('', []."0") contexts=[?"8"[0].data.nodes]."8"[0].data.nodes[].text """
        """source_ids=[?"8"[0].data.nodes]."8"[0].data.nodes[].id"""
    ): [
        {"8": [{"type": "sources", "data": {"nodes": each("text")}}]},
        {"0": "30 "},
        {"0": "days"},
    ],
    "answer=data.answer contexts=data.contexts": {
        "code": 200,
        "message": "success",
        "data": {"answer": ANSWER, "contexts": TEXTS},
    },
    "answer=result.content contexts=result.chunks": {
        "success": True,
        "message": "Query processed successfully.",
        "result": {"content": ANSWER, "chunks": TEXTS},
    },
    "answer=data.reply contexts=data.docs": {"message": "操作成功", "data": {"reply": ANSWER, "docs": TEXTS}},
    # Microsoft's demo of Azure AI Search, and Onyx
    "answer=message.content contexts=context.data_points.text[]": {
        "message": {"role": "assistant", "content": ANSWER},
        "context": {"data_points": {"text": TEXTS, "citations": ["a.pdf#page=1", "b.pdf#page=2"]}, "thoughts": []},
    },
    "answer=answer contexts=top_documents[].content source_ids=top_documents[].document_id": {
        "answer": ANSWER,
        "top_documents": [{"document_id": str(number), "content": text} for number, text in enumerate(TEXTS)],
        "citations": {"1": "0", "2": "1"},
    },
    # Anthropic's Messages with citations
    "answer=join('', content[?type=='text'].text) contexts=content[?citations].citations[].cited_text "
    "source_ids=content[?citations].citations[].document_title": {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "30", "citations": None},
            *(
                {"type": "text", "text": piece, "citations": [{"cited_text": text, "document_title": "a.md"}]}
                for piece, text in zip((" ", "days"), TEXTS, strict=True)
            ),
        ],
    },
    # a tool of an MCP server
    "answer=from_json(result.content[0].text).answer contexts=from_json(result.content[0].text).chunks": {
        "id": 1,
        "result": {"content": [{"type": "text", "text": json.dumps({"answer": ANSWER, "chunks": TEXTS})}]},
    },
    # FastGPT with `detail: true` (doc.fastgpt.io, chat completions): the node of the chat repeats the quotes
    'answer=choices[0].message.content contexts=responseData[?quoteList]|[:1].quoteList[].join(`"\\n"`,[q,a][?@]) '
    "source_ids=responseData[?quoteList]|[:1].quoteList[].sourceName": {
        "choices": [{"message": {"role": "assistant", "content": ANSWER}, "finish_reason": "stop", "index": 0}],
        "responseData": [{"moduleType": "workflowStart"}, QUOTES, {**QUOTES, "moduleType": "chatNode"}],
    },
    # Quivr's ChatQuestion reply (quivr_api, GetChatHistoryOutput)
    "answer=assistant contexts=metadata.sources[].citation source_ids=metadata.sources[].name": {
        "user_message": "?",
        "assistant": ANSWER,
        "brain_name": "terms",
        "metadata": {"sources": [{"name": "a.md", "type": "file", "citation": text} for text in TEXTS]},
    },
    # a pipeline of Haystack 2 with an AnswerBuilder
    "answer=result.answer_builder.answers[0].data contexts=result.answer_builder.answers[0].documents[].content "
    "source_ids=result.answer_builder.answers[0].documents[].meta.file_path": {
        "result": {
            "answer_builder": {
                "answers": [
                    {
                        "data": ANSWER,
                        "query": "?",
                        "documents": [{"content": text, "meta": {"file_path": "a.md"}} for text in TEXTS],
                    }
                ]
            }
        }
    },
    # IBM watsonx Assistant
    "answer=output.generic[0].text contexts=output.generic[0].citations[].text "
    "source_ids=output.generic[0].citations[].url": {
        "output": {"generic": [{"text": ANSWER, "citations": [{"text": text, "url": "a.md"} for text in TEXTS]}]}
    },
    # Kernel Memory, and Pinecone Assistant with highlights
    "answer=text contexts=relevantSources[].partitions[].text": {
        "text": ANSWER,
        "relevantSources": [{"sourceName": "a.md", "partitions": [{"text": text} for text in TEXTS]}],
    },
    "answer=message.content contexts=citations[].references[].highlight.content": {
        "message": {"role": "assistant", "content": ANSWER},
        "citations": [{"position": 4, "references": [{"highlight": {"content": text}} for text in TEXTS]}],
    },
    # A name is preferred to an id that says nothing: to RAGFlow's and R2R's, but not to `d1`.
    "answer=data.answer contexts=data.reference.chunks[].content source_ids=data.reference.chunks[].document_name": {
        "code": 0,
        "data": {
            "answer": ANSWER,
            "reference": {
                "chunks": [
                    {
                        "id": "c",
                        "content": text,
                        "document_id": "78b6be06b4f38bd313dba01e9ff330bc",
                        "document_name": "a.md",
                    }
                    for text in TEXTS
                ]
            },
        },
    },
    "answer=completion contexts=documents[].content source_ids=documents[].title": {
        "completion": ANSWER,
        "documents": [{"content": text, "file_id": 40000, "source": "web", "title": "Terms of 2024"} for text in TEXTS],
    },
    "answer=antwort contexts=quellen[].textauszug source_ids=quellen[].dokument": {
        "antwort": ANSWER,
        "quellen": [{"dokument": "a.md", "textauszug": text} for text in TEXTS],
    },
    # Agentic retrieval of Azure AI Search (REST, Knowledge Retrieval - Retrieve)
    "answer=response[0].content[0].text contexts=references[].sourceData.page_chunk source_ids=references[].docKey": {
        "response": [{"role": "assistant", "content": [{"type": "text", "text": ANSWER}]}],
        "activity": [{"type": "semanticReranker", "id": 0}],
        "references": [
            {"type": "AzureSearchDoc", "id": str(number), "docKey": "a", "sourceData": {"page_chunk": text}}
            for number, text in enumerate(TEXTS)
        ],
    },
    # LangChain's similarity_search_with_score as JSON
    "answer=answer contexts=results[*][0].page_content source_ids=results[*][0].metadata.source": {
        "answer": ANSWER,
        "results": [[{"page_content": text, "metadata": {"source": "a.md"}}, 0.8] for text in TEXTS],
    },
    "answer=choices[0].text contexts=documents": {"choices": [{"text": ANSWER}], "documents": TEXTS},
    # Cohere: the text of a citation is a part of the answer
    "answer=response.text contexts=documents[].snippet source_ids=documents[].id": {
        "response": {"text": ANSWER, "citations": [{**PART, "document_ids": ["0"]}]},
        "documents": each("snippet"),
    },
    "answer=answer contexts=documents[].data.text source_ids=documents[].id": {
        "answer": ANSWER,
        "citations": [{**PART, "sources": [{"type": "document", "id": "0"}]}],
        "documents": [{"id": str(number), "data": {"text": text}} for number, text in enumerate(TEXTS)],
    },
    "answer=message.content[0].text contexts=message.citations[].sources[].document.snippet "
    "source_ids=message.citations[].sources[].id": {
        "message": {
            "content": [{"type": "text", "text": ANSWER}],
            "citations": [
                {**PART, "sources": [{"type": "document", "id": "0", "document": {"snippet": text}}]} for text in TEXTS
            ],
        }
    },
}


@pytest.mark.parametrize("shape", ["query", "server", "openai-chat"])
@pytest.mark.parametrize("setting", VARIANTS)
def test_the_setting_that_the_error_names_takes_the_reply(setting, shape):
    with FakeEndpoint(json_reply(VARIANTS[setting])) as endpoint:
        with (
            RagClient(endpoint.url, shape=shape).blocking as client,
            pytest.raises(EndpointReplyError) as caught,
        ):
            client.query("?")
        words = " Or leave the endpoint as it is, and set" if shape == "query" else "\nSet"
        before, _, named = str(caught.value).partition(f"{words} rag_response = ")
        assert before.startswith(f"{endpoint.url}: ")
        assert named == setting
        with RagClient(endpoint.url, shape=shape, response=named).blocking as client:
            answer = client.query("?")
    assert answer.text == ANSWER
    assert (answer.source_ids is not None) == ("source_ids=" in setting)
    assert answer.contexts == (tuple(TEXTS[:1]) if "[context]" in setting else tuple(TEXTS))


@pytest.mark.parametrize(
    "reply",
    [
        None,
        "text",
        [],
        {},
        {"answer": ANSWER},
        {"contexts": TEXTS},
        {"answers": ["a", "b"], "contexts": TEXTS},
        {"answer": ANSWER, "contexts": ["a", None]},
        {"answer": ANSWER, "contexts": [{"text": "a"}, {"content": "b"}]},
        {"answer": ANSWER, "contexts": [{"score": 1}]},
        {"answer": ANSWER, "contexts": [[[[[[["a"]]]]]]]},
        {"answer": "half \ud83d", "chunks": []},
        {"k" * 300: {"answer": ANSWER, "contexts": TEXTS}},
        {"choices": [None], "contexts": TEXTS},
        {"answer": ANSWER, "contexts": {"a": TEXTS[0], "b": 1}},
        [{"text": "30"}, {"text": " days"}],
        {"answer": ANSWER, "citations": [{**PART, "document_ids": ["0"]}]},
    ],
)
def test_no_setting_is_named_where_no_known_one_fits(reply):
    assert fitting_response(reply) is None


def test_a_text_that_may_be_a_status_is_the_answer_without_another_text():
    assert fitting_response({"message": "It was a success.", "docs": TEXTS}) == "answer=message contexts=docs"


def test_an_envelope_around_the_contract_is_named_before_its_message():
    with (
        FakeEndpoint(json_reply({"message": "success", "data": {"answer": ANSWER}})) as endpoint,
        RagClient(endpoint.url).blocking as client,
        pytest.raises(EndpointReplyError) as caught,
    ):
        client.query("?")
    assert 'Return what "data" holds, without the object around it.' in str(caught.value)


HITS = [{"_id": "a", "_score": 1.5, "_source": {"text": TEXTS[0]}}]


@pytest.mark.parametrize(
    ("reply", "setting"),
    [
        ({"hits": {"hits": HITS}}, "contexts=hits.hits[]._source.text source_ids=hits.hits[]._id"),
        (
            [{"_id": "a", "_source": {"title": "Refunds", "body": TEXTS[0]}}],
            "contexts=[]._source.body source_ids=[]._id",
        ),
        (
            [{"_id": "a#1", "_source": {"title": "Refunds", "doc_id": "a", "body": TEXTS[0]}}],
            "contexts=[]._source.body source_ids=[]._source.doc_id",
        ),
        ([{"_source": {"title": "Refunds", "body": TEXTS[0]}}], (
            "contexts=[]._source.body source_ids=[]._source.title"
        )),
        (
            {"matches": [{"id": "a", "metadata": {"text": TEXTS[0]}}]},
            "contexts=matches[].metadata.text source_ids=matches[].id",
        ),
        ({"result": [{"id": 7, "payload": {"text": TEXTS[0]}}]}, (
            "contexts=result[].payload.text source_ids=result[].to_string(id)"
        )),
        ({"result": {"points": [{"id": 7, "payload": {"document": TEXTS[0], "metadata": {"source": "a.md"}}}]}}, (
            "contexts=result.points[].payload.document source_ids=result.points[].payload.metadata.source"
        )),
        ({"result": {"points": [{"id": 7, "payload": {"document": TEXTS[0]}}]}}, (
            "contexts=result.points[].payload.document source_ids=result.points[].to_string(id)"
        )),
        # Azure AI Search, Solr, Vespa
        (
            {"@odata.context": "https://x/docs", "value": [{"@search.score": 1.9, "chunk_id": "a", "chunk": TEXTS[0]}]},
            "contexts=value[].chunk source_ids=value[].chunk_id",
        ),
        (
            {"responseHeader": {"status": 0}, "response": {"numFound": 1, "docs": [{"id": "a", "text_t": TEXTS[0]}]}},
            "contexts=response.docs[].text_t source_ids=response.docs[].id",
        ),
        (
            {"root": {"id": "toplevel", "children": [{"id": "id:a", "fields": {"sddocname": "a", "body": TEXTS[0]}}]}},
            "contexts=root.children[].fields.body source_ids=root.children[].id",
        ),
        # Amazon Kendra, Dify, Snowflake, Algolia, LlamaCloud, PostgreSQL
        ({"ResultItems": [{"Id": "a#1", "DocumentId": "a", "Content": TEXTS[0]}]}, (
            "contexts=ResultItems[].Content source_ids=ResultItems[].DocumentId"
        )),
        (
            {"query": {"content": "?"}, "records": [{"segment": {"content": TEXTS[0], "document": {"name": "a.md"}}}]},
            "contexts=records[].segment.content source_ids=records[].segment.document.name",
        ),
        ({"results": [{"chunk": TEXTS[0], "relative_path": "a.md"}]}, (
            "contexts=results[].chunk source_ids=results[].relative_path"
        )),
        ({"hits": [{"objectID": "a", "content": TEXTS[0]}]}, "contexts=hits[].content source_ids=hits[].objectID"),
        ({"retrieval_nodes": [{"node": {"id_": "a", "text": TEXTS[0]}}]}, (
            "contexts=retrieval_nodes[].node.text source_ids=retrieval_nodes[].node.id_"
        )),
        ({"rows": [{"id": 3, "content": TEXTS[0]}]}, "contexts=rows[].content source_ids=rows[].to_string(id)"),
        ({"context": TEXTS[0]}, "contexts=[context]"),
        ([[{"page_content": TEXTS[0]}, 1], [{"page_content": TEXTS[0]}, 0.5]], "contexts=[*][0].page_content"),
        ({"docs": [[0.5, {"page_content": TEXTS[0]}]]}, None),
        ({"data": TEXTS[0]}, None),
        ({"value": TEXTS[0]}, None),
        ({"sources": [{"source": "a.md", "score": 1}]}, None),
    ],
)  # fmt: skip
def test_the_hits_of_a_search_service_are_contexts_without_an_answer(reply, setting):
    assert fitting_response(reply, answers=False) == setting


@pytest.mark.parametrize(
    ("reply", "to_do"),
    [
        (
            {"data": [{"said": ANSWER}]},
            f"{RETURN} Or leave the endpoint as it is, and say by rag_response where {BOTH}.",
        ),
        ({}, RETURN),
        (
            {
                "answer": ANSWER,
                "sources": [{"document_id": "a"}],
                "session_id": None,
                "citations": ["a"],
                "metrics": {},
            },
            (
                'Return the texts of "sources" as "contexts", an array of strings. '
                "Or leave the endpoint as it is, and set rag_shape = server"
            ),
        ),
        ({"answer": ANSWER, "contexts": ["a", None]}, "Return the text of each passage."),
    ],
)
def test_an_unknown_form_is_read_with_the_setting_that_the_error_names(reply, to_do):
    with (
        FakeEndpoint(json_reply(reply)) as endpoint,
        RagClient(endpoint.url).blocking as client,
        pytest.raises(EndpointReplyError) as caught,
    ):
        client.query("?")
    assert str(caught.value).splitlines()[1] == to_do


def test_ids_that_are_numbers_are_made_texts_by_the_expression_that_the_error_names():
    reply = {"answer": ANSWER, "sources": [{"document_id": 7, "text": TEXTS[0]}]}
    with FakeEndpoint(json_reply(reply)) as endpoint:
        with RagClient(endpoint.url, shape="server").blocking as client, pytest.raises(EndpointReplyError) as caught:
            client.query("?")
        response = "answer=answer contexts=sources[].text source_ids=sources[].to_string(document_id)"
        assert str(caught.value).endswith(f"\nSet rag_response = {response}")
        with RagClient(endpoint.url, response=response).blocking as client:
            assert client.query("?").source_ids == ("7",)


def test_a_filter_is_named_where_ones_own_expression_finds_some_of_the_contexts():
    reply = {"answer": ANSWER, "lines": [{"said": TEXTS[0]}, {"said": None}]}
    with FakeEndpoint(json_reply(reply)) as endpoint:
        response = "answer=answer contexts=lines[].said"
        with RagClient(endpoint.url, response=response).blocking as client, pytest.raises(EndpointReplyError) as caught:
            client.query("?")
    assert str(caught.value).endswith(
        "finds nothing: lines[1].said is null\nCorrect contexts=lines[].said, or fix the reply. "
        "To skip elements without it, use a filter, as in items[?text].text."
    )


HITS = [{"title": "a.md", "snippet": TEXTS[0]}, {"title": "b.md", "snippet": TEXTS[1]}]


@pytest.mark.parametrize(
    ("response", "proposed"),
    [
        (
            "answer=repyl contexts=hits[].snippet source_ids=hits[].title session=chat",
            "answer=reply contexts=hits[].snippet source_ids=hits[].title session=chat",
        ),
        (
            "answer=reply contexts=hit[].snippet source_ids=hits[].titel session=chat",
            "answer=reply contexts=hits[].snippet source_ids=hits[].title session=chat",
        ),
        (
            "answer=reply contexts=hits[].snippet source_ids=hits[0:1].title session=chat",
            "answer=reply contexts=hits[].snippet source_ids=hits[].title session=chat",
        ),
        (
            "answer=text contexts=`[]` session=max(chat)",
            "answer=reply contexts=hits[].snippet source_ids=hits[].title",
        ),
    ],
)
def test_the_setting_that_an_error_names_keeps_the_session_of_ones_own(response: str, proposed: str) -> None:
    reply = {"reply": ANSWER, "chat": "c-1", "hits": HITS}
    with FakeEndpoint(json_reply(reply)) as endpoint:
        with RagClient(endpoint.url, response=response).blocking as client, pytest.raises(EndpointReplyError) as caught:
            client.query("?")
        assert str(caught.value).endswith(f"\nSet rag_response = {proposed}")
        with RagClient(endpoint.url, response=proposed).blocking as client:
            assert client.query("?").text == ANSWER


def test_an_array_of_very_many_pieces_is_searched_at_its_ends() -> None:
    # In all of them the search would take half a minute.
    pieces: list[Any] = [{"a": "{}"}] * 300_000
    assert fitting_response(pieces) is None
    pieces[5], pieces[-1] = {"text": ANSWER}, {"docs": TEXTS}
    assert fitting_response(pieces) == "answer=join('', [].text) contexts=[?docs].docs[]"


def test_the_first_thousand_objects_of_a_reply_are_searched() -> None:
    # In all of them the search would take seconds for each megabyte.
    objects: dict[str, Any] = {f"k{number}": {} for number in range(2_000)}
    assert fitting_response({"answer": ANSWER, **objects, "found": {"contexts": TEXTS}}) is None
    assert (
        fitting_response({"answer": ANSWER, "found": {"contexts": TEXTS}, **objects})
        == "answer=answer contexts=found.contexts"
    )


names = st.sampled_from(
    ["answer", "response", "contexts", "sources", "text", "content", "choices", "message", "x-y", ""]
)
replies = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4),
    max_leaves=20,
)


@given(replies)
def test_any_reply_has_a_setting_that_takes_it_or_none(reply):

    setting = fitting_response(reply)
    if setting is not None:
        assert isinstance(Reading.from_text(setting).read(reply).text, str)
