"""The example server cuts documents into passages and quotes from them."""

from __future__ import annotations

import pytest

from .conftest import REFUSAL, RunningServer, Serve

GUIDE = """\
# Guide

A first sentence about guides.

## Install ##

Install the package with this command:

```sh
# not a heading
pip install parcel

parcel --check
```

## Options

| option | default | meaning |
|---|:---:|---|
| `--limit` | 60 s | How long a parcel may travel. |
| `--colour` | | What [colour](https://colours.example/all) the box has: red \\| blue. |

### Exit status

The exit status says how the delivery went:

- 0: delivered.
- 1: the address is wrong.
  The parcel goes back then.
* 2: nobody was at home.

#### Deep

Deep water.

## History

<!-- Nobody shall
read this secret. -->
The first parcel was sent in 1854 by J. Smith, e.g. to test carriers. It weighed 4 kilograms! "Heavy," said Smith.
The **second parcel** was sent a year
later from *Oslo*.

> Quoted wisdom about strings.

Setting `parcel_top_weight` limits what a box holds.
"""


@pytest.fixture(scope="module")
def server(serve: Serve) -> RunningServer:
    return serve({"guide.md": GUIDE})


@pytest.mark.parametrize(
    ("query", "lines"),
    [
        ("guides", ["Guide", "A first sentence about guides."]),
        (
            "install command",
            [
                "Guide > Install",
                "Install the package with this command:",
                "```sh",
                "# not a heading",
                "pip install parcel",
                "",
                "parcel --check",
                "```",
            ],
        ),
        (
            "option limit",
            [
                "Guide > Options",
                "option: `--limit`; default: 60 s; meaning: How long a parcel may travel.",
                "option: `--colour`; meaning: What colour the box has: red | blue.",
            ],
        ),
        (
            "delivery status",
            [
                "Guide > Options > Exit status",
                "The exit status says how the delivery went:",
                "0: delivered.",
                "1: the address is wrong.",
                "The parcel goes back then.",
                "2: nobody was at home.",
            ],
        ),
        ("water", ["Guide > Options > Exit status > Deep", "Deep water."]),
        (
            "strings",
            [
                "Guide > History",
                "The first parcel was sent in 1854 by J. Smith, e.g. to test carriers.",
                "It weighed 4 kilograms!",
                '"Heavy," said Smith.',
                "The second parcel was sent a year later from *Oslo*.",
                "Quoted wisdom about strings.",
                "Setting `parcel_top_weight` limits what a box holds.",
            ],
        ),
    ],
)
def test_a_section_is_a_passage_of_whole_statements_under_its_headings(
    server: RunningServer, query: str, lines: list[str]
) -> None:
    assert server.ask(query, top_k=1)["contexts"] == ["\n".join(lines)]


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        (
            "How do I install the package?",
            "Install the package with this command:\n```sh\n# not a heading\npip install parcel\n\nparcel --check\n```",
        ),
        (
            "What is the default of --limit?",
            "option: `--limit`; default: 60 s; meaning: How long a parcel may travel.",
        ),
        ("Which exit status says that nobody was at home?", "2: nobody was at home."),
        ("What does parcel-top-weight limit?", "Setting `parcel_top_weight` limits what a box holds."),
        # The question's words stand in the sentence before the one that answers it.
        (
            "How many kilograms did the first parcel weigh?",
            "The first parcel was sent in 1854 by J. Smith, e.g. to test carriers. It weighed 4 kilograms!",
        ),
        ("Where was the second parcel sent from?", "The second parcel was sent a year later from *Oslo*."),
        ("What is the secret that nobody shall read?", REFUSAL),
    ],
)
def test_the_statement_that_answers_is_quoted(server: RunningServer, query: str, answer: str) -> None:
    assert server.answer(query) == answer


def test_a_long_section_is_cut_between_statements_and_keeps_its_headings(serve: Serve) -> None:
    sentences = [f"Sentence number {number} tells about the long long road." for number in range(60)]
    contexts = serve({"long.md": "# Roads\n\n" + "\n".join(sentences)}).ask("road", top_k=100)["contexts"]
    assert len(contexts) > 1
    assert max(map(len, contexts)) < 900
    lines = [context.split("\n") for context in contexts]
    assert {heading for heading, *_ in lines} == {"Roads"}
    assert sorted(line for _, *rest in lines for line in rest) == sorted(sentences)


def test_a_skipped_or_closed_heading_level_leaves_no_trace(serve: Serve) -> None:
    server = serve({"levels.md": "### Deep\n\nOne fish.\n\n# Top\n\nTwo frogs.\n\n### Low\n\nThree birds.\n"})
    assert server.ask("fish")["contexts"] == ["Deep\nOne fish."]
    assert server.ask("frogs")["contexts"][0] == "Top\nTwo frogs."
    assert server.ask("birds")["contexts"] == ["Top > Low\nThree birds."]


def test_odd_markdown_loses_no_text(serve: Serve) -> None:
    server = serve(
        {
            "odd.md": "| lonely pipe |\n\n|---|\n\nwolf\n\n~~~\nunclosed ``` badger",
            "table.md": "| otter | 3 |\n| beaver | 4 |\n",
            "names.md": "#\tC#\n\n|| name |\n|-|-|\n|| marten |\n",
            "nested.md": "1. Steps for the heron:\n   ```yaml\n   heron:\n     legs: 2\n   ```\n",
        }
    )
    assert server.ask("lonely badger")["contexts"] == ["lonely pipe\nwolf\n~~~\nunclosed ``` badger\n~~~"]
    assert server.ask("marten")["contexts"] == ["C#\nname: marten"]
    assert server.answer("beaver?") == "beaver; 4"
    assert server.answer("heron legs?") == "Steps for the heron:\n```yaml\nheron:\n  legs: 2\n```"
