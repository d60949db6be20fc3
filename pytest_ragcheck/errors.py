"""Defines the errors; each carries the object that it concerns."""

# RagcheckError
#     UsageError (ValueError)
#     QuestionFileError (ValueError)
#     DatasetError (ValueError)
#     ResultsError
#     StoreError
#     StepFailed
#     QuestionFailed (AssertionError): the verdict is FAIL; both are defined with Record
#     QuestionErrored: the verdict is ERROR
#     MeasurementError
#         ReplayError
#         RecordedError
#         QuestionTimeout
#         EndpointError
#             EndpointUnreachable
#             EndpointTimeout
#             EndpointStatusError
#             EndpointReplyError
#                 EndpointStreamError
#             IngestionError
#         JudgeError
#             JudgeUnavailable
#             JudgeReplyError

from __future__ import annotations

from collections.abc import Sequence
from copyreg import __newobj__  # type: ignore[attr-defined]
from pathlib import Path
from typing import Any


class RagcheckError(Exception):
    """The root of the tree."""

    def __reduce__(self) -> tuple[Any, ...]:
        # By default a pickle calls the class with the message alone, and lacks the required keywords.
        return __newobj__, (type(self), *self.args), vars(self)


class UsageError(RagcheckError, ValueError):
    """An option, a setting or a call that cannot work; the text names its origin and the remedy."""


class QuestionFileError(RagcheckError, ValueError):
    """
    All mistakes of one question file.

    Args:
        problems: One text for each mistake: `file:line: question 'id' has ... Remedy.`
    """

    def __init__(self, path: Path, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.path = path
        self.problems = tuple(problems)


class DatasetError(RagcheckError, ValueError):
    """A dataset's file has unexpected content; the text names the row and the content."""


class ResultsError(RagcheckError):
    """A result file cannot be written; the verdicts of the run are not affected."""

    def __init__(self, message: str, *, path: Path) -> None:
        super().__init__(message)
        self.path = path


class StoreError(RagcheckError):
    """The store of a run cannot be used; the run continues without it."""

    def __init__(self, message: str, *, path: Path) -> None:
        super().__init__(message)
        self.path = path


class StepFailed(RagcheckError):
    """A step that runs once, such as the judge's preflight, failed in one of the run's processes."""

    def __init__(self, message: str, *, name: str) -> None:
        super().__init__(message)
        self.name = name


class MeasurementError(RagcheckError):
    """The endpoint or the judge did not do its work: the question becomes an ERROR, never a 0."""

    kind: str = "measurement"
    """The `kind` in the `errors` rows of the predictions file."""


class ReplayError(MeasurementError):
    """The recording has no answer to the question in its current form."""

    kind = "replay"


class RecordedError(MeasurementError):
    """An ERROR of the recorded run, repeated."""

    def __init__(self, message: str, *, kind: str) -> None:
        super().__init__(message)
        self.kind = kind


class QuestionTimeout(MeasurementError):
    """No verdict within the question's time limit, which covers all its requests and retries."""

    kind = "question_timeout"


class EndpointError(MeasurementError):
    """
    The RAG system gave no answer that can be judged.

    Args:
        url: The endpoint without secrets, or the name of a function; empty if your own client gives none.
        status: The HTTP status; None without a reply.
        body: The first part of the reply's body; None without a reply.
        retry_after_seconds: The wait that the endpoint requested, >= 0; None without one.
    """

    kind = "endpoint"

    def __init__(
        self,
        message: str,
        *,
        url: str = "",
        status: int | None = None,
        body: str | None = None,
        retry_after_seconds: float | None = None,
    ) -> None:
        super().__init__(message)
        self.url = url
        self.status = status
        self.body = body
        self.retry_after_seconds = retry_after_seconds


class EndpointUnreachable(EndpointError):
    """
    No connection: refused, name not found, TLS, reset.

    Args:
        transient: True if a retry may succeed.
    """

    kind = "endpoint_unreachable"

    def __init__(self, message: str, *, url: str = "", transient: bool = True) -> None:
        super().__init__(message, url=url)
        self.transient = transient


class EndpointTimeout(EndpointError):
    """No complete reply within the time limit."""

    kind = "endpoint_timeout"


class EndpointStatusError(EndpointError):
    """A status outside 200 to 299."""

    kind = "endpoint_status"


class EndpointReplyError(EndpointError):
    """A reply outside the contract."""

    kind = "endpoint_reply"


class EndpointStreamError(EndpointReplyError):
    """A streamed reply that broke off, reported an error, or has events that cannot be read."""

    kind = "endpoint_stream"


class IngestionError(EndpointError):
    """A document of the question could not be uploaded, or its upload could not be confirmed."""

    kind = "ingestion"


class JudgeError(MeasurementError):
    """
    The judge gave no judgement.

    Args:
        reply: The first part of the judge's reply; None without one.
    """

    kind = "judge"

    def __init__(self, message: str, *, reply: str | None = None) -> None:
        super().__init__(message)
        self.reply = reply


class JudgeUnavailable(JudgeError):
    """
    No reply from the judge: connection, status, quota, key.

    Args:
        reply: The first part of the server's reply; None without one.
        status: The HTTP status; None without a reply.
        retry_after_seconds: The wait that the server requested, >= 0; None without one.
        transient: True if a retry may succeed; None to decide by the status.
    """

    kind = "judge_unavailable"

    def __init__(
        self,
        message: str,
        *,
        reply: str | None = None,
        status: int | None = None,
        retry_after_seconds: float | None = None,
        transient: bool | None = None,
    ) -> None:
        super().__init__(message, reply=reply)
        self.status = status
        self.retry_after_seconds = retry_after_seconds
        self.transient = transient


class JudgeReplyError(JudgeError):
    """
    A reply without the requested JSON, after one repair turn.

    Args:
        declined: True if the model, or a content filter of its server, declined to judge.
    """

    kind = "judge_reply"

    def __init__(self, message: str, *, reply: str | None = None, declined: bool = False) -> None:
        super().__init__(message, reply=reply)
        self.declined = declined
