from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace

from pytest_ragcheck.errors import IngestionError
from pytest_ragcheck.questions.question import Question, documents_of
from pytest_ragcheck.rag.answer import Asks, RagAnswer
from pytest_ragcheck.rag.ask import ask, endpoint_name
from pytest_ragcheck.rag.documents.ingestion import Ingested
from pytest_ragcheck.rag.documents.uploads import Upload


class AsksIngested:
    def __init__(self, client: Asks, ingested: Ingested, uploads: Iterable[Upload]) -> None:
        self._client = client
        self._ingested = ingested
        self._uploads = {upload.file_name: upload for upload in uploads}
        self._names: defaultdict[str, defaultdict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        """The file names of each document, by dataset and our id; several identities may upload one document."""
        for upload in self._uploads.values():
            for dataset in upload.datasets:
                self._names[dataset][upload.doc_id].append(upload.file_name)
        self.top_k = getattr(client, "top_k", None)
        self.endpoint = endpoint_name(client)
        self.lacks_documents = ingested.is_refused
        """True if the system takes or reads no further documents."""

    @property
    def _ragcheck_secrets(self) -> tuple[str, ...]:
        return getattr(self._client, "_ragcheck_secrets", ())

    async def ask(self, question: Question) -> RagAnswer:
        """
        The system's answer, with our ids of its sources; documents of others keep the server's ids.

        Raises:
            IngestionError: A document of the question is not in the system.
            EndpointError: The endpoint gave no answer that can be judged.
        """
        names = self._names[question.dataset_name]
        wanted = dict.fromkeys(str(passage.doc_id) for passage in documents_of(question))
        failed = [name for each in wanted for name in names.get(each, ()) if name in self._ingested.failures]
        if failed:
            further = f"\nFurther documents of the question with an error: {len(failed) - 1}." if failed[1:] else ""
            raise IngestionError(self._ingested.failures[failed[0]] + further, url=self.endpoint)
        answer = await ask(question, self._client)
        if answer.source_ids is None:
            return answer
        ours = tuple(self._our_id(each, names) for each in answer.source_ids)
        return replace(answer, source_ids=ours, server_source_ids=answer.source_ids)

    def _our_id(self, server_id: str, names: Mapping[str, list[str]]) -> str:
        # Our id of a document; its file name if the dataset has another document of that id.
        from pytest_ragcheck.rag.cited_answer import document_of

        ids = self._ingested.ids
        file_name = ids.get(server_id) or ids.get(document_of(server_id))
        if file_name is None:
            return server_id
        doc_id = self._uploads[file_name].doc_id
        return doc_id if file_name in names.get(doc_id, (file_name,)) else file_name
