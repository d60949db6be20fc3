"""
The options, and their reference page, which is written from them:

    python -m tests.config.test_options
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.config.metric_readers import (
    read_chance,
    read_count,
    read_delay,
    read_fraction,
    read_group,
    read_maximum,
    read_minimum,
    read_number,
    read_price,
    read_seconds,
    read_shard,
    read_usd,
    read_weight,
)
from pytest_ragcheck.config.readers import (
    read_base_url,
    read_baseline_place,
    read_dataset,
    read_difference,
    read_embedding_model,
    read_gate,
    read_header,
    read_identity,
    read_judge,
    read_name,
    read_parameters,
    read_path,
    read_report,
    read_request,
    read_response,
    read_sample,
    read_shape,
    read_step,
    read_stream,
    read_switch,
    read_tier,
    read_url,
)
from pytest_ragcheck.config.resolve import read_settings
from pytest_ragcheck.config.settings import Settings
from pytest_ragcheck.config.table import TABLE, Given, Setting
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.package_text import package_text
from pytest_ragcheck.scores import ASSERTABLE, GROUPS, METRICS, OVERALL, listed

if TYPE_CHECKING:
    from collections.abc import Callable

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "options.md"
OWN = ", or one of your own from the hook pytest_ragcheck_metrics or Settings.of(own_metrics=[...])"
WEIGHABLE = listed(metric for metric in METRICS if metric != OVERALL)
HEADING = "## All options\n"
HELP: dict[str, str] = json.loads(package_text("config/help.json"))
PURPOSES = {
    "Connect your system": "url base_url headers identities shape request response stream top_k agent require_endpoint",
    "Choose the questions": "question_files dataset samples shard tier ingest",
    "Choose the judge": "judge judge_model judge_url judge_headers judge_parameters judge_prompt judge_repeats "
    "judge_price calibration",
    "Choose the metrics": "metrics embedding_model weights",
    "Decide what passes": "threshold min max",
    "Compare with earlier runs": "baseline gate false_alarms baseline_allow",
    "Set the pace": "concurrency judge_concurrency delay timeout retries",
    "Repeat, resume or replay a run": "repeats resume replay disable",
    "Limit the cost": "dry_run max_cost",
    "Write the results": "output report",
}
"""The settings on the page, by their purpose."""

MODEL_AND_LAYER = (
    "name a model and a layer; write a folder or a name on the hub, and a layer if not the last, "
    "such as +bertscore=roberta-large@17"
)

REFUSED: dict[Callable[[str], object], tuple[str, str]] = {
    read_url: ("localhost:8000", "'localhost:8000' is not a URL; write it whole, such as http://localhost:8000/query"),
    read_base_url: (
        "localhost:8000",
        "'localhost:8000' is not a URL; write it whole, such as http://localhost:8000/v1",
    ),
    read_chance: ("0", "'0' is not a number between 0 and 1; write one such as 0.01"),
    read_fraction: ("70 %", "'70 %' is not a number from 0 to 1; write one such as 0.7"),
    read_minimum: (
        "f2=0.5",
        f"'f2=0.5' names no metric that can be asserted; choose one of {listed(ASSERTABLE)}{OWN}",
    ),
    read_maximum: (
        "f1=2",
        "'f1=2' names no metric with a maximum; choose one of latency_seconds, first_token_seconds, cost_usd",
    ),
    read_judge: (
        "gpt",
        (
            "'gpt' is not a judge; choose one of openai, offline, local, ragas, none, "
            "or give your own in the rag_judge fixture or to evaluate"
        ),
    ),
    read_parameters: (
        "max_tokens=4096",
        "'max_tokens=4096' is not a JSON object; write, for example, {\"max_tokens\": 4096}",
    ),
    read_group: ("+raga", "'+raga' is not a group of metrics; did you mean 'ragas'?"),
    read_weight: ("f1", "'f1' is not of the form METRIC=WEIGHT; write, for example, f1=2"),
    read_name: (" ", "' ' is blank; write a name, or leave it out"),
    read_path: (" ", "' ' is blank; write a path, or leave it out"),
    read_report: ("report.pdf", "'report.pdf' ends in neither .html nor .md; name the report such as report.html"),
    read_identity: (
        "secret-token",
        (
            "a line is not of the form 'identity: Name: value'; write, for example, "
            "'alice: Authorization: Bearer {env:ALICE_TOKEN}'"
        ),
    ),
    read_header: (
        "Bearer abc",
        "a line is not of the form 'Name: value'; write, for example, 'Authorization: Bearer {env:RAG_TOKEN}'",
    ),
    read_embedding_model: (
        "local:",
        "'local:' names no model; write, for example, local:sentence-transformers/all-MiniLM-L6-v2",
    ),
    read_shape: (
        "chat",
        (
            "'chat' is not a shape; choose one of query, search-rag, server, openai-chat, dify, ragflow, "
            "open-webui, or describe another by rag_request and rag_response"
        ),
    ),
    read_tier: ("search", "'search' is not a tier; choose generation or retrieval or end_to_end"),
    read_request: (
        '{"input": "{question}"}',
        (
            '\'{"input": "{question}"}\' has no place for the question; write {query} where it goes, such as '
            '{"input": "{query}", "k": "{top_k}"}'
        ),
    ),
    read_stream: ("always", "'always' is not known; write auto or off"),
    read_response: (
        "answer=result.text contexts=references[",
        (
            "'answer=result.text contexts=references[' has a mistake: contexts=references[ ends too early for JMESPath "
            "(ragcheck docs how-to/own-endpoint-shape)"
        ),
    ),
    read_count: ("0", "'0' is not a whole number from 1; write one such as 5"),
    read_seconds: ("60 s", "'60 s' is not a number of seconds above 0; write one such as 60"),
    read_delay: ("-1", "'-1' is not a number of seconds from 0; write one such as 0.1"),
    read_number: ("two", "'two' is not a whole number from 0; write one such as 2"),
    read_sample: ("200@x", "'200@x' is not of the form NUMBER or NUMBER@SEED; write, for example, 200 or 200@7"),
    read_step: (
        "judge",
        (
            "'judge' is not a step that can be left out; choose from preflight, cache, prefetch, cleanup, "
            "cleanup-on-failure"
        ),
    ),
    read_price: ("0.25", "'0.25' is not two amounts of US dollars from 0; write, for example, 0.25 2.00"),
    read_usd: ("free", "'free' is not an amount of US dollars above 0; write one such as 0.50"),
    read_shard: ("5/4", "'5/4' is not part I of N; write, for example, 1/4, 2/4, 3/4, 4/4"),
    read_gate: (
        "rate:2",
        (
            "'rate:2' is not a gate; choose each, confirmed, regression, or one with a number from 0 to 1: "
            "regression:0.02 for a larger drop of a mean, rate:0.9 for a share of passing questions"
        ),
    ),
    read_baseline_place: (
        "git:main",
        "'git:main' is not git:REV:PATH; write, for example, git:origin/main:tests/baseline.json",
    ),
    read_difference: ("judge", "'judge' cannot be allowed; choose from missing-questions, other-settings"),
    read_dataset: (
        "ragbench covidqa",
        (
            "'ragbench covidqa' is not of the form NAME[:SUBSET][@SPLIT][=PATH]; write, for example, "
            "squad_v2=dev-v2.0.json or ragbench:covidqa@test"
        ),
    ),
}
"""A text that each reader refuses, and the error."""

BY_NAME = {setting.name: setting for setting in TABLE}


def refusal(setting: Setting) -> str:
    """The error text for a refused value of the option, from each place that can give it."""
    text: Any = REFUSED[setting.read][0]
    given = Given(text if setting.kind == "text" else [text], place(setting))
    with pytest.raises(UsageError) as caught:
        read_settings({setting.name: given}, environment={})
    return str(caught.value)


def place(setting: Setting) -> str:
    return setting.option if setting.on_command_line else f"{setting.name} in pytest.ini"


def described(setting: Setting) -> str:
    """The option's section of the page."""
    ways = []
    if setting.on_command_line:
        ways.append(f"`{setting.option}`" if setting.kind == "switch" else f"`{setting.option}={setting.metavar}`")
    if setting.environment:
        ways.append(f"`{setting.environment}`")
    several = {"words": "several", "lines": "several, one per line"}.get(setting.kind, "")
    facts = [
        " or ".join(ways),
        f"default {setting.shown_default}" if setting.shown_default and setting.kind != "switch" else "",
        several if "one per line" not in HELP[setting.name] else "",
    ]
    line = "; ".join(filter(None, facts))
    shown = [f"{line[0].upper()}{line[1:]}."] if line else []
    return "\n".join([f"#### {setting.name}", "", *shown, HELP[setting.name], ""])


