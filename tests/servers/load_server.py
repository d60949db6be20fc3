"""
A RAG endpoint and an OpenAI-compatible judge in one process, for benchmarks, with little CPU a request.

    python -m tests.servers.load_server --rag-seconds 0.2 --judge-seconds 0.3 --sigma 1

prints its port. `POST /query` answers, `POST /v1/chat/completions` judges with the nonce that the prompt asks for,
and `GET /figures` has for each of the two paths: requests, seconds (the sum of what it waited), most_at_once, first
and last (when the first request came and the last reply went, on its own clock).
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import math
import re
import statistics
import time
from dataclasses import asdict, dataclass
from functools import partial

from tests.servers.connection import Connection

TRACE = re.compile(rb"Q-\d+")
_NONCE = re.compile(rb"=== BEGIN question ([0-9a-f]{16}) ===")
_PASSAGE = "The refund window of order {n} is 30 days from delivery, and shipping is not refunded. "
PASSAGE_CHARACTERS = 430
"""The usual length of each of the five passages."""

_OF_OTHERS: dict[str, object] = {"score": 10, "pass": True, "reason": "GRADE: C"}
"""A passing verdict as other programs read it; their prompts have no nonce."""


@dataclass(slots=True)
class Figures:
    """The requests on one path."""

    requests: int = 0
    seconds: float = 0.0
    at_once: int = 0
    most_at_once: int = 0
    first: float = 0.0
    last: float = 0.0


def waiting_seconds(mean: float, sigma: float, key: bytes) -> float:
    """How long a request waits: the mean itself, or lognormal about it, the same for the same key."""
    if not sigma:
        return mean
    digest = int.from_bytes(hashlib.blake2b(key, digest_size=8).digest(), "big")
    normal = statistics.NormalDist().inv_cdf((digest + 0.5) / 2**64)
    return mean * math.exp(sigma * normal - sigma * sigma / 2)


class _Connection(Connection):
    def __init__(
        self, means: dict[bytes, float], sigma: float, passage_characters: int, figures: dict[bytes, Figures]
    ) -> None:
        super().__init__()
        self._passage_characters = passage_characters
        self._means = means
        self._sigma = sigma
        self._figures = figures

    def take(self, path: bytes, body: bytes) -> None:
        figures = self._figures.get(path)
        if figures is None:
            self.reply(json.dumps({name.decode(): asdict(found) for name, found in self._figures.items()}).encode())
            return
        trace = TRACE.search(body)
        seconds = waiting_seconds(self._means[path], self._sigma, path + (trace[0] if trace else body))
        figures.first = figures.first or time.monotonic()
        figures.requests += 1
        figures.seconds += seconds
        figures.at_once += 1
        figures.most_at_once = max(figures.most_at_once, figures.at_once)
        name = trace[0] if trace else b""
        reply = rag_reply(name, self._passage_characters) if path == b"/query" else judge_reply(body)
        asyncio.get_running_loop().call_later(seconds, partial(self._finish, figures, reply))

    def _finish(self, figures: Figures, reply: bytes) -> None:
        figures.at_once -= 1
        figures.last = time.monotonic()
        self.reply(reply)


def rag_reply(trace: bytes, passage_characters: int = PASSAGE_CHARACTERS) -> bytes:
    """The endpoint's body for the question of that name, with five passages of that length."""
    times = passage_characters // len(_PASSAGE) + 1
    passages = [(_PASSAGE.format(n=n) * times)[:passage_characters] for n in range(5)]
    return json.dumps({"answer": f"30 days from delivery ({trace.decode()}).", "contexts": passages}).encode()


def judge_reply(body: bytes) -> bytes:
    """The judge's body: a verdict that passes, with the nonce that the prompt asks for, if it asks for one."""
    nonce = _NONCE.search(body)
    said: dict[str, object] = _OF_OTHERS
    if nonce is not None:
        said = {
            "nonce": nonce[1].decode(),
            "unsupported_claims": [],
            "abstained": False,
            "answer_correctness": 0.9,
            "groundedness": 0.95,
            "error_message": "",
        }
    message = {"role": "assistant", "content": json.dumps(said)}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": len(body) // 4, "completion_tokens": 40, "total_tokens": len(body) // 4 + 40}
    completion = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "load", "choices": [choice]}
    return json.dumps({**completion, "usage": usage}).encode()


async def serve(
    rag_seconds: float, judge_seconds: float, sigma: float, passage_characters: int = PASSAGE_CHARACTERS
) -> None:
    """Prints the port, and serves until it is killed."""
    means = {b"/query": rag_seconds, b"/v1/chat/completions": judge_seconds}
    figures = {path: Figures() for path in means}
    loop = asyncio.get_running_loop()
    connection = partial(_Connection, means, sigma, passage_characters, figures)
    server = await loop.create_server(connection, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)  # noqa: T201 - the parent process waits for this
    await server.serve_forever()


def main() -> None:
    """Reads the command line and serves."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rag-seconds", type=float, default=0.2)
    parser.add_argument("--judge-seconds", type=float, default=0.3)
    parser.add_argument("--sigma", type=float, default=0.0, help="of lognormal waiting times; 0: all are the mean")
    parser.add_argument("--passage-characters", type=int, default=PASSAGE_CHARACTERS, help="of each of five contexts")
    given = parser.parse_args()
    asyncio.run(serve(given.rag_seconds, given.judge_seconds, given.sigma, given.passage_characters))


if __name__ == "__main__":
    main()
