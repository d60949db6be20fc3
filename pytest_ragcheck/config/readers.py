"""Parses the texts of users' options; the text of a ValueError continues the option's text."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pytest_ragcheck.config.metric_readers import read_fraction
from pytest_ragcheck.frozen import frozen

if TYPE_CHECKING:
    from pytest_ragcheck.questions.datasets.standard_dataset import DatasetChoice, Sample

BASELINE_FILE = "ragcheck-baseline.json"
"""The default baseline of a run, in pytest's root folder."""

_IN_GIT = "git:"


@frozen
class BaselinePlace:
    path: Path
    rev: str | None = None
    """None for the work tree."""

    given: str = ""
    """The text, if it begins with `git:`."""

    @classmethod
    def from_text(cls, text: str) -> BaselinePlace:
        """Raises a ValueError for a text that begins with `git:` but is not `git:REV:PATH`."""
        if not text.startswith(_IN_GIT):
            return cls(path=Path(text))
        rev, _, path = text.removeprefix(_IN_GIT).partition(":")
        if not rev.strip() or rev.startswith("-") or not path.strip():
            raise ValueError("is not git:REV:PATH; write, for example, git:origin/main:tests/baseline.json")
        return cls(path=Path(path), rev=rev, given=text)

    def resolved_in(self, folder: Path) -> BaselinePlace:
        """The place with an absolute path; as in git, a path begins at the top of the repository, or with `./` here."""
        if self.rev is not None and not self.given.removeprefix(f"{_IN_GIT}{self.rev}:").startswith(("./", "../")):
            folder = next((each for each in (folder, *folder.parents) if (each / ".git").exists()), folder)
        return replace(self, path=Path(os.path.normpath(folder / self.path)))

    def __str__(self) -> str:
        return self.given or self.path.as_posix()


JUDGES = ("openai", "offline", "local", "ragas", "none")
OWN_JUDGE = "give your own in the rag_judge fixture or to evaluate"
WITH_MODEL = ("openai", "local", "ragas")
"""The judges that need a model."""


def read_url(text: str) -> str:
    path = re.match("/[^?#]*", text)
    of_app = path and f"http://localhost:8000{path[0]} (an app in this process gets its path)"
    return _checked_url(text, of_app or "http://localhost:8000/query")


def read_base_url(text: str) -> str:
    return _checked_url(text, "http://localhost:8000/v1")


def _checked_url(text: str, example: str) -> str:
    try:
        parts = urlsplit(text)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # half an IPv6 address, or a port that is not a number up to 65535
        usable = False
    if not usable or re.search(r"\s", text):
        raise ValueError(f"is not a URL; write it whole, such as {example}")
    if "{env:" in text:
        raise ValueError(
            "has {env:NAME}, which only headers replace; set the whole URL by its variable, such as RAGCHECK_URL"
        )
    return text


URL_READERS = (read_url, read_base_url)
"""Readers of texts that may hold secrets."""


def read_gate(text: str) -> str:
    """`each`, `confirmed`, `regression`, `regression:D`, or `rate:R`."""
    kind, _, number = text.partition(":")
    if text in ("each", "confirmed", "regression"):
        return text
    if kind in ("regression", "rate"):
        with suppress(ValueError):
            return f"{kind}:{read_fraction(number):g}"
    raise ValueError(
        "is not a gate; choose each, confirmed, regression, or one with a number from 0 to 1: "
        "regression:0.02 for a larger drop of a mean, rate:0.9 for a share of passing questions"
    )


def read_baseline_place(text: str) -> BaselinePlace:
    return BaselinePlace.from_text(_not_blank(text, "path"))


MISSING_QUESTIONS, OTHER_SETTINGS = DIFFERENCES = ("missing-questions", "other-settings")
"""Differences from a baseline that `rag_baseline_allow` accepts."""


