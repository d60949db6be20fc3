"""
Every option: where it may be given, how its text is read, what it means.

Each stands once in `OPTIONS`; the pytest options, their help, the reference page and the error texts come from there.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from pytest_ragcheck.metrics.catalogue import (
    ASSERTABLE,
    DEFAULT_GROUPS,
    DEFAULT_WEIGHTS,
    GROUPS,
    METRICS,
    OVERALL,
    listed,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from pytest_ragcheck.questions.datasets.choice import DatasetChoice

JUDGES = ("openai", "offline", "ragas", "none")

KEEP = ("never", "on-failure", "always")
"""When a run leaves its documents in the system."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One setting as a user gives it."""

    name: str
    """Name in the ini file; on the command line with `--` and dashes."""

    help: str
    read: Callable[[str], Any]
    """From the given text to the value; a ValueError goes on from the text: `is not ...; write ...`."""

    flag: bool = True
    """Whether it can be given on the command line too."""

    environment: str | None = None
    metavar: str = "TEXT"
    kind: Literal["text", "words", "lines", "switch"] = "text"
    """One text, several separated by blanks (repeatable on the command line), several by line, or on/off."""

    default_shown: str = ""
    """As help and reference page say it; empty where there is none."""

    @property
    def switch(self) -> str:
        """The command line's form of the name."""
        return "--" + self.name.replace("_", "-")


def read_url(text: str) -> str:
    """The text, if it is an http or https URL with a host."""
    return _whole(text, "http://localhost:8000/query")


def read_base_url(text: str) -> str:
    """The same for a URL that routes are put behind."""
    return _whole(text, "http://localhost:8000/v1")


def _whole(text: str, example: str) -> str:
    try:
        parts = urlsplit(text)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # half an IPv6 address, or a port that is no number up to 65535
        usable = False
    if not usable or re.search(r"\s", text):
        raise ValueError(f"is not a URL; write it whole, such as {example}")
    return text


def read_fraction(text: str) -> float:
    """A number from 0 to 1."""
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not 0 <= number <= 1:
        raise ValueError("is not a number from 0 to 1; write one such as 0.7")
    return number


def read_seconds(text: str) -> float:
    """A number of seconds above 0."""
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not 0 < number < float("inf"):
        raise ValueError("is not a number of seconds above 0; write one such as 60")
    return number


def read_price(text: str) -> tuple[float, float]:
    """Two amounts of US dollars from 0."""
    try:
        read, written = map(float, text.split())
    except ValueError:
        read = written = float("nan")
    if not (0 <= read < float("inf") and 0 <= written < float("inf")):
        raise ValueError("is not two amounts of US dollars from 0; write them such as 0.25 2.00")
    return read, written


def read_usd(text: str) -> float:
    """An amount of US dollars above 0."""
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not 0 < number < float("inf"):
        raise ValueError("is not an amount of US dollars above 0; write one such as 0.50")
    return number


def read_count(text: str) -> int:
    """A whole number from 1."""
    if not re.fullmatch(r"[1-9][0-9]{0,8}", text):
        raise ValueError("is not a whole number from 1; write one such as 5")
    return int(text)


def read_number(text: str) -> int:
    """A whole number from 0."""
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise ValueError("is not a whole number from 0; write one such as 2")
    return int(text)


def read_delay(text: str) -> float:
    """A number of seconds from 0."""
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not 0 <= number < float("inf"):
        raise ValueError("is not a number of seconds from 0; write one such as 0.1")
    return number


def read_shard(text: str) -> tuple[int, int]:
    """`I/N`: part I of N, I from 1."""
    match = re.fullmatch(r"([1-9][0-9]{0,3})/([1-9][0-9]{0,3})", text)
    if match is None or int(match[1]) > int(match[2]):
        raise ValueError("is not part I of N; write it such as 1/4, 2/4, 3/4, 4/4")
    return int(match[1]), int(match[2])


def read_gate(text: str) -> str:
    """`each`, `regression`, or `rate:R`."""
    kind, _, rate = text.partition(":")
    if text in ("each", "regression"):
        return text
    if kind == "rate":
        with suppress(ValueError):
            return f"rate:{read_fraction(rate):g}"
    raise ValueError("is not a gate; choose each, regression, or rate:R with a rate from 0 to 1 such as rate:0.9")


def read_baseline_place(text: str) -> str:
    """A path, or `git:REV:PATH`."""
    if text.startswith("git:"):
        _, rev, path = (*text.split(":", 2), "", "")[:3]
        if not rev.strip() or rev.startswith("-") or not path.strip():
            raise ValueError("is not git:REV:PATH; write it such as git:origin/main:tests/baseline.json")
    return read_path(text)


