"""Collects the answer from the events of a streamed reply."""

from __future__ import annotations

import re
import time
from itertools import chain, pairwise
from typing import Any

from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.rag.body.event_parsers import EventParser, StreamEvent, is_failure
from pytest_ragcheck.rag.body.json_body import FIX_IT, NotJson, ReplyMismatch, named, named_error, parse_json, quoted
from pytest_ragcheck.rag.shapes.expression import ENDS, FLAGS, STATUSES, UNFINISHED
from pytest_ragcheck.rag.shapes.reading import FIELDS
from pytest_ragcheck.rag.shapes.shape import StreamReading

_DONE = b"[DONE]"
"""The payload of the last event, by the convention of OpenAI's API."""

_SEE_THE_LOG = "See the endpoint's log."
_WORDS = ("incomplete_details", "error", "_shards", *UNFINISHED, *STATUSES, *FLAGS)
# Some servers write a reason with "-".
_MARKED = re.compile(f'"(?:{"|".join(_WORDS)})"'.replace("_", ".").encode(), re.IGNORECASE)

_CITES = re.compile(r"^(?:source|citation)-|\bcitation\.")
_WHOLE = {"stop", "end_turn", "complete"}
_STOPS = re.compile(f'"(?:{"|".join(_WHOLE)})"'.encode(), re.IGNORECASE)
_CALL_ID = re.compile(r"(?i)(?:(?:tool|function)_?(?:call|use)?|call)_?id")
_EVENT_LINE = re.compile(rb"(?:^|[\r\n]|\xef\xbb\xbf)(?:data|event|id|retry)?:")


