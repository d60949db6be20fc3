"""
The local judge by tiny models that the tests make.

    tox run -e local
"""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.config.settings import Settings
from pytest_ragcheck.errors import JudgeError
from pytest_ragcheck.judging.classifier_model import ClaimedAnswer
from pytest_ragcheck.judging.embeds import LocalEmbeddings
from pytest_ragcheck.judging.judge_choice import choose_judge
from pytest_ragcheck.judging.judgement import Judgement
from pytest_ragcheck.judging.local_judge import LocalJudge
from pytest_ragcheck.judging.token_classifier import AnswerToken, TokenClassifier
from pytest_ragcheck.rag.answer import RagAnswer
from tests.judging.tiny_classifier import SPECIAL, make_classifier, make_modernbert, make_roberta, needs_torch
from tests.making import a_question
from tests.servers.fake_hub import FakeHub

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

pytestmark = needs_torch

INDEX, WEIGHTS = "model.safetensors.index.json", "model.safetensors"
CONTEXTS = ("Returns are possible within 30 days.", "Members have 90 days.")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_classifier(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that reads 128 tokens at once."""
    return make_classifier(tmp_path_factory.mktemp("models") / "short", longest=128)


def claimed(answer: str, *contexts: str, question: str = "How long?") -> ClaimedAnswer:
    return ClaimedAnswer(question=question, contexts=contexts or CONTEXTS, answer=answer)


def found(model: TokenClassifier, *answers: ClaimedAnswer) -> list[list[AnswerToken]]:
    results = model.tokens(answers)
    assert not any(isinstance(each, Exception) for each in results), results
    return results  # type: ignore[return-value]  # no exceptions, as asserted


def marked(model: TokenClassifier, answer: ClaimedAnswer) -> list[str]:
    (tokens,) = found(model, answer)
    return [answer.answer[token.start : token.end] for token in tokens if token.probability > 0.5]


def judged(judge: LocalJudge, *answers: str, contexts: Sequence[str] = CONTEXTS, **said: Any) -> list[Judgement]:
    question = a_question(**{"question": "How long?", **said})

    async def judge_all() -> list[Judgement]:
        given = [RagAnswer(text=text, contexts=tuple(contexts)) for text in answers]
        return await asyncio.gather(*(judge.judge(question, answer) for answer in given))

    return asyncio.run(judge_all())


@pytest.fixture
def passes() -> Iterator[list[int]]:
    """The number of inputs of each forward pass."""
    torch: Any = import_module("torch")
    sizes: list[int] = []

    def note(module: Any, _: Any, output: Any) -> None:
        if type(module).__name__.endswith("ForTokenClassification"):
            sizes.append(len(output.logits))

    handle = torch.nn.modules.module.register_module_forward_hook(note)
    yield sizes
    handle.remove()


def test_it_loads_and_marks_what_the_contexts_do_not_have(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    model = TokenClassifier(str(folder))
    assert marked(model, claimed("You have 60 days, members 90 days.")) == ["60"]
    assert marked(model, claimed("You have 30 days, members 90 days.")) == []
    assert capfd.readouterr() == ("", "")


def test_a_judgement_has_the_spans_and_the_correctness_of_the_offline_judge(folder: Path) -> None:
    judge = choose_judge(Settings.of(judge="local", judge_model=str(folder)))
    assert isinstance(judge, LocalJudge)
    right, invented, wrong, refusal, empty = judged(
        judge,
        "You have 30 days. Members have 90 days.",
        "You have 30 days. Members have 60-99 days.",
        "Members have 90 days.",
        "I don't know.",
        "",
        expected_answer="30 days",
        all_acceptable_answers=("30 days",),
    )
    assert right == Judgement(answer_correctness=1.0, groundedness=1.0, abstained=False)
    assert invented == Judgement(
        answer_correctness=1.0,
        groundedness=0.5,
        error_message='the contexts do not support "60-99" (probability 1.00)',
        abstained=False,
        unsupported_claims=("60-99",),
    )
    assert (wrong.groundedness, wrong.error_message) == (1.0, 'the answer does not have "30 days"')
    offline = choose_judge(Settings.of(judge="offline"))
    assert offline is not None
    for text, judgement in (("I don't know.", refusal), ("", empty)):
        assert judgement.abstained
        assert [judgement] == judged(
            offline,  # type: ignore[arg-type]  # it has the same method
            text,
            expected_answer="30 days",
            all_acceptable_answers=("30 days",),
        )


def test_an_answer_without_contexts_is_not_grounded(folder: Path, passes: list[int]) -> None:
    (judgement,) = judged(LocalJudge(str(folder)), "You have 30 days.", contexts=["", " "])
    assert (judgement.groundedness, judgement.error_message) == (0.0, "no contexts were returned")
    assert passes == []


def test_citation_markers_are_not_read_as_claims(folder: Path) -> None:
    (judgement,) = judged(LocalJudge(str(folder)), "You have 30 days [2].")
    assert (judgement.groundedness, judgement.unsupported_claims) == (1.0, ())


def test_a_lone_surrogate_is_judged_too(folder: Path) -> None:
    (judgement,) = judged(LocalJudge(str(folder)), "You \ud800 have 60 days.", contexts=["Within \ud800 30 days."])
    assert judgement.unsupported_claims == ("60",)


def test_contexts_beyond_the_limit_are_read_in_windows(short: Path, passes: list[int]) -> None:
    model = TokenClassifier(str(short))
    contexts = [f"In case {number} it is another number of days, as it is written." for number in range(40)]
    for place in (0, 20, 39):
        some = [*contexts]
        some[place] = "It is 77 days here."
        assert marked(model, claimed("You have 77 days.", *some)) == []
    assert marked(model, claimed("You have 77 days.", *contexts)) == ["77"]
    assert min(passes) > 5


def test_one_long_context_is_read_in_windows(short: Path) -> None:
    model = TokenClassifier(str(short))
    words = ["day"] * 1000
    assert marked(model, claimed("You have 77 days.", " ".join(words))) == ["77"]
    for place in (0, 333, 999):
        assert marked(model, claimed("You have 77 days.", " ".join([*words[:place], "77", *words[place:]]))) == []


def test_a_long_answer_is_read_in_parts_and_every_token_once(short: Path) -> None:
    model = TokenClassifier(str(short))
    answer = " ".join(f"Claim {number} is of many words." for number in range(99))
    (tokens,) = found(model, claimed(answer, "Claims 3, 50 and 98 are known.", "And so is 70."))
    assert [answer[token.start : token.end] for token in tokens] == answer.replace(".", " .").split()
    wrong = {answer[token.start : token.end] for token in tokens if token.probability > 0.5}
    # The numbers of the contexts, and those of the prompt: its passages are numbered.
    assert set(map(str, range(99))) - wrong == {"1", "2", "3", "50", "70", "98"}


def test_a_question_that_is_too_long_is_an_error_of_its_own(short: Path) -> None:
    model = TokenClassifier(str(short))
    tokens, error = model.tokens([claimed("You have 30 days."), claimed("You have 30 days.", question="why " * 100)])
    assert isinstance(tokens, list)
    assert isinstance(error, JudgeError)
    assert "a question of 100 tokens" in str(error)


@pytest.mark.parametrize("make", [make_classifier, make_modernbert])
def test_a_batch_gives_what_each_answer_gives_alone(make: Any, tmp_path: Path, passes: list[int]) -> None:
    model = TokenClassifier(str(make(tmp_path / "model")))
    answers = [
        claimed(
            " ".join(f"Claim {number} has 60 days." for number in range(1 + size % 7)),
            *[f"The window is {number} days." for number in range(1 + size % 11)],
        )
        for size in range(60)
    ]
    together = found(model, *answers)
    n_together = len(passes)
    alone = [found(model, answer)[0] for answer in answers]
    assert sum(passes[:n_together]) == sum(passes[n_together:]) == 60
    assert n_together <= 3
    assert len({token.probability for tokens in alone for token in tokens}) > 2
    for one, other in zip(together, alone, strict=True):
        assert [(token.start, token.end) for token in one] == [(token.start, token.end) for token in other]
        assert [token.probability for token in one] == pytest.approx([token.probability for token in other], abs=1e-5)


def test_judgements_at_the_same_time_share_forward_passes(folder: Path, passes: list[int]) -> None:
    judge = LocalJudge(str(folder))
    judgements = judged(judge, *(f"You have {number} days." for number in range(100)))
    assert sum(passes) == 100
    assert len(passes) < 20
    supported = [number for number, judgement in enumerate(judgements) if judgement.groundedness == 1.0]
    assert supported == [1, 2, 30, 90]


def edit_config(folder: Path, **said: Any) -> None:
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps({**config, **said}), encoding="utf-8")


def no_config(folder: Path) -> None:
    (folder / "config.json").unlink()


def broken_config(folder: Path) -> None:
    (folder / "config.json").write_text("{", encoding="utf-8")


def another_kind(folder: Path) -> None:
    edit_config(folder, architectures=["BertForMaskedLM"])


def remote_code(folder: Path) -> None:
    (folder / "mine.py").write_text(f"open({str(folder / 'ran')!r}, 'w').close()\n", encoding="utf-8")
    modules = {"AutoConfig": "mine.Mine", "AutoModelForTokenClassification": "mine.Mine"}
    edit_config(folder, model_type="mine", auto_map=modules)


def no_head(folder: Path) -> None:
    torch: Any = import_module("safetensors.torch")
    weights = torch.load_file(folder / "model.safetensors")
    kept = {name: tensor for name, tensor in weights.items() if not name.startswith("classifier")}
    torch.save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})


def no_object(folder: Path) -> None:
    (folder / "config.json").write_text("[]", encoding="utf-8")


def tokenizers_code(folder: Path) -> None:
    (folder / "mine.py").write_text(f"open({str(folder / 'ran')!r}, 'w').close()\n", encoding="utf-8")
    said = {"tokenizer_class": "Mine", "auto_map": {"AutoTokenizer": ["mine.Mine", "mine.Mine"]}}
    (folder / "tokenizer_config.json").write_text(json.dumps(said), encoding="utf-8")


def pointers(folder: Path) -> None:
    """The files of a clone by git without git-lfs."""
    (folder / WEIGHTS).write_text("version https://git-lfs.github.com/spec/v1\n", encoding="utf-8")


def broken_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").write_text("{", encoding="utf-8")


def quantized(folder: Path) -> None:
    edit_config(folder, quantization_config={"quant_method": "new"})


def more_positions(folder: Path) -> None:
    edit_config(folder, max_position_embeddings=600)


def sharded(folder: Path) -> None:
    model = import_module("transformers").AutoModelForTokenClassification.from_pretrained(folder)
    (folder / WEIGHTS).unlink()
    model.save_pretrained(folder, max_shard_size="40KB")


def pickled_shard(folder: Path) -> None:
    name_shard(folder, "model.bin")


def shard_elsewhere(folder: Path) -> None:
    name_shard(folder, "../model.safetensors")


def name_shard(folder: Path, shard: str) -> None:
    sharded(folder)
    index = json.loads((folder / INDEX).read_text(encoding="utf-8"))
    index["weight_map"]["classifier.bias"] = shard
    (folder / INDEX).write_text(json.dumps(index), encoding="utf-8")


def no_weight_map(folder: Path) -> None:
    sharded(folder)
    (folder / INDEX).write_text("{}", encoding="utf-8")


def no_shard(folder: Path) -> None:
    sharded(folder)
    (folder / "model-00002-of-00007.safetensors").unlink()


def no_weights(folder: Path) -> None:
    (folder / "model.safetensors").unlink()


def no_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (shutil.rmtree, "there is no such folder. Name a folder, or a model on the hub such as KRLabsOrg/"),
        (no_config, "its folder has no config.json. Name a token classifier with that file, such as KRLabsOrg/"),
        (broken_config, "its config.json cannot be read: JSONDecodeError: Expecting property name enclosed in double"),
        (no_object, "does not have its model_type None, and code from a model's folder is never run"),
        (tokenizers_code, "its tokenizer needs code from its folder, which is never run. Choose another model"),
        (pointers, "its model.safetensors cannot be read: SafetensorError: "),
        (broken_tokenizer, "its tokenizer.json cannot be read: JSONDecodeError: Expecting property name enclosed in "),
        (quantized, "its weights are quantized, which the local judge does not read. Choose the original model"),
        (
            more_positions,
            "position_embeddings.weight do not have the shape that config.json says. Download the model again",
        ),
        (pickled_shard, "its model.safetensors.index.json names 'model.bin', not a file of the folder whose name "),
        (shard_elsewhere, "its model.safetensors.index.json names '../model.safetensors', not a file of the folder "),
        (no_weight_map, "its model.safetensors.index.json has no readable weight_map (KeyError('weight_map'))"),
        (no_shard, "its folder has no model-00002-of-00007.safetensors. Name a token classifier with that file, such "),
        (another_kind, "it is not a token classifier (its architectures: BertForMaskedLM). Choose one that marks "),
        (remote_code, "'mine', and code from a model's folder is never run. Choose another model, or install a newer"),
        (no_head, "its weights lack classifier.bias, classifier.weight, so it is not a trained token classifier"),
        (no_weights, "its folder has no model.safetensors. Name a token classifier with that file, such as "),
        (no_tokenizer, "its folder has no tokenizer.json. Name a token classifier with that file, such as "),
    ],
)
def test_a_folder_that_cannot_be_used_is_an_error_that_says_why(
    folder: Path, tmp_path: Path, spoil: Any, problem: str
) -> None:
    spoilt = Path(shutil.copytree(folder, tmp_path / "spoilt"))
    spoil(spoilt)
    judge = LocalJudge(str(spoilt))
    for _ in range(2):
        with pytest.raises(JudgeError) as caught:
            judged(judge, "You have 30 days.")
        assert str(caught.value).startswith(f"the model {str(spoilt)!r} of rag_judge_model cannot be loaded: ")
        assert problem in str(caught.value)
    assert not (spoilt / "ran").exists()


def pickles_elsewhere(folder: Path) -> None:
    (folder / "adapter_model.bin").write_bytes(b"cos\nsystem\n")
    edit_config(folder, transformers_weights="adapter_model.bin")


def attention_of_the_hub(folder: Path) -> None:
    edit_config(folder, attn_implementation="someone/attention", _attn_implementation="someone/attention")


@pytest.mark.parametrize("change", [sharded, pickles_elsewhere, attention_of_the_hub])
def test_a_folder_of_another_kind_is_read_as_the_plain_one_is(folder: Path, tmp_path: Path, change: Any) -> None:
    copy = Path(shutil.copytree(folder, tmp_path / "changed"))
    change(copy)
    answer = claimed("You have 60 days, members 90 days.")
    assert found(TokenClassifier(str(copy)), answer) == found(TokenClassifier(str(folder)), answer)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_a_model_in_half_precision_is_computed_in_single_precision(tmp_path: Path, dtype: str) -> None:
    torch: Any = import_module("torch")
    copy = make_modernbert(tmp_path / "half")
    edit_config(copy, dtype=dtype, torch_dtype=dtype)
    safetensors: Any = import_module("safetensors.torch")
    weights = {name: each.to(getattr(torch, dtype)) for name, each in safetensors.load_file(copy / WEIGHTS).items()}
    safetensors.save_file(weights, copy / WEIGHTS, metadata={"format": "pt"})
    model = TokenClassifier(str(copy))
    answers = [claimed("You have 60 days.", *["Members have 90 days."] * size) for size in range(1, 30, 7)]
    for one, answer in zip(found(model, *answers), answers, strict=True):
        (alone,) = found(model, answer)
        assert [token.probability for token in one] == pytest.approx([token.probability for token in alone], abs=1e-5)


def test_weights_that_are_not_numbers_give_an_error_and_no_score(folder: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(folder, tmp_path / "damaged"))
    safetensors: Any = import_module("safetensors.torch")
    weights = safetensors.load_file(copy / WEIGHTS)
    weights["classifier.weight"][1] = float("nan")
    safetensors.save_file(weights, copy / WEIGHTS, metadata={"format": "pt"})
    with pytest.raises(JudgeError) as caught:
        judged(LocalJudge(str(copy)), "You have 30 days.")
    assert str(caught.value) == (
        f"the model {str(copy)!r} of rag_judge_model gave probabilities that are not numbers. Its weights may be "
        "damaged: download the model again, or choose another one"
    )


def test_the_positions_of_roberta_that_are_not_for_tokens_are_kept_free(tmp_path: Path) -> None:
    model = TokenClassifier(str(make_roberta(tmp_path / "roberta")))
    for size in range(60, 75):
        (tokens,) = found(model, claimed("30 days", "days " * size))
        assert len(tokens) == 2
    vectors = asyncio.run(LocalEmbeddings(str(tmp_path / "roberta")).embed(["days " * 200]))
    assert len(vectors["days " * 200]) == 16


def test_a_special_token_in_a_text_is_text(folder: Path) -> None:
    model = TokenClassifier(str(folder))
    answer = claimed("The [MASK] is [SEP] 60.", "Within [SEP] 30 days.")
    (tokens,) = found(model, answer)
    places = [answer.answer[token.start : token.end] for token in tokens]
    assert places == ["The", "[", "MASK", "]", "is", "[", "SEP", "]", "60", "."]
    assert marked(model, answer) == ["60"]


def test_an_answer_without_a_token_has_no_score(folder: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(folder, tmp_path / "deaf"))
    tokenizer = json.loads((copy / "tokenizer.json").read_text(encoding="utf-8"))
    split = {"type": "Split", "pattern": {"String": "Free"}, "behavior": "Removed", "invert": False}
    tokenizer["pre_tokenizer"], tokenizer["normalizer"] = split, None
    said = json.dumps({"tokenizer_class": "PreTrainedTokenizerFast"})
    (copy / "tokenizer_config.json").write_text(said, encoding="utf-8")
    (copy / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    with pytest.raises(JudgeError) as caught:
        judged(LocalJudge(str(copy)), "Free")
    assert str(caught.value) == (
        "the tokenizer of 'deaf' has no token for the answer 'Free'. Choose another model as rag_judge_model"
    )


def test_tokens_at_the_same_place_are_judged_apart(tmp_path: Path) -> None:
    """The bytes of an emoji: it is unsupported if one of its tokens is."""
    copy = make_modernbert(tmp_path / "bytes")
    tokenizer = json.loads((copy / "tokenizer.json").read_text(encoding="utf-8"))
    bytes_of_the_emoji = "\u00f0\u0141\u013a\u0122"
    words = [*SPECIAL, *"Ja", "\u0120", *bytes_of_the_emoji]
    tokenizer["pre_tokenizer"] = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    tokenizer["normalizer"] = None
    tokenizer["model"] = {
        "type": "BPE",
        "vocab": {word: number for number, word in enumerate(words)},
        "merges": [],
        "unk_token": "[UNK]",
    }
    (copy / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    (tokens,) = found(TokenClassifier(str(copy)), claimed("Ja 😀"))
    assert [(token.start, token.end) for token in tokens] == [(0, 1), (1, 2), (2, 3), (3, 4), (3, 4), (3, 4), (3, 4)]
    assert len({token.probability for token in tokens}) == 7


def test_a_tokenizer_of_another_model_is_an_error_of_the_judge(folder: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(folder, tmp_path / "mixed"))
    tokenizer = json.loads((copy / "tokenizer.json").read_text(encoding="utf-8"))
    tokenizer["model"]["vocab"]["zebra"] = 5000
    (copy / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    horse, zebra, mule = TokenClassifier(str(copy)).tokens(
        [claimed(f"The {animal} has 30 days.") for animal in ("horse", "zebra", "mule")]
    )
    assert isinstance(zebra, JudgeError)
    assert "of rag_judge_model failed at an input of " in str(zebra)
    assert str(zebra).endswith("Check that the tokenizer is its own, or choose a smaller model")
    assert isinstance(horse, list)
    assert isinstance(mule, list)
    assert len(horse) == len(mule) == 6


def test_embeddings_of_a_folder_without_a_tokenizer_are_an_error(tmp_path: Path, folder: Path) -> None:
    copy = Path(shutil.copytree(folder, tmp_path / "untold"))
    no_tokenizer(copy)
    with pytest.raises(JudgeError, match="of rag_embedding_model cannot be loaded: "):
        asyncio.run(LocalEmbeddings(str(copy)).embed(["thirty days"]))


def test_a_model_with_other_labels_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(JudgeError, match="it has 5 labels, not the two of a model that marks unsupported words"):
        judged(LocalJudge(str(make_classifier(tmp_path / "named", n_labels=5))), "You have 30 days.")


def test_the_identity_names_the_model_and_both_versions_and_the_fingerprint_follows_the_files(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = Path(shutil.copytree(folder, tmp_path / "tiny"))
    judge = LocalJudge(str(copy))
    offline = choose_judge(Settings.of(judge="offline"))
    assert offline is not None
    version = offline.identity.prompt_version  # type: ignore[attr-defined]  # the offline judge has one
    assert (judge.identity.kind, judge.identity.model) == ("local", "tiny")
    assert judge.identity.prompt_version == f"local-1+{version}"
    assert judge.fingerprint
    assert LocalJudge(str(copy)).fingerprint == judge.fingerprint
    edit_config(copy, changed=True)
    assert LocalJudge(str(copy)).fingerprint != judge.fingerprint
    missing = LocalJudge("nobody/not-downloaded")
    assert missing.fingerprint == ""
    monkeypatch.setattr(import_module("huggingface_hub.constants"), "HF_HUB_OFFLINE", True)
    with pytest.raises(JudgeError) as caught:
        judged(missing, "You have 30 days.")
    assert str(caught.value).startswith(
        "the model 'nobody/not-downloaded' of rag_judge_model cannot be loaded: there is no such folder, and the hub "
        "gave no such model (LocalEntryNotFoundError: Cannot find "
    )
    assert str(caught.value).endswith(
        "). Name a folder, or download a model such as KRLabsOrg/lettucedect-base-modernbert-en-v1 once with a network"
    )


OFFLINE_RUN = """
import asyncio
from pytest_ragcheck.judging.embeds import LocalEmbeddings
from pytest_ragcheck.judging.local_judge import LocalJudge
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer

judge = LocalJudge("someone/tiny")
question = Question(dataset_name="d", id="q", question="How long?")
answer = RagAnswer(text="You have 60 days.", contexts=("Within 30 days.",))
print(len(asyncio.run(LocalEmbeddings("someone/tiny").embed(["30 days"]))))
print(bool(judge.fingerprint), judge.identity.model, asyncio.run(judge.judge(question, answer)).unsupported_claims)
"""


@pytest.mark.parametrize("change", [lambda _: None, sharded])
def test_a_name_whose_model_was_downloaded_needs_no_network(folder: Path, tmp_path: Path, change: Any) -> None:
    commit = "0123456789abcdef0123456789abcdef01234567"
    cache = tmp_path / "hub" / "models--someone--tiny"
    change(Path(shutil.copytree(folder, cache / "snapshots" / commit)))
    (cache / "refs").mkdir()
    (cache / "refs" / "main").write_text(commit, encoding="utf-8")
    environment = {"HF_HUB_CACHE": str(tmp_path / "hub"), "HF_ENDPOINT": "http://127.0.0.1:9", "PATH": ""}
    ran = subprocess.run(
        [sys.executable, "-c", OFFLINE_RUN], env=environment, capture_output=True, text=True, check=True, timeout=120
    )
    assert ran.stdout == "1\nTrue someone/tiny ('60',)\n"
    assert ran.stderr == ""


DOWNLOADING_RUN = """
import asyncio, os
from pathlib import Path
from pytest_ragcheck.judging.local_judge import LocalJudge
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer

question = Question(dataset_name="d", id="q", question="How long?")
answer = RagAnswer(text="You have 60 days.", contexts=("Within 30 days.",))
for _ in range(2):
    judge = LocalJudge("someone/tiny")
    print(bool(judge.fingerprint), asyncio.run(judge.judge(question, answer)).unsupported_claims)
    for file in Path(os.environ["HF_HUB_CACHE"]).rglob("tokenizer.json"):
        file.unlink()
"""


def test_a_model_is_downloaded_without_pickles_and_code_and_a_lost_file_again(folder: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(folder, tmp_path / "someone"))
    sharded(copy)
    files = {file.name for file in copy.iterdir()}
    for name in ("pytorch_model.bin", "modeling_tiny.py", "README.md"):
        (copy / name).write_bytes(b"")
    with FakeHub(copy) as hub:
        environment = {"HF_HOME": str(tmp_path), "HF_HUB_CACHE": str(tmp_path / "hub"), "HF_ENDPOINT": hub.url}
        command = [sys.executable, "-c", DOWNLOADING_RUN]
        ran = subprocess.run(
            command, env={**environment, "PATH": ""}, capture_output=True, text=True, check=False, timeout=120
        )
    assert (ran.stdout, ran.stderr) == ("False ('60',)\nTrue ('60',)\n", "")
    assert set(hub.downloaded) == files


ENDING_RUN = """
import asyncio, atexit, sys, threading
passes = []
atexit.register(lambda: print(len(passes)))  # after all that is registered later
from contextlib import suppress
from pytest_ragcheck.errors import JudgeError
from pytest_ragcheck.judging.local_judge import LocalJudge
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer

import torch
judge = LocalJudge(sys.argv[1])
question = Question(dataset_name="d", id="q", question="How long?")
answer = RagAnswer(text="You have 60 days.", contexts=("Within 30 days. " * 20_000,))
began = threading.Event()

def note(module, _):
    if type(module).__name__.endswith("ForTokenClassification"):
        passes.append(1)
        began.set()

torch.nn.modules.module.register_module_forward_pre_hook(note)

def judge_it():
    with suppress(JudgeError):  # the judge was closed
        asyncio.run(judge.judge(question, answer))

threading.Thread(target=judge_it, daemon=True).start()
assert began.wait(60)
if sys.argv[2] == "closed":
    asyncio.run(judge.aclose())
sys.exit(3)
"""


@pytest.mark.parametrize("judge", ["closed", "of a fixture"])
def test_a_process_that_ends_during_a_forward_pass_waits_for_no_other(folder: Path, judge: str) -> None:
    command = [sys.executable, "-c", ENDING_RUN, str(folder), judge]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert (ran.returncode, ran.stderr) == (3, "")
    # Of about 13 for the 80,000 tokens of the context.
    assert int(ran.stdout) < 5
