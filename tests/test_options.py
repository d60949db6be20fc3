"""
The options, and their reference page, which is written from them:

    python -m tests.test_options
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.given import Given, read_settings
from pytest_ragcheck.metrics.catalogue import ASSERTABLE, GROUPS, METRICS, OVERALL, listed
from pytest_ragcheck.option_numbers import (
    read_count,
    read_delay,
    read_fraction,
    read_number,
    read_price,
    read_seconds,
    read_shard,
    read_usd,
)
from pytest_ragcheck.option_values import (
    read_base_url,
    read_baseline_place,
    read_dataset,
    read_embedding_model,
    read_gate,
    read_group,
    read_header,
    read_html_path,
    read_judge,
    read_keep,
    read_minimum,
    read_missing,
    read_model,
    read_name,
    read_on_off,
    read_other_baseline,
    read_path,
    read_request,
    read_response,
    read_shape,
    read_tier,
    read_url,
    read_weight,
)
from pytest_ragcheck.options import OPTIONS, Option
from pytest_ragcheck.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "options.md"
WEIGHABLE = listed(metric for metric in METRICS if metric != OVERALL)
HEADING = "## All options\n"

REFUSED: dict[Callable[[str], object], str] = {
    read_url: "localhost:8000",
    read_base_url: "localhost:8000",
    read_fraction: "70 %",
    read_minimum: "f2=0.5",
    read_judge: "gpt",
    read_group: "+raga",
    read_weight: "f1",
    read_name: " ",
    read_path: " ",
    read_html_path: "report.pdf",
    read_header: "Bearer abc",
    read_model: "roberta-large@last",
    read_embedding_model: "local:",
    read_shape: "chat",
    read_tier: "retrieval",
    read_keep: "sometimes",
    read_request: '{"input": "{question}"}',
    read_response: "answer=result.text contexts=references[",
    read_count: "0",
    read_seconds: "60 s",
    read_delay: "-1",
    read_number: "two",
    read_on_off: "yes",
    read_price: "0.25",
    read_usd: "free",
    read_shard: "5/4",
    read_gate: "rate:2",
    read_baseline_place: "git:main",
    read_missing: "ignored",
    read_other_baseline: "force",
    read_dataset: "ragbench covidqa",
}
"""A text that each reader refuses."""

BY_NAME = {option.name: option for option in OPTIONS}


def refusal(option: Option) -> str:
    """The error text for what the option refuses, given where it can be given."""
    text: Any = REFUSED[option.read]
    given = Given(text if option.kind == "text" else [text], place(option))
    with pytest.raises(UsageError) as caught:
        read_settings({option.name: given}, environment={})
    return str(caught.value)


def place(option: Option) -> str:
    return option.switch if option.flag else f"{option.name} in pytest.ini"


def described(option: Option) -> str:
    """The option's section of the page."""
    ways = [f"`{option.switch}`" if option.kind == "switch" else f"`{option.switch}={option.metavar}`"]
    ways = (ways if option.flag else []) + [f"ini `{option.name}`"]
    ways += [f"environment `{option.environment}`"] if option.environment else []
    several = {
        "words": "Several may be given: on the command line by repeating it, in the ini file separated by blanks.",
        "lines": "Several may be given, one a line.",
    }
    lines = [
        f"### {option.name}",
        "",
        option.help,
        f"Given by {', '.join(ways)}.",
        f"Default: {option.default_shown or 'none'}.",
        *filter(None, [several.get(option.kind)]),
    ]
    if option.kind != "switch":
        lines += ["", "```text", refusal(option), "```"]
    return "\n".join(lines) + "\n"


def sections() -> str:
    return HEADING + "\n" + "\n".join(map(described, OPTIONS))


def test_the_reference_page_says_what_the_options_say() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page[page.index(HEADING) :] == sections(), "run: python -m tests.test_options"


def test_every_environment_variable_that_is_read_is_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    variables = {option.environment for option in OPTIONS if option.environment}
    for variable in variables | {"RAGCHECK_JUDGE_API_KEY", "OPENAI_API_KEY"}:
        assert f"`{variable}`" in page


def test_names_are_unique_and_of_one_form() -> None:
    names = [option.name for option in OPTIONS]
    assert len(set(names)) == len(names)
    assert all(name.startswith("rag_") and name.isidentifier() for name in names)
    assert all(option.switch == "--" + option.name.replace("_", "-") for option in OPTIONS)


# That of rag_judge depends on what else is given.
WITH_DEFAULT = [name for name, o in BY_NAME.items() if o.default_shown and o.kind == "text" and name != "rag_judge"]


@pytest.mark.parametrize("name", WITH_DEFAULT)
def test_the_default_that_is_shown_is_the_default_that_there_is(name: str) -> None:
    default = getattr(Settings(), BY_NAME[name].field)
    assert BY_NAME[name].read(BY_NAME[name].default_shown) == (str(default) if isinstance(default, Path) else default)


def test_every_option_ends_in_a_setting() -> None:
    fields = set(Settings.__dataclass_fields__)
    assert {option.field for option in OPTIONS} <= fields