class StreamedReply:
    """
    Joins the pieces of the answer in one stream, and keeps the last non-null value of the other parts.

    The request was *started* at that time of `time.perf_counter`.
    """

    def __init__(self, parser: EventParser, reading: StreamReading, *, started: float) -> None:
        self._parser = parser
        self._reading = reading
        self._started = started
        self._events = 0
        self._pieces: list[str] = []
        self._found: dict[str, dict[object, Any]] = {}
        """The values of each field by their tool call or citation; a value that is whole stands alone under None."""

        self._gaps: dict[object, str] = {}
        """As `_found`: the place of an element that JMESPath skips, so that the contexts lack it; or empty."""

        self.firsts: list[Any] = []
        """The first events, which are searched for a setting."""

        self.values: dict[str, Any] = {}
        """The last value of each key that is not null."""

        self._text_types = set[str]()
        """Names of events with plain text: brackets and quotes are text too."""

        self._has_ended = False
        self._unfinished = ""
        """Why an event calls the reply unfinished; an ERROR only without an answer, or contexts asked alone."""

        self._failure: ReplyMismatch | None = None
        """The failure that an event reports; an ERROR unless the answer goes on, since a step of an agent may fail."""

        self._is_aside = False
        """True if the failure may be about something else, such as a cancelled order or a failed tool."""

        self._is_whole = False
        """True after an end as usual; a failure of something else does not count then."""

        self._kinds: list[str] = []
        self._kinds_of_answer: list[list[str]] = []
        """The names of the events with pieces of the answer; those of the latest event are the kinds."""

        self._problem: ReplyMismatch | None = None
        self.is_done = False
        """True after the event that ends the stream by its payload, and after one that reports an error."""

        self.size_bytes = 0
        """Number of the bytes so far, decompressed."""

        self.latency_seconds: float | None = None
        """From sending the request to `is_done`; None before."""

        self.first_token_seconds: float | None = None
        """From sending the request to the first piece of the answer that is not empty; None without one."""

    def feed(self, chunk: bytes) -> None:
        """Read the events that end in the chunk, and nothing once the stream is done."""
        self.size_bytes += len(chunk)
        try:
            for event in self._parser.feed(chunk):
                self._take(event)
                if self.is_done:
                    break
        except ReplyMismatch as problem:
            self._problem = problem
            self.is_done = True
        if self.is_done:
            self.latency_seconds = time.perf_counter() - self._started

    def answer(self, start: bytes) -> RagAnswer:
        """
        The whole answer, after the end of the stream, whose first bytes are the *start*.

        Raises:
            ReplyMismatch: The stream broke off, reports an error, cannot be read, or lacks the answer or the contexts.
        """
        is_cut, last = self._parser.is_within_event, self._parser.finish()
        # Many servers send no blank line after the last event.
        if not self.is_done and last is not None and (not is_cut or last.data.strip() == _DONE):
            self._take(last)
        # Contexts that were asked alone precede the failure of an answer that nobody reads.
        are_enough = self._reading.parts.answer is None and self._value_of("contexts")
        if problem := self._problem or (None if are_enough else self._failure):
            raise problem
        if start.strip() and not (self._events or self.is_done or _EVENT_LINE.search(start)):
            raise ReplyMismatch(
                f"the reply is not the stream that its Content-Type declares: {quoted(start.decode(errors='replace'))}",
                "Send JSON as application/json, and see the endpoint's log.",
            )
        if not self.is_done and is_cut:
            raise ReplyMismatch(
                f"the stream breaks off in the middle of event {self._events + 1}",
                "See the endpoint's log. A blank line has to follow each event, the last one included.",
            )
        if not self._events:
            raise ReplyMismatch("the stream has no events", _SEE_THE_LOG)
        end = self._reading.end
        if end is not None and not (self._has_ended or self.is_done):
            raise ReplyMismatch(
                f"the stream breaks off after event {self._events}, before its end ({end.text})", _SEE_THE_LOG
            )
        if self._reading.leaves_out_contexts:
            self._found.setdefault("contexts", {None: []})
        parts = self._reading.parts
        text = self._text()
        wanted = ("contexts",) if parts.answer is None else ("answer", "contexts")
        if missing := next((field for field in wanted if field not in self._found), ""):
            from pytest_ragcheck.rag.shapes.reply_search import with_messages
            from pytest_ragcheck.rag.shapes.variants import fitting_events

            setting = fitting_events(self.firsts, self.values)
            fitting = f"= {setting}" if setting else f"so that {missing}=EXPRESSION finds it in an event."
            found = f"no event of the stream has the {missing}, or it ended early; the first is {named(self.firsts[0])}"
            raise ReplyMismatch(with_messages(found, self.values), f"Set rag_response {fitting}")
        if gap := next(filter(None, map(self._gaps.get, self._found["contexts"])), ""):
            raise ReplyMismatch(gap, f"Correct contexts={parts.contexts.text}, or fix the event.")
        values = {field: self._value_of(field) for field in self._found}
        return parts.assemble(values | {"answer": text, "unfinished": self._unfinished}, self.values)

    def _value_of(self, field: str) -> Any:
        # The ids of a call whose contexts changed came later than those of the next call.
        places = {call: place for place, call in enumerate(self._found.get("contexts", ()))}
        found = self._found.get(field, {})
        values = [found[call] for call in sorted(found, key=lambda call: places.get(call, 0))]
        return list(chain(*values)) if len(values) > 1 else next(iter(values), None)

    def _text(self) -> str:
        # The answer: the last piece if it repeats the text before it, otherwise the pieces together.
        texts = self._pieces
        text, last = "".join(texts), "".join(texts[-1:])
        # Separate pieces seldom begin with the piece before; the last may add citations, or start anew.
        steps = [later.startswith(earlier) for earlier, later in pairwise(texts) if later != earlier]
        repeats = len(steps) > 1 and sum(steps) >= len(steps) * 0.75
        # Two pieces of a text may be the same short token.
        ends_whole = text.removesuffix(last).strip() == last.strip() and (len(texts) > 2 or len(last) > 9)
        text = last if repeats or ends_whole else text
        is_answered = self._reading.parts.answer is not None
        if self._unfinished and not (text.strip() if is_answered else self._value_of("contexts")):
            field = "answer" if is_answered else "contexts"
            raise ReplyMismatch(f"the stream has no {field} but an error: {self._unfinished}", FIX_IT)
        return text

    def _take(self, event: StreamEvent) -> None:
        if event.data.strip() == _DONE:
            self.is_done = event.type != "answer"  # of FastGPT, whose contexts follow
            return
        self._events += 1
        value = data = self._value(event)
        is_whole = False
        if _STOPS.search(event.data):
            expression = self._reading.parts.answer or self._reading.parts.contexts
            ends = (str(place.get(key)).lower() for place in expression.objects(data) for key in ENDS)
            is_whole = any(map(str.strip, self._pieces)) and not _WHOLE.isdisjoint(ends)
            if self._is_aside and is_whole:
                self._failure = None
            if "tool call" in self._unfinished:
                self._unfinished = ""
        if event.type:  # for filters
            value = {"event": event.type, **(data if isinstance(data, dict) else {"data": data})}
        unfinished = self._refuse_error(event, data, value)
        if self._events <= 100:
            self.firsts.append(value)
        for field in FIELDS:
            found = self._reading.parts.part(field, value)
            if found is not None:
                self._keep(field, found, value)
        if isinstance(value, dict):
            self.values.update((key, each) for key, each in value.items() if each is not None)
        self._unfinished = unfinished or self._unfinished
        end = self._reading.end
        self._has_ended |= end is not None and bool(end.find(value))
        self._is_whole |= is_whole

    def _keep(self, field: str, found: Any, value: object) -> None:
        if field == "answer":
            replacement = self._reading.replacement
            if replacement is not None and replacement.find(value):
                self._pieces.clear()
            self._found[field] = {}
            self._join(found)
            return
        kept = self._found.get(field, {})
        # `sources[].text` gives an empty array for sources without texts, `[context]` a null without a context.
        # Servers in Go send an empty session.
        if found == [None] or (field == "session" and found == "") or (found == [] and any(kept.values())):
            return
        call = self._call(value) if isinstance(found, list) else None
        so_far = self._value_of(field)
        is_new = isinstance(call, tuple) and call not in kept
        if is_new and isinstance(so_far, list) and found[: len(so_far)] == so_far:
            kept.clear()  # the server sends all passages so far
        is_whole = call is None or None in kept
        ids = self._found.get("source_ids", {})
        if field == "contexts" and kept and found != (self._value_of(field) if is_whole else kept.get(call)):
            # The ids so far belong to the replaced contexts.
            for stale in list(ids) if is_whole else (call, None):
                ids.pop(stale, None)
        if is_whole:
            kept.clear()
        kept[call] = found
        self._found[field] = kept
        if field == "contexts" and not isinstance(call, int):
            expression = self._reading.parts.contexts
            gap = expression.dead_end(value)
            self._gaps[call] = gap and f"{self._where}: contexts={expression.text} finds nothing: {gap}"

    def _call(self, value: object) -> object:
        # The id of the value's tool call or item, or the number of a citation's event; None if the value is whole.
        if not isinstance(value, dict):
            return None
        kind, contexts = str(value.get("type")), self._reading.parts.contexts
        if _CITES.search(f"{kind} {contexts.text}"):
            return self._events
        for place in contexts.objects(value):
            has_id = place is value.get("item") or kind.startswith("data-")  # of the Responses API, and of AI SDK
            ids = (each for key, each in place.items() if _CALL_ID.fullmatch(key) or (has_id and key == "id"))
            if call := tuple(str(each) for each in ids if each):
                return call
        return None

    def _join(self, piece: object) -> None:
        if not isinstance(piece, str):
            raise ReplyMismatch(
                f"the answer in {self._where} is {named(piece)}, not a string",
                "Correct answer=EXPRESSION in rag_response.",
            )
        if piece:
            self.first_token_seconds = self.first_token_seconds or time.perf_counter() - self._started
            self._pieces.append(piece)
            if piece.strip():  # an agent ends its tool calls too
                self._has_ended, self._is_whole, self._unfinished, self._failure = False, False, "", None
                if self._kinds not in self._kinds_of_answer:
                    self._kinds_of_answer.append(self._kinds)

    def _value(self, event: StreamEvent) -> Any:
        start, is_text = event.data.lstrip()[:1], event.type in self._text_types
        # Plain text may begin with a bracket or a quote, so after plain text only an object is read as JSON.
        if not self._parser.takes_text or start == b"{" or (start in (b"[", b'"') and not is_text):
            try:
                return parse_json(event.data)
            except ReplyMismatch as mismatch:
                is_text = isinstance(mismatch, NotJson) and (start != b"{" or is_text)
                if not (is_text and self._parser.takes_text):
                    raise ReplyMismatch(f"{self._where}: {mismatch.found}", mismatch.to_do) from None
        self._text_types.add(event.type)
        try:
            return event.data.decode()
        except UnicodeDecodeError:
            raise ReplyMismatch(f"{self._where} is not UTF-8", "Encode it as UTF-8.") from None

    @property
    def _where(self) -> str:
        return f"event {self._events} of the stream"

    def _refuse_error(self, event: StreamEvent, data: object, value: object) -> str:
        # Return why the event calls the reply unfinished.
        keys = data if isinstance(data, dict) else {}
        names = (event.type, keys.get("event"), keys.get("type"))
        kinds = self._kinds = [name.lower() for name in names if isinstance(name, str) and name]
        # A tool may fail before the answer.
        is_aside = bool(kinds) and kinds not in self._kinds_of_answer
        response = keys.get("response")  # in events of OpenAI's Responses API
        expression = self._reading.parts.answer or self._reading.parts.contexts
        # The search takes as long as that for the answer, and few events have an error.
        error = expression.error_in(value) if b'"error"' in event.data else ""
        if "error" in kinds or "response.failed" in kinds:
            error, is_aside = error or expression.error_in(response) or _reported(event, data), False
        if not error and self._reading.error is not None and (found := self._reading.error.find(value)):
            error, is_aside = named_error(found), False
        found = f"{self._where} reports an error: "
        if error and not is_aside:
            raise ReplyMismatch(found + error, FIX_IT)
        # After the end of the answer, a step such as follow-up questions fails.
        is_failed = any(map(is_failure, kinds))
        is_over = self._has_ended or (self._is_whole and is_aside and not is_failed)
        if (error or is_failed) and not is_over:
            self._failure = ReplyMismatch(found + (error or _reported(event, data)), FIX_IT)
            self._is_aside = not is_failed
        if error or not _MARKED.search(event.data):
            return ""
        if failure := expression.failure_in(value) or expression.failure_in(response):
            if not is_over:
                self._failure, self._is_aside = ReplyMismatch(found + failure, FIX_IT), is_aside and not is_failed
            return ""
        return expression.error_in(value, unfinished=True) or expression.error_in(response, unfinished=True)


def _reported(event: StreamEvent, value: object) -> str:
    return named_error(value) if event.data.strip() else "an error event without data"
