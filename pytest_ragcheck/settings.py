"""What a run was told."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_ragcheck.metrics.catalogue import DEFAULT_GROUPS, DEFAULT_WEIGHTS, JUDGE_GROUPS
from pytest_ragcheck.redaction import Redactor, is_secret_header, url_secrets
from pytest_ragcheck.setting_checks import check_settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_ragcheck.questions.datasets.choice import DatasetChoice


DUMMY_API_KEY = "no-key"
"""Sent to a judge server that was given without a key: some refuse a request that has none."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Settings:
    """
    The settings of a run; a `rag_settings` fixture makes a changed one with `dataclasses.replace`.

    Raises:
        UsageError: A number is not in its range, or a URL, a judge or a metric is none.
    """

    url: str | None = None
    """The endpoint; None: questions need a `rag_client` fixture."""

    base_url: str | None = None
    """What the endpoint's routes for passages and documents follow; None: `url` without a final `/query`."""

    shape: str | None = None
    """How the endpoint is asked and its reply read: the name of a shape. None: `query`, and `server` where passages
    go along or documents were uploaded."""

    request: str | None = None
    """A template of requests in place of the shape's."""

    response: str | None = None
    """Expressions for the parts of a reply in place of the shape's."""

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Sent with every request to the endpoint; may hold secrets."""

    top_k: int = 5
    """How many contexts are asked for, >= 1."""

    timeout_seconds: float = 60.0
    """For a whole request to the endpoint, > 0."""

    concurrency: int = 8
    """How many requests to the endpoint run at once, >= 1."""

    judge_concurrency: int = 8
    """How many requests to the judge run at once, >= 1."""

    delay_seconds: float = 0.0
    """From the start of one request to the endpoint to that of the next, >= 0."""

    retries: int = 2
    """How often a request that failed in passing is repeated, >= 0."""

    question_timeout_seconds: float = 600.0
    """For all requests of a question and what lies between them, > 0; time in which it waits its turn is not in it."""

    waiting_line_seconds: float = 30.0
    """How long nothing may come before the terminal says what is waited for, >= 0; 0: it does not."""

    tier: str = "end_to_end"
    """How questions are asked whose file does not say it: one of `TIERS`."""

    ingest: bool = False
    """Whether the passages of questions are put into the system first; their file's own word goes over it."""

    keep_documents: str = "never"
    """When the run leaves its documents in the system: one of `KEEP`."""

    read_ahead: bool = True
    """Whether questions are asked before pytest comes to them."""

    resume: bool = False
    """Whether the run goes on with the last one, instead of asking what that one has finished."""

    required: bool = False
    """True: questions that nothing can answer are an error, not skipped."""

    threshold: float = 0.7
    """Minimum of answer_correctness and groundedness, 0..1."""

    minimums: Mapping[str, float] = field(default_factory=dict)
    """Further asserted metrics with their minimum, 0..1; they win over `threshold`."""

    metrics: tuple[str, ...] = DEFAULT_GROUPS
    """The groups of metrics that are measured."""

    weights: Mapping[str, float] = field(default_factory=lambda: DEFAULT_WEIGHTS)
    """What `overall_score` is made of, each > 0."""

    own_metrics: tuple[str, ...] = ()
    """Names of the users' own metrics, which `minimums` and `weights` may name too."""

    judge: str | None = None
    """One of `JUDGES`; None: none was chosen, and neither a key nor a model points to one."""

    judge_model: str | None = None
    judge_url: str | None = None
    judge_api_key: str | None = field(default=None, repr=False)
    judge_prompt: str = "en"
    """Name of a packaged prompt or path of a user's."""

    judge_timeout_seconds: float = 60.0
    """For one request to the judge, > 0."""

    calibrations: tuple[Path, ...] = ()
    """Files that say how often the judge agrees with people."""

    judge_price: tuple[float, float] | None = None
    """US dollars, >= 0, for a million tokens that the judge's model reads, and that it writes; None: the table's."""

    cache: bool = True
    """Whether the openai judge is spared what it judged in an earlier run."""

    preflight: bool = True
    """Whether a judge that is a language model is tried out before the first question."""

    judge_repeats: int = 1
    """How often each answer is judged, >= 1; the median counts."""

    repeats: int = 1
    """How often each question is asked, >= 1; the median counts."""

    spread_limit: float = 0.2
    """The largest difference between repeated values that is not called unstable, 0..1."""

    bertscore_model: str | None = None
    """`MODEL[@LAYER]` of the group `bertscore`, a folder or a name on the hub; None: the group cannot be measured."""

    embedding_model: str | None = None
    """
    Model of the metrics that compare meanings by embeddings, at a server; or `local:` and a folder or a name on the
    hub. None: they could not be measured.
    """

    embedding_url: str | None = None
    """Its server; None: the judge's."""

    embedding_api_key: str | None = field(default=None, repr=False)
    """Of that server; None: the judge's key, where there is no `embedding_url`."""

    datasets: tuple[DatasetChoice, ...] = ()
    """Whose questions run beside those of question files."""

    samples: int | None = None
    """How many questions of each dataset are taken at most, >= 1; None: all."""

    seed: int = 0
    """Which questions are taken, >= 0."""

    baseline: Path | None = None
    """The predictions file that the run is compared with; None: it is compared with nothing."""

    baseline_rev: str | None = None
    """The git revision in which that file is; None: it is where its path says."""

    gate: str = "each"
    """What makes the run fail: `each` FAIL, a `regression`, or by `rate:R` less than R of the questions passing."""

    tolerance: float = 0.01
    """By how much a metric's mean may drop under the gate `regression`, 0..1."""

    false_alarms: float = 0.01
    """How often the gate `regression` may turn red with nothing changed, 0..1."""

    missing: str = "regression"
    """Whether a question of the baseline that is gone is a `regression` or `allowed`."""

    other_baseline: str = "refuse"
    """`refuse` or `compare`: what becomes of a baseline that was made with another judge, tier, top_k and the like."""

    max_errors: int | None = None
    """How many questions may be ERRORs before the run stops, >= 0; None: any number."""

    replay: Path | None = None
    """The predictions file that answers and verdicts are taken from; None: the system is asked."""

    shard: tuple[int, int] | None = None
    """Which part of the questions is run, from 1, and of how many; None: all of them."""

    report: Path | None = None
    """The HTML report; None: none is written."""

    markdown: Path | None = None
    """The file that the results are added to as Markdown; None: they are not."""

    dry_run: bool = False
    """Whether questions are only counted."""

    max_cost_usd: float | None = None
    """What the run may cost, > 0; None: it may cost anything."""

    output: Path = Path("ragcheck-results")
    """Folder of the result files."""

    agent: str = "rag"
    """Name of the system under test; the result files begin with it."""

    session_name: str = "session"
    """`dataset_name` of result files that hold several datasets."""

    question_files: tuple[str, ...] = ()
    """Glob patterns of further question files."""

    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Values that nothing may show, further to those in the headers, the URLs and the keys above."""

    redactor: Redactor = field(init=False, repr=False, compare=False)
    """Knows all secrets of these settings."""

    def __repr__(self) -> str:
        """As a dataclass is shown, without secrets: pytest's --showlocals shows it."""
        shown = (f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.repr)
        return self.redactor.text(f"Settings({', '.join(shown)})")

    def __post_init__(self) -> None:
        check_settings(self)
        object.__setattr__(self, "redactor", Redactor(self._all_secrets()))

    @property
    def judged(self) -> bool:
        """Whether anybody is asked for judgements: there is a judge, and its group is measured."""
        return self.judge != "none" and "judge" in self.metrics

    @property
    def own_prices(self) -> Mapping[str, tuple[float, float]]:
        """By model the price that was given for it."""
        return {self.judge_model: self.judge_price} if self.judge_model and self.judge_price else {}

    @property
    def chooses_judge(self) -> bool:
        """Whether a judge was chosen; a key in the environment alone chooses none."""
        return self.judge is not None and (self.judge != "openai" or self.judge_model is not None)

    @property
    def needs_judge(self) -> bool:
        """Whether something is measured that is nothing without a judge."""
        return not JUDGE_GROUPS.isdisjoint(self.metrics)

    def _all_secrets(self) -> list[str]:
        found = list(self.secrets)
        for url in filter(None, (self.url, self.base_url, self.judge_url, self.embedding_url)):
            found += url_secrets(url)
        for name, value in self.headers.items():
            if is_secret_header(name):
                # Also what follows the scheme, as in `Bearer TOKEN`.
                found += [value, *value.split()[1:]]
        for key in (self.judge_api_key, self.embedding_api_key):
            if key not in (None, DUMMY_API_KEY):
                found.append(str(key))
        return found
