"""
Every error that pytest-ragcheck raises, each carrying the object that it is about.

    RagcheckError
    ├── UsageError (ValueError)              an option, a setting or a call cannot work
    ├── QuestionFileError (ValueError)       mistakes in a question file, all of them at once
    ├── DatasetError (ValueError)            a dataset's file or the hub does not hold what the dataset is made of
    ├── ResultsError                         a result file cannot be written
    ├── StoreError                           the store of a run cannot be used
    ├── StepFailed                           a step that a run does once did not succeed
    ├── QuestionFailed (AssertionError)      a question's verdict is FAIL
    ├── QuestionErrored                      a question's verdict is ERROR
    └── MeasurementError                     the endpoint or the judge did not do its work
        ├── ReplayError                      a recording lacks the answer to a question
        ├── RecordedError                    what a recorded run met, met again
        ├── QuestionTimeout                  a question took longer than it may with all its requests
        ├── EndpointError
        │   ├── EndpointUnreachable          no connection: refused, DNS, TLS, reset
        │   ├── EndpointTimeout              no complete reply in time
        │   ├── EndpointStatusError          a status outside 200 to 299
        │   ├── EndpointReplyError           a reply that does not keep the contract
        │   └── IngestionError               a document of the question could not be put into the system
        └── JudgeError
            ├── JudgeUnavailable             no reply from the judge: connection, status, quota, key
            └── JudgeReplyError              a reply that is not the JSON asked for, repaired once in vain
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_ragcheck.record import Record


class RagcheckError(Exception):
    """The root of the tree."""


class UsageError(RagcheckError, ValueError):
    """An option, a setting or a call that cannot work; the text names its origin and the way out."""


class QuestionFileError(RagcheckError, ValueError):
    """
    All mistakes of one question file.

    Args:
        path: The file.
        problems: One text a mistake, each `file:line: question 'id' what. What to do.`
    """

    def __init__(self, path: Path, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.path = path
        self.problems = tuple(problems)


class DatasetError(RagcheckError, ValueError):
    """What a dataset's file holds is not what was expected; the text says what was found, at which row."""


class ResultsError(RagcheckError):
    """A result file cannot be written; the verdicts of the run are not touched by it."""

    def __init__(self, message: str, *, path: Path) -> None:
        super().__init__(message)
        self.path = path


class StoreError(RagcheckError):
    """The store of a run cannot be used; the run goes on without it."""

    def __init__(self, message: str, *, path: Path) -> None:
        super().__init__(message)
        self.path = path


class StepFailed(RagcheckError):
    """
    A step that a run does once, such as the judge's preflight, did not succeed, in whichever process did it.

    Args:
        message: What happened, and what to do.
        name: Of the step.
    """

    def __init__(self, message: str, *, name: str) -> None:
        super().__init__(message)
        self.name = name


class QuestionFailed(RagcheckError, AssertionError):
    """A question whose verdict is FAIL. The first line of the text holds the number and the reason."""

    def __init__(self, text: str, *, record: Record) -> None:
        super().__init__(text)
        self.record = record


class QuestionErrored(RagcheckError):
    """A question whose verdict is ERROR. The first line of the text says what happened and where."""

    def __init__(self, text: str, *, record: Record) -> None:
        super().__init__(text)
        self.record = record


class MeasurementError(RagcheckError):
    """The endpoint or the judge did not do its work: the question becomes an ERROR, never a 0."""

    kind: str = "measurement"
    """Stands as `kind` in the `errors` rows of the predictions file."""


class ReplayError(MeasurementError):
    """The recording that is replayed has no answer to the question as it is now."""

    kind = "replay"


class RecordedError(MeasurementError):
    """
    An ERROR of the recorded run, as it was.

    Args:
        message: The recorded text.
        kind: The recorded kind.
    """

    def __init__(self, message: str, *, kind: str) -> None:
        super().__init__(message)
        self.kind = kind


class QuestionTimeout(MeasurementError):
    """No verdict within the time that a question has with all its requests and their repeats."""

    kind = "question_timeout"


class EndpointError(MeasurementError):
    """
    The RAG system gave no answer that can be judged.

    Args:
        message: What happened, where, and what to do.
        url: The endpoint, without secrets; of a callable its name.
        status: The HTTP status, where there was one.
        body: The first part of the reply's body, where there was one.
        retry_after_seconds: How long the endpoint asked to wait, >= 0; None where it did not.
    """

    kind = "endpoint"

    def __init__(
        self,
        message: str,
        *,
        url: str,
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
        message: What happened, where, and what to do.
        url: The endpoint, without secrets.
        transient: True where the same request may succeed if it is repeated.
    """

    kind = "endpoint_unreachable"

    def __init__(self, message: str, *, url: str, transient: bool = True) -> None:
        super().__init__(message, url=url)
        self.transient = transient


class EndpointTimeout(EndpointError):
    """No complete reply within the time limit."""

    kind = "endpoint_timeout"


class EndpointStatusError(EndpointError):
    """A status outside 200 to 299."""

    kind = "endpoint_status"


class EndpointReplyError(EndpointError):
    """A reply that does not keep the contract."""

    kind = "endpoint_reply"


class IngestionError(EndpointError):
    """A document of the question could not be put into the system, or is not known to be there."""

    kind = "ingestion"


class JudgeError(MeasurementError):
    """
    The judge gave no judgement.

    Args:
        message: What happened, where, and what to do.
        reply: The first part of what the judge said, where it said anything.
    """

    kind = "judge"

    def __init__(self, message: str, *, reply: str | None = None) -> None:
        super().__init__(message)
        self.reply = reply


class JudgeUnavailable(JudgeError):
    """
    No reply from the judge: connection, status, quota, key.

    Args:
        message: What happened, where, and what to do.
        reply: The first part of what the judge's server said, where it said anything.
        status: The HTTP status, where there was one.
        retry_after_seconds: How long the server asked to wait, >= 0; None where it did not.
        transient: Whether the same request may succeed if it is repeated; None where the status says so.
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
    """A reply that is not the JSON asked for, after one repair turn."""

    kind = "judge_reply"
