"""Asking a system whose documents are a run's own: in our names for them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_ragcheck.errors import IngestionError
from pytest_ragcheck.questions.passages import documents_of
from pytest_ragcheck.rag.ask import ask, endpoint_name

if TYPE_CHECKING:
    from pytest_ragcheck.documents.ingestion import Ingested
    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.rag.answer import Asks, RagAnswer


class AsksIngested:
    """
    A client of the system that the documents were put into.

    Args:
        client: Asks the system.
        ingested: What became of the documents.
    """

    def __init__(self, client: Asks, ingested: Ingested) -> None:
        self._client = client
        self._ingested = ingested
        self.endpoint = endpoint_name(client)
        """How the system is called in results."""

    async def ask(self, question: Question) -> RagAnswer:
        """
        The system's answer, its sources by our ids; what is not of this run keeps the server's.

        Raises:
            IngestionError: A document of the question is not in the system.
            EndpointError: There is no answer that can be judged.
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