def read_missing(text: str) -> str:
    """What a missing question is."""
    if text not in ("regression", "allowed"):
        raise ValueError("is neither regression nor allowed; write one of them")
    return text


def read_other_baseline(text: str) -> str:
    """What becomes of a baseline that was made otherwise."""
    if text not in ("refuse", "compare"):
        raise ValueError("is neither refuse nor compare; write one of them")
    return text


def read_on_off(text: str) -> bool:
    """`on` or `off`."""
    if text not in ("on", "off"):
        raise ValueError("is neither on nor off; write one of them")
    return text == "on"


def read_judge(text: str) -> str:
    """The name of a judge."""
    if text not in JUDGES:
        raise ValueError(f"is not a judge; choose one of {', '.join(JUDGES)}, or override the rag_judge fixture")
    return text


def read_name(text: str) -> str:
    """A name that is not blank."""
    if not text.strip():
        raise ValueError("is blank; leave it out, or write a name")
    return text.strip()


def read_path(text: str) -> str:
    """The path of a file or folder that is not blank."""
    if not text.strip():
        raise ValueError("is blank; leave it out, or write a path")
    return text.strip()


def read_minimum(text: str, own: Collection[str] = ()) -> tuple[str, float]:
    """`METRIC=VALUE`, of a metric that can be asserted or one of the users' *own*."""
    metric, equals, value = text.partition("=")
    metric = metric.strip()
    if not equals:
        raise ValueError("is not of the form METRIC=VALUE; write it such as f1=0.5")
    known = (*ASSERTABLE, *own)
    if metric not in known:
        raise ValueError(f"names no metric that can be asserted; {_instead_of(metric, known)}")
    return metric, read_fraction(value.strip())


def read_weight(text: str, own: Collection[str] = ()) -> tuple[str, float]:
    """`METRIC=WEIGHT`, of any metric but the weighted one itself, or one of the users' *own*."""
    metric, equals, value = text.partition("=")
    metric = metric.strip()
    if not equals:
        raise ValueError("is not of the form METRIC=WEIGHT; write it such as f1=2")
    known = tuple(name for name in (*METRICS, *own) if name != OVERALL)
    if metric not in known:
        raise ValueError(f"names no metric that can have a weight; {_instead_of(metric, known)}")
    try:
        weight = float(value)
    except ValueError:
        weight = float("nan")
    if not 0 < weight < float("inf"):
        raise ValueError("has no weight above 0; write it such as f1=2")
    return metric, weight


def read_group(text: str) -> str:
    """The name of a group of metrics, with `+` before it or not."""
    if text.removeprefix("+") not in GROUPS:
        raise ValueError(f"is no group of metrics; {_instead_of(text.removeprefix('+'), tuple(GROUPS))}")
    return text


def _instead_of(name: str, known: Collection[str]) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - only for whoever mistypes

    near = get_close_matches(name, known, n=1)
    return f"did you mean {near[0]!r}?" if near else f"choose one of {listed(known)}"


def read_model(text: str) -> tuple[str, int | None]:
    """A folder or a name on the hub, and the layer that stands after its `@`."""
    name, at, layer = text.rpartition("@")
    if not at:
        return read_name(text), None
    if not re.fullmatch(r"[1-9][0-9]{0,3}", layer) or not name.strip():
        raise ValueError("is not of the form MODEL or MODEL@LAYER; write it such as roberta-large@17")
    return name.strip(), int(layer)


