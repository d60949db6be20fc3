"""
Measures the local judge: loading, the first verdict, memory, and judgements in batches and one by one.

    python -m tests.benchmarks.local_judge [--number 1000] [--model FOLDER-OR-NAME]

Without a model it makes one with random numbers in the shape of the smallest published one (17 million parameters).
"""

from __future__ import annotations

import argparse
import asyncio
import random
import resource
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.judging.local_judge import LocalJudge
from pytest_ragcheck.rag.answer import RagAnswer
from tests.making import a_question

if TYPE_CHECKING:
    from collections.abc import Sequence

WORDS = [
    "the",
    "a",
    "refund",
    "window",
    "return",
    "tent",
    "customer",
    "days",
    "of",
    "delivery",
    "is",
    "within",
    "and",
    "free",
    "for",
    "members",
    "shipping",
]
N_CONTEXTS = 3
AT_ONCE = (8, 64)


def main() -> None:
    """Measures, and prints a line a measurement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--number", type=int, default=1000)
    parser.add_argument("--model")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model = chosen.model or str(make_random_model(Path(folder) / "random-17m"))
        before = peak_mb()
        judge = LocalJudge(model)
        answers = some_answers(chosen.number)
        seconds = timed(judge, answers[:1], at_once=1)
        print(f"importing, loading and the first verdict: {seconds:.2f} s")
        seconds = timed(judge, answers[1:2], at_once=1)
        print(f"a verdict after that: {seconds * 1000:.0f} ms")
        alone = timed(judge, answers, at_once=1)
        print(f"{chosen.number:,} judgements one by one: {alone:.1f} s")
        for at_once in AT_ONCE:
            batched = timed(judge, answers, at_once=at_once)
            print(
                f"{chosen.number:,} judgements, {at_once} at once: {batched:.1f} s, {alone / batched:.1f} times as fast"
            )
        print(f"peak memory: {before:.0f} MB before loading, {peak_mb():.0f} MB at the end")


def timed(judge: LocalJudge, answers: Sequence[RagAnswer], *, at_once: int) -> float:
    """The seconds in which the judge judges all answers."""
    question = a_question(question="How many days do customers have to return a tent?", expected_answer="45 days")

    async def judge_all() -> None:
        gate = asyncio.Semaphore(at_once)

        async def one(answer: RagAnswer) -> None:
            async with gate:
                await judge.judge(question, answer)

        await asyncio.gather(*map(one, answers))

    began = time.perf_counter()
    asyncio.run(judge_all())
    return time.perf_counter() - began


def some_answers(number: int) -> list[RagAnswer]:
    """Answers of one to four sentences, each with contexts of some forty words."""
    rng = random.Random(11)

    def text(least: int, most: int) -> str:
        return " ".join(rng.choice([*WORDS, str(rng.randint(0, 99))]) for _ in range(rng.randint(least, most))) + "."

    return [
        RagAnswer(
            text=" ".join(text(5, 20) for _ in range(rng.randint(1, 4))),
            contexts=tuple(text(20, 60) for _ in range(N_CONTEXTS)),
        )
        for _ in range(number)
    ]


def make_random_model(folder: Path) -> Path:
    """A folder with a ModernBERT of 17 million random numbers."""
    transformers: Any = import_module("transformers")
    import_module("torch").manual_seed(3)
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocabulary = {word: number for number, word in enumerate([*special, *WORDS, *map(str, range(100))])}
    config = transformers.ModernBertConfig(
        vocab_size=50_368,
        hidden_size=256,
        intermediate_size=384,
        num_hidden_layers=7,
        num_attention_heads=4,
        num_labels=2,
        pad_token_id=0,
        bos_token_id=2,
        eos_token_id=3,
        cls_token_id=2,
        sep_token_id=3,
    )
    transformers.ModernBertForTokenClassification(config).save_pretrained(folder)
    tokenizer = transformers.BertTokenizer(vocab=vocabulary, model_max_length=8192)
    tokenizer.model_input_names = ["input_ids", "attention_mask"]
    tokenizer.save_pretrained(folder)
    return folder


def peak_mb() -> float:
    """The largest memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
