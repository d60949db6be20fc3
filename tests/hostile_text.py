"""Reads long hostile text by one of the readers: `python -m tests.hostile_text READER`."""

from __future__ import annotations

import asyncio
import json
import signal
import string
import sys
from contextlib import suppress
from itertools import islice, product
from typing import TYPE_CHECKING

from pytest_ragcheck.errors import JudgeReplyError
from pytest_ragcheck.judging.judge_prompt import fenced
from pytest_ragcheck.judging.model.judge_reply import read_reply
from pytest_ragcheck.judging.model.reply_object import LONGEST_REPLY
from pytest_ragcheck.judging.offline.details.list_items import entries_of
from pytest_ragcheck.judging.offline.offline_judge import OfflineJudge
from pytest_ragcheck.judging.offline.refusals import Sentence
from pytest_ragcheck.metrics.citations import cited_sentences
from pytest_ragcheck.metrics.similarity import token_f1
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.rag.body.json_body import ReplyMismatch, parse_json, quoted
from pytest_ragcheck.rag.cited_answer import cited_answer
from pytest_ragcheck.rag.shapes.variants import fitting_response
from pytest_ragcheck.redaction import Redactor, shown_url
from pytest_ragcheck.short_texts import cut
from tests.making import a_question

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CPU_SECONDS = 10
"""What a reader may take for one text: twice what the slowest takes on a slow core. Quadratic time takes far more."""

SIZE = 4_000_000
SMALLER = 400_000
"""For readers that take a second or so for each 10 MB; quadratic time would hang them all the same."""

SMALLEST = 20_000
"""For the offline judge, which takes seconds for all that it reads of a context; quadratic time would hang it, too."""

PAGES = ("<!-- a -->", "<html><title", "<html><title>", "<", "<script>", "<!--", "http:/", " ")
JSON = (
    *("[", "{", '{"a":', '["', '{"a":[1,', '{"nonce":{}', '{"nonce":"n"}</think>', '"'),
    *("{'", "{'a':", "{//\n", "{'a\\'", "{'a':1,}"),
)
SECRETS = ("sk-a", "eyJaaaaaaaa.", "://a:", "authorization:", "cookie=a;b", "-----BEGIN A", "?key=", "basic a")
MARKERS = (
    *("[", "[1](", "```\n", "[1]:x\n", "$", "`a", "\\[", '":[', "[1] A. ? ", "# A.", "-", "|:-"),
    *(" ", "(  ", "\n", "\r\n", "[a,", "(source: ", "【1", "Sources:\n", "1. a\n", "[^1]: ", "![", "    a\n"),
)
SENTENCES = (
    *("word ", " ", "\n", "\t,", "a b. ", ".", '."', "- ", "(a) ", "e.g. ", "not ", "i do not know ", "a'", "[1,"),
    *(
        "1000-01-",
        "1",
        "1,000,",
        "5 million ",
        "two hundred and ",
        "$ ",
        "source 1, 2",
        "1st ",
        "5 € ",
        "не ",
        "。",
        "三十",
        "Ã¢",
    ),
    *("\u200b", "%20"),
)
# Each goes on with a unit that is not its beginning.
ENDLESS = {
    PAGES: (("<html><title>&#", "1"), ("<html><body>", "<"), ("<html><!--", "-"), ("http:", "/")),
    JSON: (('{"a":' * 900 + "[", "1,"),),
    SECRETS: (("sk-", "a"), ("http:", "/")),
    MARKERS: (("[1]\nSources", " "), ("[1]\n", "-")),
    SENTENCES: (("a", "\u0301"), ("a, b and c", " "), ("source: ", "a"), ("https://", "a.")),
}


def texts(units: tuple[str, ...], size: int) -> Iterator[str]:
    """Repetitions of each unit, then texts in which nothing comes twice."""
    for start, unit in (*(("", unit) for unit in units), *ENDLESS[units]):
        yield start + unit * (size // len(unit))
    if units is SENTENCES:
        yield " ".join(islice(map("".join, product(string.ascii_lowercase, repeat=5)), size // 6))
        yield " ".join(map(str, range(size // 8)))
        yield "".join(chr(0x4E00 + number * 7919 % 20_000) for number in range(size))
    if units is JSON:
        keys = ",".join(f'"{number}":0' for number in range(size // 12))
        yield f'{{{keys},"x":0,"x":0}}'


def page(text: str) -> None:
    quoted(text)
    shown_url(text)


def body(text: str) -> None:
    with suppress(ReplyMismatch):
        parse_json(text.encode())


def reply(text: str) -> None:
    fitting_response(parse_json(json.dumps({"answer": text, text: {"a": {}, "b": [text]}}).encode()))


def judge_reply(text: str) -> None:
    with suppress(JudgeReplyError):
        read_reply(text, nonce="n")
    with suppress(JudgeReplyError):
        read_reply(text[:LONGEST_REPLY], nonce="n")


def prompt(text: str) -> None:
    fenced("answer", text, nonce="n")


def offline_answer(text: str) -> None:
    _judge_offline(text, "Refunds are possible within 30 days.")


def offline_judge(text: str) -> None:
    _judge_offline(text, text)


def _judge_offline(text: str, context: str) -> None:
    question = a_question(expected_answer="within 30 days")
    judgement = asyncio.run(OfflineJudge().judge(question, RagAnswer(text=text, contexts=(context,))))
    assert judgement.groundedness is not None
    assert 0 <= judgement.groundedness <= 1


def courtesy(text: str) -> None:
    assert Sentence(text).claims_nothing in (True, False)


def listed(text: str) -> None:
    assert entries_of(f"a, b and c{text}x")


def citations(text: str) -> None:
    answer = RagAnswer(text=f"{text}x [1]", contexts=("Refunds are possible.",))
    cited_sentences(answer, cited_answer(answer))


def redaction(text: str) -> None:
    Redactor(["a secret", "word"]).text(text)


def report(text: str) -> None:
    cut(text, 500)
    token_f1(text, ("30 days",))


# The longest first: no worker of a test run is to go on long after the others.
READERS: dict[str, tuple[Callable[[str], None], tuple[str, ...], int]] = {
    "offline_judge_of_all_it_reads": (offline_judge, SENTENCES, SIZE),
    "offline_answer": (offline_answer, SENTENCES, SIZE),
    "offline_judge": (offline_judge, SENTENCES, SMALLEST),
    "courtesy": (courtesy, SENTENCES, SMALLER),
    "citations": (citations, MARKERS, SMALLEST),
    "listed": (listed, SENTENCES, SMALLEST),
    "page": (page, PAGES, SIZE),
    "body": (body, JSON, SIZE),
    "reply": (reply, JSON, SMALLER),
    "judge_reply": (judge_reply, JSON, SIZE),
    "redaction": (redaction, SECRETS, SMALLER),
    "prompt": (prompt, SENTENCES, SMALLER),
    "report": (report, SENTENCES, SMALLER),
}

if __name__ == "__main__":
    read, units, size = READERS[sys.argv[1]]
    for text in texts(units, size):
        sys.stdout.write(f"{text[:40]!r}\n")
        sys.stdout.flush()
        if hasattr(signal, "setitimer"):  # Windows has none
            signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
        read(text)