@pytest.mark.parametrize(
    ("option", "given", "value"),
    [
        ("rag_url", "HTTPS://bob:x@Example.org:8443/q?k=5", "HTTPS://bob:x@Example.org:8443/q?k=5"),
        ("rag_url", "http://[::1]:8000", "http://[::1]:8000"),
        ("rag_threshold", "0", 0.0),
        ("rag_threshold", "1", 1.0),
        ("rag_threshold", ".75", 0.75),
        ("rag_min", "f1=0.5", ("f1", 0.5)),
        ("rag_min", "groundedness = 1", ("groundedness", 1.0)),
        ("rag_judge", "none", "none"),
        ("rag_weights", "abstained = 2", ("abstained", 2.0)),
        ("rag_top_k", "12", 12),
        ("rag_timeout", "0.5", 0.5),
        ("rag_agent", "  gpt 4 ", "gpt 4"),
        ("rag_headers", "X-Key :  a: b", ("X-Key", "a: b")),
    ],
)
def test_a_text_is_read_as_its_value(option: str, given: str, value: object) -> None:
    assert BY_NAME[option].read(given) == value


@pytest.mark.parametrize(
    ("option", "given", "problem"),
    [
        ("rag_url", "", "is not a URL; write it whole, such as http://localhost:8000/query"),
        ("rag_base_url", "h", "is not a URL; write it whole, such as http://localhost:8000/v1"),
        ("rag_judge_url", "h", "is not a URL; write it whole, such as http://localhost:8000/v1"),
        ("rag_embedding_url", "h", "is not a URL; write it whole, such as http://localhost:8000/v1"),
        ("rag_url", "ftp://h/q", "is not a URL; write it whole, such as http://localhost:8000/query"),
        ("rag_url", "http://", "is not a URL; write it whole, such as http://localhost:8000/query"),
        ("rag_url", "http://bob@", "is not a URL; write it whole, such as http://localhost:8000/query"),
        ("rag_url", "http://h:99999/q", "is not a URL; write it whole, such as http://localhost:8000/query"),
        ("rag_url", "http://h:0/q", "is not a URL; write it whole, such as http://localhost:8000/query"),
        ("rag_url", "http://[::1/q", "is not a URL; write it whole, such as http://localhost:8000/query"),
        ("rag_url", "http://h/a b", "is not a URL; write it whole, such as http://localhost:8000/query"),
        ("rag_threshold", "nan", "is not a number from 0 to 1; write one such as 0.7"),
        ("rag_threshold", "70", "is not a number from 0 to 1; write one such as 0.7"),
        ("rag_threshold", "-0.1", "is not a number from 0 to 1; write one such as 0.7"),
        ("rag_min", "0.5", "is not of the form METRIC=VALUE; write it such as f1=0.5"),
        ("rag_min", "f1=inf", "is not a number from 0 to 1; write one such as 0.7"),
        ("rag_min", "grounded=1", "names no metric that can be asserted; did you mean 'groundedness'?"),
        (
            "rag_min",
            "must_mention=1",
            f"names no metric that can be asserted; choose one of {listed(ASSERTABLE)}",
        ),
        ("rag_metrics", "+overlapp", "is no group of metrics; did you mean 'overlap'?"),
        ("rag_weights", "0.5", "is not of the form METRIC=WEIGHT; write it such as f1=2"),
        ("rag_weights", "f1=", "has no weight above 0; write it such as f1=2"),
        ("rag_weights", "f1=0", "has no weight above 0; write it such as f1=2"),
        ("rag_weights", "f1=inf", "has no weight above 0; write it such as f1=2"),
        ("rag_weights", "grounded=1", "names no metric that can have a weight; did you mean 'groundedness'?"),
        (
            "rag_weights",
            "overall_score=1",
            f"names no metric that can have a weight; choose one of {WEIGHABLE}",
        ),
        ("rag_metrics", "", f"is no group of metrics; choose one of {', '.join(GROUPS)}"),
        ("rag_top_k", "5.0", "is not a whole number from 1; write one such as 5"),
        ("rag_top_k", "٥", "is not a whole number from 1; write one such as 5"),
        ("rag_timeout", "0", "is not a number of seconds above 0; write one such as 60"),
        ("rag_timeout", "inf", "is not a number of seconds above 0; write one such as 60"),
        (
            "rag_judge",
            "",
            "is not a judge; choose one of openai, offline, ragas, none, or override the rag_judge fixture",
        ),
        (
            "rag_embedding_model",
            " local: ",
            "names no model; write it such as local:sentence-transformers/all-MiniLM-L6-v2",
        ),
        (
            "rag_bertscore_model",
            "m@0",
            "is not of the form MODEL or MODEL@LAYER; write it such as roberta-large@17",
        ),
        ("rag_agent", "\t", "is blank; leave it out, or write a name"),
        (
            "rag_headers",
            "X Y: z",
            "is not of the form 'Name: value'; write it such as 'Authorization: Bearer {env:RAG_TOKEN}'",
        ),
        (
            "rag_headers",
            "Authorization:",
            "is not of the form 'Name: value'; write it such as 'Authorization: Bearer {env:RAG_TOKEN}'",
        ),
    ],
)
def test_a_text_that_cannot_be_read_is_refused_with_what_to_write(option: str, given: str, problem: str) -> None:
    with pytest.raises(ValueError, match=r"\A\w") as caught:
        BY_NAME[option].read(given)
    assert str(caught.value) == problem


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(text[: text.index(HEADING)] + sections(), encoding="utf-8")
