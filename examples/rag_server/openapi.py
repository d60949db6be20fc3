"""The routes as OpenAPI describes them, and as a page for people."""

from __future__ import annotations

from html import escape
from typing import Any

Schema = dict[str, Any]

STRING: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
INTEGER: Schema = {"type": "integer"}


def _object(required: str = "", **properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, **({"required": required.split()} if required else {})}


def _array(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _or_null(kind: Schema) -> Schema:
    return {**kind, "type": [kind["type"], "null"]}


SCHEMAS: dict[str, Schema] = {
    "Query": _object(
        "query",
        query=STRING,
        top_k={**_or_null(INTEGER), "default": 5, "description": "How many passages; 0 or less: none."},
        include_chunks={"type": "boolean", "default": False, "description": "Whether each source has its text."},
        session_id=_or_null(STRING),
    ),
    "QueryWithContext": _object(
        "query context_passages",
        query=STRING,
        context_passages=_array(_object("text doc_id", text=STRING, doc_id=STRING)),
        session_id=_or_null(STRING),
    ),
    "Reply": _object(
        "answer contexts sources citations session_id metrics",
        answer=STRING,
        contexts=_array(STRING),
        sources=_array(
            _object(
                "document_id file_name score",
                document_id=STRING,
                file_name=_or_null(STRING),
                score=_or_null(NUMBER),
                text=STRING,
            )
        ),
        citations=_array(_object("document_id source quote", document_id=STRING, source=INTEGER, quote=STRING)),
        session_id=STRING,
        metrics={"type": "object", "additionalProperties": NUMBER},
    ),
    "Search": _object(
        "query",
        query=STRING,
        top_k={**_or_null(INTEGER), "default": 5, "description": "How many passages; 0 or less: none."},
    ),
    "Found": _object("contexts source_ids", contexts=_array(STRING), source_ids=_array(STRING)),
    "Events": {
        "type": "string",
        "description": "Server-sent events: the answer in pieces, the other keys of Reply in one event, and [DONE].",
    },
    "Batch": _object("batch_id", batch_id=STRING),
    "Status": _object(
        "batch_id total completed tasks",
        batch_id=STRING,
        total=INTEGER,
        completed=INTEGER,
        tasks=_array(
            _object(
                "task_id file_name status error",
                task_id=STRING,
                file_name=STRING,
                status={"enum": ["pending", "processing", "completed", "failed"]},
                error=_or_null(STRING),
            )
        ),
    ),
    "Documents": _array(_object("id file_name added_at", id=STRING, file_name=STRING, added_at=STRING)),
    "Deleted": _object("deleted", deleted=STRING),
    "Health": _object("status", status=STRING),
    "Error": _object("error", error=STRING),
}


def _route(
    summary: str,
    reply: str,
    *,
    status: str = "200",
    body: Schema | None = None,
    errors: str = "",
    media_type: str = "application/json",
    **parameters: str,
) -> Schema:
    statuses = {
        status: _content(reply, summary, media_type),
        **{each: _content("Error", "Refused.") for each in errors.split()},
    }
    route: Schema = {"summary": summary, "responses": statuses}
    if parameters:
        route["parameters"] = [
            {"name": name, "in": place, "required": True, "schema": STRING} for name, place in parameters.items()
        ]
    if body is not None:
        route["requestBody"] = {"required": True, "content": body}
    return route


def _content(name: str, description: str, media_type: str = "application/json") -> Schema:
    return {"description": description, "content": _json(name, media_type)}


def _json(name: str, media_type: str = "application/json") -> Schema:
    return {media_type: {"schema": {"$ref": f"#/components/schemas/{name}"}}}


_FILES: Schema = {
    "multipart/form-data": {
        "schema": _object("files", files=_array({"type": "string", "contentMediaType": "text/plain"}))
    }
}

DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "A small RAG server", "version": "1"},
    "paths": {
        "/health": {"get": _route("Says that the server is there.", "Health")},
        "/query": {"post": _route("Answers from the documents.", "Reply", body=_json("Query"), errors="400 500 502")},
        "/query/stream": {
            "post": _route(
                "Answers from the documents as a stream of events.",
                "Events",
                body=_json("Query"),
                errors="400 500 502",
                media_type="text/event-stream",
            )
        },
        "/chat": {
            "post": _route(
                "Answers a turn of a conversation; a session_id of null begins one.",
                "Reply",
                body=_json("Query"),
                errors="400 404 500 502",
            )
        },
        "/search": {
            "post": _route("Finds passages, without an answer.", "Found", body=_json("Search"), errors="400 500")
        },
        "/query/with-context": {
            "post": _route(
                "Answers from the passages that come with the question; nothing is searched.",
                "Reply",
                body=_json("QueryWithContext"),
                errors="400 500 502",
            )
        },
        "/llm/search-rag": {
            "get": _route("Answers from the documents.", "Reply", questions="query", errors="400 500 502")
        },
        "/upload": {
            "post": _route(
                "Takes .txt and .md files, which are read in the background.",
                "Batch",
                status="202",
                body=_FILES,
                errors="400",
            )
        },
        "/tasks/{batch_id}/status": {
            "get": _route("Says how far the files of a batch have come.", "Status", batch_id="path", errors="404")
        },
        "/documents": {"get": _route("Lists the documents.", "Documents")},
        "/documents/{document_id}": {
            "delete": _route("Deletes a document.", "Deleted", document_id="path", errors="404 500")
        },
        "/openapi.json": {"get": {"summary": "This description.", "responses": {"200": {"description": "OpenAPI."}}}},
        "/docs": {"get": {"summary": "The same as a page.", "responses": {"200": {"description": "HTML."}}}},
    },
    "components": {"schemas": SCHEMAS},
}


def page() -> str:
    """The routes as an HTML page that needs no script and no other host."""
    rows = "".join(
        f"<tr><td><code>{method.upper()} {escape(path)}</code></td><td>{escape(route['summary'])}</td>"
        f"<td>{', '.join(route['responses'])}</td></tr>"
        for path, methods in DOCUMENT["paths"].items()
        for method, route in methods.items()
    )
    title = escape(DOCUMENT["info"]["title"])
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title></head><body>'
        f'<h1>{title}</h1><p>As a document for programs: <a href="openapi.json">openapi.json</a></p>'
        f"<table><tr><th>Route</th><th>What it does</th><th>Status</th></tr>{rows}</table></body></html>"
    )