def sections() -> str:
    links = []
    for purpose in PURPOSES:
        anchor = purpose.lower().replace(" ", "-").replace(",", "")
        links.append(f"[{purpose.lower()}](#{anchor})")
    parts = [HEADING, f"By what you want to do: {', '.join(links)}."]
    for purpose, keywords in PURPOSES.items():
        parts += [f"\n### {purpose}\n"]
        parts.append("\n".join(described(BY_NAME[f"rag_{keyword}"]) for keyword in keywords.split()).rstrip("\n"))
    return "\n".join(parts) + "\n"


def test_the_reference_page_says_what_the_options_say() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page[page.index(HEADING) :] == sections(), "run: python -m tests.config.test_options"


@pytest.mark.parametrize("setting", [each for each in TABLE if each.kind != "switch"], ids=lambda each: each.name)
def test_an_invalid_value_is_refused_with_its_place_and_what_to_write(setting: Setting) -> None:
    assert refusal(setting) == f"{place(setting)}: {REFUSED[setting.read][1]}"


def test_every_setting_has_one_purpose() -> None:
    listed_once = [f"rag_{keyword}" for keywords in PURPOSES.values() for keyword in keywords.split()]
    assert sorted(listed_once) == sorted(BY_NAME)


def test_every_setting_has_a_help_text() -> None:
    assert [*HELP] == [setting.name for setting in TABLE]