def _one_of(names: Collection[str], problem: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in names:
            raise ValueError(problem)
        return text

    return read


read_difference = _one_of(DIFFERENCES, f"cannot be allowed; choose from {', '.join(DIFFERENCES)}")


_SWITCHES = {
    **dict.fromkeys(("on", "true", "yes", "1"), True),
    **dict.fromkeys(("off", "false", "no", "0"), False),
}


def read_switch(text: str) -> bool:
    if text.lower() not in _SWITCHES:
        raise ValueError("is neither on nor off; write one of them")
    return _SWITCHES[text.lower()]


STEPS = ("preflight", "cache", "prefetch", "cleanup", "cleanup-on-failure")
"""Steps of a run that `rag_disable` leaves out."""

read_step = _one_of(STEPS, f"is not a step that can be left out; choose from {', '.join(STEPS)}")


def read_sample(text: str) -> Sample:
    from pytest_ragcheck.questions.datasets.standard_dataset import Sample

    match = re.fullmatch(r"([1-9][0-9]{0,8})(?:@([0-9]{1,9}))?", text)
    if match is None:
        raise ValueError("is not of the form NUMBER or NUMBER@SEED; write, for example, 200 or 200@7")
    return Sample(size=int(match[1]), seed=int(match[2] or 0))


read_judge = _one_of(JUDGES, f"is not a judge; choose one of {', '.join(JUDGES)}, or {OWN_JUDGE}")


def read_name(text: str) -> str:
    return _not_blank(text, "name")


def read_path(text: str) -> Path:
    return Path(_not_blank(text, "path"))


def _not_blank(text: str, noun: str) -> str:
    if not text.strip():
        raise ValueError(f"is blank; write a {noun}, or leave it out")
    return text.strip()


HTML_ENDINGS = (".html", ".htm")


def read_report(text: str) -> Path:
    path = read_path(text)
    if path.suffix.lower() not in (*HTML_ENDINGS, ".md", ""):
        raise ValueError("ends in neither .html nor .md; name the report such as report.html")
    return path


def as_mapping(pairs: Iterable[tuple[str, Any]]) -> Mapping[str, Any]:
    """The pairs as a read-only mapping; the last pair of a name counts."""
    return MappingProxyType(dict(pairs))


LOCAL = "local:"
"""Prefix of the name of an embedding model that runs in this process."""


def read_embedding_model(text: str) -> str:
    """The name of a model at a server, `MODEL@URL`, or `local:` and a folder or a name on the hub."""
    name = read_name(text)
    local = name.removeprefix(LOCAL).strip()
    if not local:
        raise ValueError("names no model; write, for example, local:sentence-transformers/all-MiniLM-L6-v2")
    if name.startswith(LOCAL):
        return LOCAL + local
    if "://" in name:
        model, url = model_and_url(name)
        if not model or url is None:
            raise ValueError("is not MODEL@URL; write, for example, bge-m3@http://localhost:8000/v1")
        return f"{model}@{read_base_url(url)}"
    return name


def model_and_url(text: str) -> tuple[str, str | None]:
    match = re.fullmatch(r"(.*?)@\s*(\w*://.*)", text)
    return (match[1].strip(), match[2]) if match else (text, None)


def read_header(text: str) -> tuple[str, str]:
    match = re.fullmatch(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*:\s*(\S.*)", text)
    if match is None:
        raise ValueError(
            "is not of the form 'Name: value'; write, for example, 'Authorization: Bearer {env:RAG_TOKEN}'"
        )
    return match[1], match[2]


def read_identity(text: str) -> tuple[str, tuple[str, str]]:
    name, _, header = text.partition(":")
    try:
        return re.fullmatch(r"[\w.@-]+", name.strip())[0], read_header(header.strip())  # type: ignore[index]
    except (TypeError, ValueError):
        raise ValueError(
            "is not of the form 'identity: Name: value'; write, for example, "
            "'alice: Authorization: Bearer {env:ALICE_TOKEN}'"
        ) from None


def as_identities(pairs: Iterable[tuple[str, Any]]) -> Mapping[str, Mapping[str, str]]:
    """The headers of each identity; a pair holds one header or a mapping of headers."""
    found: dict[str, dict[str, str]] = {}
    for name, headers in pairs:
        found.setdefault(name, {}).update(headers if isinstance(headers, Mapping) else [headers])
    return MappingProxyType({name: MappingProxyType(headers) for name, headers in found.items()})


_RESERVED_PARAMETERS = frozenset({"messages", "model", "n", "response_format", "stream"})


def _refuse_constant(name: str) -> None:
    raise ValueError(name)  # NaN and Infinity, which JSON does not have


def read_parameters(text: str) -> Mapping[str, Any]:
    """The parameters of a JSON object; those in its `extra_body` are added to the others."""
    example = 'write, for example, {"max_tokens": 4096}'
    try:
        given = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise ValueError(f"is not a JSON object; {example}")  # noqa: TRY004 - a user's text
    body = given.pop("extra_body", {})
    if not isinstance(body, dict):
        raise ValueError(f"has an extra_body that is not a JSON object; {example}")  # noqa: TRY004 - as above
    parameters = {**given, **body}
    for key in sorted(_RESERVED_PARAMETERS & parameters.keys()):
        raise ValueError(f"has {key!r}, which the judge sets itself; leave it out")
    if "extra_headers" in parameters:
        raise ValueError("has 'extra_headers'; set rag_judge_headers instead")
    return MappingProxyType(parameters)


def read_dataset(text: str) -> DatasetChoice:
    from pytest_ragcheck.questions.datasets.standard_dataset import read_choice

    return read_choice(text)


def read_tier(text: str) -> str:
    from pytest_ragcheck.questions.question import TIERS

    if text not in TIERS:
        raise ValueError(f"is not a tier; choose {' or '.join(TIERS)}")
    return text


def read_shape(text: str) -> str:
    from pytest_ragcheck.rag.shapes.shape import read_name

    read_name(text)
    return text


def read_stream(text: str) -> bool:
    if text.strip().lower() == "auto":
        return True
    try:
        return read_switch(text)
    except ValueError:
        raise ValueError("is not known; write auto or off") from None


def read_request(text: str) -> str:
    from pytest_ragcheck.rag.shapes.shape import read_template

    read_template(text)
    return text


def read_response(text: str) -> str:
    from pytest_ragcheck.rag.shapes.reading import Reading

    Reading.from_text(text)
    return text
