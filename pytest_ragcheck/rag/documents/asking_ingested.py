"""Asks a system about uploaded documents, and translates their ids."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_ragcheck.errors import IngestionError
from pytest_ragcheck.questions.passages import documents_of
from pytest_ragcheck.rag.ask import ask, endpoint_name

if TYPE_CHECKING:
    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.rag.answer import Asks, RagAnswer
    from pytest_ragcheck.rag.documents.ingestion import Ingested


class AsksIngested:
    """
    A client of a system with uploaded documents.

    Args:
        client: The client of the system.
        ingested: The result of the ingestion.
    """

    def __init__(self, client: Asks, ingested: Ingested) -> None:
        self._client = client
        self._ingested = ingested
        self.endpoint = endpoint_name(client)
        """The name of the system in results."""

        self.lacks_documents = ingested.is_refused
        """True if the system takes or reads no further documents."""

    async def ask(self, question: Question) -> RagAnswer:
        """
        The system's answer, with our ids of its sources; documents of others keep the server's ids.

        Raises:
            IngestionError: A document of the question is not in the system.
            EndpointError: The endpoint gave no answer that can be judged.
        """
        failed = [str(p.doc_id) for p in documents_of(question) if p.doc_id in self._ingested.failures]
        if failed:
            further = f"\nSo it is with {len(failed) - 1} further documents of the question." if failed[1:] else ""
            raise IngestionError(self._ingested.failures[failed[0]] + further, url=self.endpoint)
        answer = await ask(question, self._client)
        if answer.source_ids is None:
            return answer
        ours = tuple(self._ingested.ids.get(each, each) for each in answer.source_ids)
        return replace(answer, source_ids=ours, server_source_ids=answer.source_ids)