def test_there_are_at_most_fifty_settings() -> None:
    assert len(TABLE) <= 50


def test_every_environment_variable_that_is_read_is_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8") + PAGE.with_name("secrets.md").read_text(encoding="utf-8")
    variables = {setting.environment for setting in TABLE if setting.environment}
    for variable in variables | {"RAGCHECK_JUDGE_API_KEY", "OPENAI_API_KEY"}:
        assert f"`{variable}`" in page


def test_the_words_of_a_switch_are_read() -> None:
    page = PAGE.with_name("precedence.md").read_text(encoding="utf-8")
    ((*words, opposites),) = re.findall(r"takes `(\w+)`, `(\w+)`, `(\w+)` or `(\w+)` (and their opposites)", page)
    assert opposites
    for word in words:
        assert read_switch(word) is read_switch(word.upper()) is True


def test_names_are_unique_and_of_one_form() -> None:
    names = [setting.name for setting in TABLE]
    assert len(set(names)) == len(names)
    assert all(name.startswith("rag_") and name.isidentifier() for name in names)
    assert all(setting.option == "--" + setting.name.replace("_", "-") for setting in TABLE)


WITH_DEFAULT = [name for name, o in BY_NAME.items() if o.shown_default and o.kind == "text" and not o.default_text]


@pytest.mark.parametrize("name", WITH_DEFAULT)
def test_the_default_that_is_shown_is_the_default_that_there_is(name: str) -> None:
    assert BY_NAME[name].read(BY_NAME[name].shown_default) == BY_NAME[name].default


