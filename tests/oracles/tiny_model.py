"""A model of a few thousand random numbers, and texts of the words that it knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.oracles.comparison import program

if TYPE_CHECKING:
    import random
    from pathlib import Path

WORDS = ("the", "refund", "window", "is", "thirty", "days", "and", "returns", "are", "free", "for", "members")
LAYERS = 3


def make_tiny_model(folder: Path) -> Path:
    """The folder with a BERT that has `LAYERS` layers and reads 32 pieces."""
    torch, transformers = program("torch"), program("transformers")
    folder.mkdir()
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    (folder / "vocab.txt").write_text("\n".join(vocabulary), encoding="utf-8")
    tokenizer = (
        transformers.BertTokenizer(vocab={word: i for i, word in enumerate(vocabulary)}, model_max_length=32)
        if int(transformers.__version__.partition(".")[0]) >= 5
        else transformers.BertTokenizer(str(folder / "vocab.txt"), model_max_length=32)
    )
    tokenizer.save_pretrained(folder)
    torch.manual_seed(7)
    config = transformers.BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        num_hidden_layers=LAYERS,
        num_attention_heads=2,
        intermediate_size=32,
    )
    transformers.BertModel(config).save_pretrained(folder)
    return folder


def some_text(rng: random.Random) -> str:
    """One to forty words, some of them unknown."""
    return " ".join(rng.choice([*WORDS, "unknown"]) for _ in range(rng.randint(1, 40)))