def read_header(text: str) -> tuple[str, str]:
    """`Name: value`."""
    match = re.fullmatch(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*:\s*(\S.*)", text)
    if match is None:
        raise ValueError("is not of the form 'Name: value'; write it such as 'Authorization: Bearer {env:RAG_TOKEN}'")
    return match[1], match[2]


def read_dataset(text: str) -> DatasetChoice:
    """`NAME[:SUBSET][@SPLIT][=PATH]`."""
    from pytest_ragcheck.questions.datasets.choice import read_choice  # noqa: PLC0415 - only for whoever gives one

    return read_choice(text)


def read_keep(text: str) -> str:
    """When documents are kept."""
    if text not in KEEP:
        raise ValueError(f"is none of {', '.join(KEEP)}; write one of them")
    return text


def read_tier(text: str) -> str:
    """The name of a tier."""
    from pytest_ragcheck.questions.question import TIERS  # noqa: PLC0415 - only for whoever gives one

    if text not in TIERS:
        raise ValueError(f"is no tier; choose {' or '.join(TIERS)}")
    return text


def read_shape(text: str) -> str:
    """The name of a shape."""
    from pytest_ragcheck.rag.named_shapes import read_name  # noqa: PLC0415 - only for whoever gives one

    read_name(text)
    return text


def read_request(text: str) -> str:
    """A template of requests, as it was written."""
    from pytest_ragcheck.rag.request import read_template  # noqa: PLC0415 - only for whoever gives one

    read_template(text)
    return text


def read_response(text: str) -> str:
    """Expressions for the parts of a reply, as they were written."""
    from pytest_ragcheck.rag.reading import Reading  # noqa: PLC0415 - only for whoever gives them

    Reading.from_text(text)
    return text


OPTIONS: tuple[Option, ...] = (
    Option(
        name="rag_url",
        help="The RAG endpoint that questions are sent to.",
        read=read_url,
        environment="RAGCHECK_URL",
        metavar="URL",
    ),
    Option(
        name="rag_threshold",
        help="Minimum of answer_correctness and groundedness, 0 to 1; a question or its file may set its own.",
        read=read_fraction,
        metavar="NUMBER",
        default_shown="0.7",
    ),
    Option(
        name="rag_min",
        help="Asserts a further metric, or sets the minimum of one metric alone; may be given several times.",
        read=read_minimum,
        metavar="METRIC=VALUE",
        kind="words",
    ),
    Option(
        name="rag_metrics",
        help="The groups of metrics that are measured, in place of the default; one with + before it is added to it, "
        "such as +GROUP.",
        read=read_group,
        flag=False,
        kind="words",
        default_shown=" ".join(DEFAULT_GROUPS),
    ),
    Option(
        name="rag_weights",
        help="What overall_score is the weighted mean of; a metric without a result is left out of it.",
        read=read_weight,
        flag=False,
        kind="words",
        default_shown=" ".join(f"{metric}={weight:g}" for metric, weight in DEFAULT_WEIGHTS.items()),
    ),
    Option(
        name="rag_judge",
        help="Who judges the answers: openai (any OpenAI-compatible server), offline (no model, no key), "
        "ragas (the ragas library, an extra), none (keyless metrics only).",
        read=read_judge,
        environment="RAGCHECK_JUDGE",
        metavar="NAME",
        default_shown="openai where a key, a model or a server for it is given",
    ),
    Option(
        name="rag_judge_model",
        help="Model of the openai judge.",
        read=read_name,
        environment="RAGCHECK_JUDGE_MODEL",
        metavar="MODEL",
    ),
    Option(
        name="rag_judge_url",
        help="Base URL of an OpenAI-compatible server, such as http://localhost:11434/v1; its key is read from "
        "RAGCHECK_JUDGE_API_KEY, never from OPENAI_API_KEY.",
        read=read_base_url,
        environment="RAGCHECK_JUDGE_URL",
        metavar="URL",
    ),
    Option(
        name="rag_judge_repeats",
        help="How often each answer is judged; the median counts, and the spread is recorded.",
        read=read_count,
        flag=False,
        default_shown="1",
    ),
    Option(
        name="rag_repeats",
        help="How often each question is asked, each answer being judged; the median counts.",
        read=read_count,
        flag=False,
        default_shown="1",
    ),
    Option(
        name="rag_spread_limit",
        help="The largest difference between repeated values of one metric that is not called unstable, 0 to 1.",
        read=read_fraction,
        flag=False,
        default_shown="0.2",
    ),
    Option(
        name="rag_embedding_model",
        help="Model of the metrics that compare meanings by embeddings, on the judge's server unless rag_embedding_url "
        "names another.",
        read=read_name,
        flag=False,
        environment="RAGCHECK_EMBEDDING_MODEL",
    ),
    Option(
        name="rag_embedding_url",
        help="Base URL of an OpenAI-compatible server with embeddings; its key is read from "
        "RAGCHECK_EMBEDDING_API_KEY, never from OPENAI_API_KEY.",
        read=read_base_url,
        flag=False,
        environment="RAGCHECK_EMBEDDING_URL",
    ),
    Option(
        name="rag_dataset",
        help="A standard dataset whose questions run too, from its official file or by its name; `ragcheck dataset` "
        "lists them; may be given several times.",
        read=read_dataset,
        metavar="NAME[:SUBSET][@SPLIT][=PATH]",
        kind="words",
    ),
    Option(
        name="rag_samples",
        help="How many questions of each dataset are taken at most; which ones, rag_seed says.",
        read=read_count,
        metavar="NUMBER",
    ),
    Option(
        name="rag_seed",
        help="Which questions of a dataset are taken; a larger sample of the same seed has those of a smaller one.",
        read=read_number,
        flag=False,
        default_shown="0",
    ),
    Option(
        name="rag_bertscore_model",
        help="Model of the group bertscore: a folder or a name on the hub, and after @ the layer that is compared, "
        "such as roberta-large@17; without it the last one.",
        read=read_model,
        flag=False,
        metavar="MODEL[@LAYER]",
    ),
    Option(
        name="rag_baseline",
        help="Compares with the predictions file of an earlier full run, or git:REV:PATH: a question that newly fails "
        "or is missing makes the run fail.",
        read=read_baseline_place,
        metavar="PREDICTIONS",
    ),
    Option(
        name="rag_gate",
        help="each: every FAIL makes the run fail; regression: what became worse than the baseline by more than noise; "
        "rate:R: a share of passing questions below R.",
        read=read_gate,
        metavar="GATE",
        default_shown="each",
    ),
    Option(
        name="rag_tolerance",
        help="By how much a metric's mean may drop below the baseline's under --rag-gate=regression, 0 to 1.",
        read=read_fraction,
        flag=False,
        default_shown="0.01",
    ),
    Option(
        name="rag_false_alarms",
        help="How often --rag-gate=regression may turn red with nothing changed, 0 to 1.",
        read=read_fraction,
        flag=False,
        default_shown="0.01",
    ),
    Option(
        name="rag_missing",
        help="What a question of the baseline is that is not there any more: regression or allowed.",
        read=read_missing,
        flag=False,
        default_shown="regression",
    ),
    Option(
        name="rag_other_baseline",
        help="What becomes of a baseline with another judge, prompt, tier, top_k, metrics or dataset: refuse or "
        "compare.",
        read=read_other_baseline,
        flag=False,
        default_shown="refuse",
    ),
    Option(
        name="rag_max_errors",
        help="Stops the run when more questions than this are ERRORs; without it there is no limit.",
        read=read_number,
        flag=False,
    ),
    Option(
        name="rag_replay",
        help="Takes answers and verdicts from the predictions file of an earlier run in place of asking; another judge "
        "judges the recorded answers anew.",
        read=read_name,
        metavar="PREDICTIONS",
    ),
    Option(
        name="rag_shard",
        help="Runs part I of N of the questions, one part a machine; ragcheck merge puts the results together.",
        read=read_shard,
        metavar="I/N",
    ),
    Option(
        name="rag_report",
        help="Writes the results as one HTML file that needs nothing else.",
        read=read_name,
        metavar="FILE.html",
    ),
    Option(
        name="rag_markdown",
        help="Adds the results as Markdown to the file, regressions first; for a step summary or a comment.",
        read=read_name,
        metavar="FILE",
    ),
    Option(
        name="rag_dry_run",
        help="Collects only, and says how many calls a run would make, about how many tokens, and what they cost.",
        read=bool,
        kind="switch",
        default_shown="off",
    ),
    Option(
        name="rag_max_cost",
        help="Stops asking when the judge and the system are known to have cost so much; the questions that are left "
        "are not run, and the run fails.",
        read=read_usd,
        metavar="USD",
    ),
    Option(
        name="rag_output",
        help="Folder of the result files.",
        read=read_path,
        metavar="FOLDER",
        default_shown="ragcheck-results",
    ),
    Option(
        name="rag_agent",
        help="Name of the system under test; the result files begin with it.",
        read=read_name,
        metavar="NAME",
        default_shown="rag",
    ),
    Option(
        name="rag_required",
        help="Makes it an error, not a skip, that there is no endpoint to ask; for CI.",
        read=bool,
        kind="switch",
        default_shown="off",
    ),
    Option(
        name="rag_shape",
        help="How the endpoint is asked and its reply read: query, search-rag, server or openai-chat. Where it is not "
        "given query, and server where passages go along with the question or documents were uploaded.",
        read=read_shape,
        flag=False,
    ),
    Option(
        name="rag_base_url",
        help="What the server's other routes follow: /query/with-context, /upload, /tasks, /documents. Where it is "
        "not given, the URL of the endpoint without a final /query.",
        read=read_base_url,
        flag=False,
    ),
    Option(
        name="rag_request",
        help="How the endpoint is asked, in place of the shape's own way: JSON with {query} and {top_k} in its "
        "strings, or GET and a query-string with them.",
        read=read_request,
        flag=False,
    ),
    Option(
        name="rag_response",
        help="Where answer, contexts and source_ids are in a reply, in place of the shape's own places: "
        "answer=EXPRESSION contexts=EXPRESSION, in JMESPath.",
        read=read_response,
        flag=False,
    ),
    Option(
        name="rag_tier",
        help="How questions are asked: end_to_end (the system retrieves by itself) or generation (their gold passages "
        "go along, by POST /query/with-context); a file may say its own.",
        read=read_tier,
        metavar="TIER",
        default_shown="end_to_end",
    ),
    Option(
        name="rag_ingest",
        help="Puts the passages of the questions into the system first, as documents, and deletes them at the end; in "
        "the tier end_to_end only.",
        read=bool,
        kind="switch",
        default_shown="off",
    ),
    Option(
        name="rag_keep_documents",
        help="Whether documents that the run put into the system stay there: never, on-failure or always.",
        read=read_keep,
        flag=False,
        default_shown="never",
    ),
    Option(
        name="rag_concurrency",
        help="How many requests to the endpoint run at once; 1 asks one question after another.",
        read=read_count,
        metavar="NUMBER",
        default_shown="8",
    ),
    Option(
        name="rag_judge_concurrency",
        help="How many requests to the judge run at once; as many as to the endpoint where it is not given.",
        read=read_count,
        flag=False,
    ),
    Option(
        name="rag_delay",
        help="Seconds from the start of one request to the endpoint to that of the next, at least.",
        read=read_delay,
        flag=False,
        default_shown="0",
    ),
    Option(
        name="rag_retries",
        help="How often a request that failed in passing (no connection, 408, 409, 502, 504) is repeated; after "
        "429 and 503 it waits for room in any case.",
        read=read_number,
        flag=False,
        default_shown="2",
    ),
    Option(
        name="rag_question_timeout",
        help="Seconds for a question with all its requests, their repeats and the judge's; time in which it waits its "
        "turn behind other questions does not count.",
        read=read_seconds,
        flag=False,
        default_shown="600",
    ),
    Option(
        name="rag_waiting_line",
        help="Seconds after which the terminal says what is waited for, again and again while nothing comes; 0: never.",
        read=read_delay,
        flag=False,
        default_shown="30",
    ),
    Option(
        name="rag_read_ahead",
        help="on: questions are asked before pytest comes to them, many at once; off: each in its turn.",
        read=read_on_off,
        flag=False,
        default_shown="on",
    ),
    Option(
        name="rag_resume",
        help="Goes on with the last run of this agent in the output folder, however it ended: what it finished is "
        "neither asked nor judged again, but for ERRORs and changed questions.",
        read=bool,
        kind="switch",
        default_shown="off",
    ),
    Option(
        name="rag_headers",
        help="Headers sent to the endpoint, one a line; {env:NAME} stands for a secret from the environment.",
        read=read_header,
        flag=False,
        kind="lines",
    ),
    Option(
        name="rag_top_k",
        help="How many contexts the endpoint is asked for.",
        read=read_count,
        flag=False,
        default_shown="5",
    ),
    Option(
        name="rag_timeout",
        help="Seconds for a whole request to the endpoint.",
        read=read_seconds,
        flag=False,
        default_shown="60",
    ),
    Option(
        name="rag_judge_prompt",
        help="The judge's prompt: en, ru, or the path of a file of your own.",
        read=read_name,
        flag=False,
        default_shown="en",
    ),
    Option(
        name="rag_judge_timeout",
        help="Seconds for one request to the judge.",
        read=read_seconds,
        flag=False,
        default_shown="60",
    ),
    Option(
        name="rag_calibration",
        help="Files that ragcheck calibrate --output wrote, one a line: how often the judge agrees with people then "
        "stands beside its means.",
        read=read_name,
        flag=False,
        kind="lines",
    ),
    Option(
        name="rag_judge_price",
        help="US dollars for a million tokens that the judge's model reads, and for a million that it writes, in "
        "place of the price table's.",
        read=read_price,
        flag=False,
    ),
    Option(
        name="rag_cache",
        help="on: the openai judge is not asked again what it judged in an earlier run; off: it is asked every time.",
        read=read_on_off,
        flag=False,
        default_shown="on",
    ),
    Option(
        name="rag_preflight",
        help="on: before the first question the openai judge is tried on six answers, and one that cannot tell good "
        "from bad ends the run; off: it is not.",
        read=read_on_off,
        flag=False,
        default_shown="on",
    ),
    Option(
        name="rag_session_name",
        help="The dataset_name of result files that hold several datasets.",
        read=read_name,
        flag=False,
        default_shown="session",
    ),
    Option(
        name="rag_question_files",
        help="Glob patterns of further question files, such as *_questions.json.",
        read=read_name,
        flag=False,
        kind="words",
    ),
)