def test_every_option_ends_in_a_setting() -> None:
    assert {setting.path for setting in TABLE} <= Settings.of().values().keys()


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
        ("rag_judge_parameters", '{"a": 1, "extra_body": {"b": [2]}}', {"a": 1, "b": [2]}),
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
        (
            "rag_url",
            "/chat?key=s3cret",
            "is not a URL; write it whole, such as http://localhost:8000/chat (an app in this process gets its path)",
        ),
        ("rag_url", "", "is not a URL; write it whole, such as http://localhost:8000/query"),
        (
            "rag_url",
            "http://h/chat?code={env:CODE}",
            "has {env:NAME}, which only headers replace; set the whole URL by its variable, such as RAGCHECK_URL",
        ),
        ("rag_base_url", "h", "is not a URL; write it whole, such as http://localhost:8000/v1"),
        ("rag_judge_url", "h", "is not a URL; write it whole, such as http://localhost:8000/v1"),
        ("rag_embedding_model", "m@http://", "is not a URL; write it whole, such as http://localhost:8000/v1"),
        ("rag_embedding_model", "http://h/v1", "is not MODEL@URL; write, for example, bge-m3@http://localhost:8000/v1"),
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
        (
            "rag_threshold",
            "latency_seconds=2",
            ("is not a number from 0 to 1; write one such as 0.7; METRIC=VALUE is for --rag-min and --rag-max"),
        ),
        ("rag_min", "0.5", "is not of the form METRIC=VALUE; write, for example, f1=0.5"),
        ("rag_min", "f1=inf", "is not a number from 0 to 1; write one such as 0.7"),
        ("rag_min", "grounded=1", "names no metric that can be asserted; did you mean 'groundedness'?"),
        (
            "rag_min",
            "must_mention=1",
            f"names no metric that can be asserted; choose one of {listed(ASSERTABLE)}{OWN}",
        ),
        ("rag_metrics", "+overlapp", "is not a group of metrics; did you mean 'overlap'?"),
        ("rag_weights", "0.5", "is not of the form METRIC=WEIGHT; write, for example, f1=2"),
        ("rag_weights", "f1=", "has no weight above 0; write, for example, f1=2"),
        ("rag_weights", "f1=0", "has no weight above 0; write, for example, f1=2"),
        ("rag_weights", "f1=inf", "has no weight above 0; write, for example, f1=2"),
        ("rag_weights", "grounded=1", "names no metric that can have a weight; did you mean 'groundedness'?"),
        (
            "rag_weights",
            "overall_score=1",
            f"names no metric that can have a weight; choose one of {WEIGHABLE}{OWN}",
        ),
        ("rag_metrics", "", f"is not a group of metrics; choose one of {', '.join(GROUPS)}"),
        ("rag_top_k", "5.0", "is not a whole number from 1; write one such as 5"),
        ("rag_top_k", "٥", "is not a whole number from 1; write one such as 5"),
        ("rag_timeout", "0", "is not a number of seconds above 0; write one such as 60"),
        ("rag_timeout", "inf", "is not a number of seconds above 0; write one such as 60"),
        (
            "rag_judge",
            "",
            (
                "is not a judge; choose one of openai, offline, local, ragas, none, "
                "or give your own in the rag_judge fixture or to evaluate"
            ),
        ),
        (
            "rag_embedding_model",
            " local: ",
            "names no model; write, for example, local:sentence-transformers/all-MiniLM-L6-v2",
        ),
        ("rag_metrics", "+bertscore", f"does not {MODEL_AND_LAYER}"),
        ("rag_metrics", "+bertscore=m@0", f"does not {MODEL_AND_LAYER}"),
        ("rag_metrics", "overlap=m", "is not a group of metrics; did you mean 'overlap'?"),
        ("rag_judge_parameters", "[1]", 'is not a JSON object; write, for example, {"max_tokens": 4096}'),
        ("rag_judge_parameters", '{"a": NaN}', 'is not a JSON object; write, for example, {"max_tokens": 4096}'),
        ("rag_judge_parameters", '{"model": "m"}', "has 'model', which the judge sets itself; leave it out"),
        ("rag_judge_parameters", '{"extra_headers": {}}', "has 'extra_headers'; set rag_judge_headers instead"),
        ("rag_max", "2", "is not of the form METRIC=VALUE; write, for example, latency_seconds=2"),
        ("rag_max", "latency=2", "names no metric with a maximum; did you mean 'latency_seconds'?"),
        ("rag_max", "cost_usd=0", "has no maximum above 0; write, for example, latency_seconds=2"),
        ("rag_report", "report.pdf", "ends in neither .html nor .md; name the report such as report.html"),
        ("rag_agent", "\t", "is blank; write a name, or leave it out"),
        (
            "rag_headers",
            "X Y: z",
            "is not of the form 'Name: value'; write, for example, 'Authorization: Bearer {env:RAG_TOKEN}'",
        ),
        (
            "rag_headers",
            "Authorization:",
            "is not of the form 'Name: value'; write, for example, 'Authorization: Bearer {env:RAG_TOKEN}'",
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
