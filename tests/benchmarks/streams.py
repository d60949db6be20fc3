"""
Compares the cost of a streamed answer with that of a whole one: `python -m tests.benchmarks.streams`.

Runs of pytest over 200 questions, 16 at once, judged offline, in pairs: the ratio of a pair is of neighbours in time.
The server replies at once. Then one question at a time is asked of a server that holds its first token back.
"""

from __future__ import annotations

import asyncio
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import uvicorn

from pytest_ragcheck.rag.client import RagClient

PAIRS, QUESTIONS = 8, 200
ANSWER = "Within 30 days of delivery the customer may return it for a full refund. " * 5
CONTEXTS = ["Refunds are possible within 30 days. " * 10] * 5
WORDS = ANSWER.split(" ")
PIECES = [" ".join(WORDS[at : at + 4]) + " " for at in range(0, len(WORDS), 4)]
EVENTS = [
    *(f"data: {json.dumps({'answer': piece})}\n\n".encode() for piece in PIECES),
    f"data: {json.dumps({'contexts': CONTEXTS})}\n\n".encode(),
    b"data: [DONE]\n\n",
]


async def app(scope: Any, receive: Any, send: Any) -> None:
    """`/whole` replies with JSON, `/stream/SECONDS` with a chunk an event after so long."""
    if scope["type"] != "http":
        return
    while (await receive()).get("more_body"):
        pass
    is_whole = scope["path"] == "/whole"
    media_type = b"application/json" if is_whole else b"text/event-stream"
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", media_type)]})
    if is_whole:
        body = json.dumps({"answer": "".join(PIECES), "contexts": CONTEXTS}).encode()
        await send({"type": "http.response.body", "body": body})
        return
    await asyncio.sleep(float(scope["path"].rpartition("/")[2]))
    for event in EVENTS:
        await send({"type": "http.response.body", "body": event, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


def run(folder: Path, url: str) -> tuple[float, float]:
    """The wall time and the CPU seconds of a run of pytest."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", f"--rag-url={url}", "--rag-judge=offline"]
    subprocess.run(command, cwd=folder, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.perf_counter() - began, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


async def late_by(url: str, delay_seconds: float) -> list[float]:
    """By how many milliseconds each first token is later than the server's delay."""
    async with RagClient(f"{url}/stream/{delay_seconds}") as client:
        answers = [await client.query("How long?") for _ in range(20)]
    return [((answer.first_token_seconds or 0) - delay_seconds) * 1000 for answer in answers]


def main() -> None:
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = [{"id": f"q{n}", "question": f"How long, {n}?", "expected_answer": ANSWER} for n in range(QUESTIONS)]
        (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        (folder / "all.rag.json").write_text(json.dumps({"questions": rows}), encoding="utf-8")
        run(folder, f"{url}/whole")
        pairs = [(run(folder, f"{url}/whole"), run(folder, f"{url}/stream/0")) for _ in range(PAIRS)]
    for at, what in enumerate(("wall", "CPU")):
        whole, stream = (statistics.median(pair[side][at] for pair in pairs) for side in (0, 1))
        ratio = statistics.median(pair[1][at] / pair[0][at] for pair in pairs)
        print(f"{what:<5} whole {whole:.2f} s, streamed {stream:.2f} s, median ratio of {PAIRS} pairs {ratio:.2f}")
    for delay_seconds in (0.05, 0.2, 0.5):
        late = asyncio.run(late_by(url, delay_seconds))
        print(f"first token after {delay_seconds} s: {statistics.median(late):.1f} ms late, at most {max(late):.1f} ms")
    server.should_exit = True
    thread.join()


if __name__ == "__main__":
    main()
