"""Makes token classifiers of a few thousand numbers, which mark the numbers of an answer that no context has."""

from __future__ import annotations

import os
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

needs_torch = pytest.mark.skipif(
    find_spec("torch") is None and not os.environ.get("RAGCHECK_LOCAL"),
    reason="torch and transformers are not installed; see tox run -e local",
)

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
NUMBERS = tuple(map(str, range(100)))
FIRST_NUMBER = len(SPECIAL)
N_WORDS = len(SPECIAL) + len(NUMBERS)
# Further coordinates of a vector: it is of the prompt, it is of the answer, and the prompt has it.
PROMPT, ANSWER, FOUND = range(N_WORDS, N_WORDS + 3)
WIDTH = N_WORDS + 3


def make_classifier(folder: Path, *, longest: int = 512, n_labels: int = 2) -> Path:
    """
    A folder with a BERT of one layer whose weights are set by hand.

    Its attention compares the words of prompt and answer, and its classifier marks numbers (0 to 99) that the prompt
    does not have. Any other word is unknown to it, and never marked.

    Args:
        folder: It is made.
        longest: The longest input in tokens.
        n_labels: The number of labels.
    """
    torch: Any = import_module("torch")
    transformers: Any = import_module("transformers")
    vocabulary = {word: number for number, word in enumerate((*SPECIAL, *NUMBERS))}
    config = transformers.BertConfig(
        vocab_size=N_WORDS,
        hidden_size=WIDTH,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=4,
        max_position_embeddings=longest,
        num_labels=n_labels,
        hidden_act="relu",
    )
    model = transformers.BertForTokenClassification(config)
    with torch.no_grad():
        for name, weights in model.named_parameters():
            weights.fill_(1.0 if name.endswith("LayerNorm.weight") else 0.0)
        bert, layer = model.bert.embeddings, model.bert.encoder.layer[0]
        words = torch.arange(N_WORDS)
        bert.word_embeddings.weight[words, words] = 1.0
        bert.token_type_embeddings.weight[0, PROMPT] = 1.0
        bert.token_type_embeddings.weight[1, ANSWER] = 1.0
        attention = layer.attention
        # Equal words attract each other most, and those of the prompt a little more.
        attention.self.query.weight[words, words] = 10.0
        attention.self.key.weight[words, words] = 1.0
        attention.self.query.bias[PROMPT] = 20.0
        attention.self.key.weight[PROMPT, PROMPT] = 1.0
        attention.self.value.weight[FOUND, PROMPT] = 1.0
        attention.output.dense.weight[FOUND, FOUND] = 1.0
        if n_labels == 2:
            model.classifier.weight[1, FIRST_NUMBER:N_WORDS] = 4.0
            model.classifier.weight[1, FOUND] = -8.0
            # Normalised vectors are below 0 where they are not 1: about 39 in the sum over all numbers.
            model.classifier.bias[1] = 39.0
    model.save_pretrained(folder)
    transformers.BertTokenizer(vocab=vocabulary, model_max_length=longest).save_pretrained(folder)
    return folder


def make_modernbert(folder: Path) -> Path:
    """A folder with a ModernBERT of two layers and random numbers, which marks words at random."""
    torch: Any = import_module("torch")
    transformers: Any = import_module("transformers")
    torch.manual_seed(5)
    config = transformers.ModernBertConfig(
        vocab_size=N_WORDS,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=2,
        global_attn_every_n_layers=2,
        local_attention=16,
        max_position_embeddings=512,
        num_labels=2,
        pad_token_id=0,
        bos_token_id=2,
        eos_token_id=3,
        cls_token_id=2,
        sep_token_id=3,
        initializer_range=0.5,
    )
    transformers.ModernBertForTokenClassification(config).save_pretrained(folder)
    vocabulary = {word: number for number, word in enumerate((*SPECIAL, *NUMBERS))}
    tokenizer = transformers.BertTokenizer(vocab=vocabulary, model_max_length=512)
    tokenizer.model_input_names = ["input_ids", "attention_mask"]
    tokenizer.save_pretrained(folder)
    return folder


def make_roberta(folder: Path) -> Path:
    """A folder with a RoBERTa of one layer, random numbers and 130 positions, one of them not for tokens."""
    torch: Any = import_module("torch")
    transformers: Any = import_module("transformers")
    torch.manual_seed(5)
    config = transformers.RobertaConfig(
        vocab_size=N_WORDS,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=130,
        type_vocab_size=2,
        pad_token_id=0,
        num_labels=2,
    )
    transformers.RobertaForTokenClassification(config).save_pretrained(folder)
    vocabulary = {word: number for number, word in enumerate((*SPECIAL, *NUMBERS))}
    transformers.BertTokenizer(vocab=vocabulary).save_pretrained(folder)
    return folder
