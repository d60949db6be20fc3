"""Chooses the metrics of a run by its settings, and checks that their packages are installed."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from pytest_ragcheck.config.metric_readers import model_and_layer
from pytest_ragcheck.config.readers import LOCAL
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.judging.checked_judgement import model_of
from pytest_ragcheck.judging.local_model import missing_packages
from pytest_ragcheck.metrics.citations import Citations
from pytest_ragcheck.metrics.mentions import Leaks, Mentions
from pytest_ragcheck.metrics.metric import RunMetric
from pytest_ragcheck.metrics.retrieval import Retrieval
from pytest_ragcheck.metrics.similarity import BertScore, Overlap, Similarity, chrf, exact_match, rouge_l, token_f1
from pytest_ragcheck.scores import EXTRAS

if TYPE_CHECKING:
    from pytest_ragcheck.config.settings import Settings
    from pytest_ragcheck.judging.judgement import Judge


def choose_metrics(settings: Settings, judge: Judge | None = None) -> tuple[RunMetric, ...]:
    """
    The metrics of the chosen groups, and those that every run measures.

    The judge measures the groups `judge` and `abstention`; the group `performance` belongs to the whole run. The groups
    `ragas` and `citations` ask the judge's model, if it has one.

    Raises:
        UsageError: A group needs a package that is not installed.
    """
    check_installed(settings)
    groups = settings.run.metrics
    metrics: list[RunMetric] = []
    if "overlap" in groups:
        metrics.append(Overlap(exact_match=exact_match, f1=token_f1))
    if "lexical" in groups:
        metrics.append(Overlap(rouge_l=rouge_l, chrf=chrf))
    if "semantic" in groups:
        from pytest_ragcheck.judging.judge_choice import choose_embeddings

        metrics.append(Similarity(choose_embeddings(settings)))
    if "bertscore" in groups:
        model, layer = model_and_layer(settings.run.bertscore_model)
        metrics.append(BertScore(model, layer))
    if "ragas" in groups:
        metrics.append(_ragas(settings, judge))
    if "citations" in groups:
        from pytest_ragcheck.metrics.citation_support import CitationSupport

        metrics.append(CitationSupport(model_of(judge)))
    if "retrieval" in groups:
        metrics.append(Retrieval(settings.endpoint.top_k))
    return (*metrics, Mentions(), Leaks(), Citations())


def check_installed(settings: Settings) -> None:
    """Raises a `UsageError` if a group or a local model needs a package that is not installed."""
    for group in settings.run.metrics:
        missing = [package for package in EXTRAS.get(group, ()) if find_spec(package) is None]
        if missing:
            raise UsageError(
                f"rag_metrics: the group {group} needs {' and '.join(missing)}, not installed here: "
                f'pip install "pytest-ragcheck[{group}]", or leave the group out'
            )
    embeds = settings.judge.name == "ragas" or not {"semantic", "ragas"}.isdisjoint(settings.run.metrics)
    if embeds and (settings.judge.embedding_model or "").startswith(LOCAL) and (lacking := missing_packages()):
        raise UsageError(
            f"rag_embedding_model: a local model needs {lacking}, not installed here: "
            'pip install "pytest-ragcheck[semantic]", or name the model of a server'
        )


def _ragas(settings: Settings, judge: Judge | None) -> RunMetric:
    # The ragas metrics by the ragas library, by the judge's model, or without a model by counting words.
    from pytest_ragcheck.judging.ragas_judge import RagasJudge

    if isinstance(judge, RagasJudge):
        from pytest_ragcheck.metrics.ragas.model_ragas import RagasByLibrary

        return RagasByLibrary(judge)
    chat = model_of(judge)
    if chat is None:
        from pytest_ragcheck.metrics.ragas.stand_ins import RagasStandIns

        return RagasStandIns()
    from pytest_ragcheck.judging.judge_choice import choose_embeddings
    from pytest_ragcheck.metrics.ragas.model_ragas import RagasMetrics

    return RagasMetrics(chat, choose_embeddings(settings))
