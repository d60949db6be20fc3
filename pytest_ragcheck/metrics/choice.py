"""`Settings` -> the metrics that they name."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, cast

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.metrics.catalogue import EXTRAS, LOCAL_PACKAGES
from pytest_ragcheck.metrics.mentions import Mentions
from pytest_ragcheck.option_values import LOCAL, read_model

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_ragcheck.judging.judgement import Judge
    from pytest_ragcheck.judging.ragas import RagasJudge
    from pytest_ragcheck.metrics.metric import Metric
    from pytest_ragcheck.settings import Settings


def choose_metrics(settings: Settings, judge: Judge | None = None, own: Iterable[Metric] = ()) -> tuple[Metric, ...]:
    """
    The metrics of the groups that the settings name, then those that every run measures.

    Those of the groups `judge` and `abstention` are the judge's to say, and those of `performance` are of a whole run.

    Args:
        settings: The run's.
        judge: For the groups that ask a judge's server of their own accord; None where there is none.
        own: The users' own.

    Raises:
        UsageError: A group needs a package that is not installed.
    """
    check_installed(settings)
    metrics: list[Metric] = []
    if "overlap" in settings.metrics:
        from pytest_ragcheck.metrics.overlap import Overlap  # noqa: PLC0415 - one group of several

        metrics.append(Overlap())
    if "lexical" in settings.metrics:
        from pytest_ragcheck.metrics.lexical import Lexical  # noqa: PLC0415 - as above

        metrics.append(Lexical())
    if "semantic" in settings.metrics:
        from pytest_ragcheck.judging.embeddings import choose_embeddings  # noqa: PLC0415 - as above
        from pytest_ragcheck.metrics.similarity import Similarity  # noqa: PLC0415 - as above

        metrics.append(Similarity(choose_embeddings(settings)))
    if "bertscore" in settings.metrics and settings.bertscore_model:
        from pytest_ragcheck.metrics.bertscore import BertScore  # noqa: PLC0415 - as above

        metrics.append(BertScore(*read_model(settings.bertscore_model)))
    if "ragas" in settings.metrics:
        metrics.append(_ragas(settings, judge))
    if "retrieval" in settings.metrics:
        from pytest_ragcheck.metrics.retrieval import Retrieval  # noqa: PLC0415 - as above

        metrics.append(Retrieval(settings.top_k))
    return (*metrics, Mentions(), *own)


def check_installed(settings: Settings) -> None:
    """Raises a `UsageError` where a group, or a local model, needs a package that is not installed."""
    for group, packages in EXTRAS.items():
        missing = [package for package in packages if find_spec(package) is None] if group in settings.metrics else []
        if missing:
            raise UsageError(
                f"rag_metrics: the group {group} needs {' and '.join(missing)}, not installed here: "
                f"pip install 'pytest-ragcheck[{group}]', or leave the group out"
            )
    embeds = settings.judge == "ragas" or not {"semantic", "ragas"}.isdisjoint(settings.metrics)
    if embeds and (settings.embedding_model or "").startswith(LOCAL):
        missing = [package for package in LOCAL_PACKAGES if find_spec(package) is None]
        if missing:
            raise UsageError(
                f"rag_embedding_model: a local model needs {' and '.join(missing)}, not installed here: "
                "pip install 'pytest-ragcheck[semantic]', or name the model of a server"
            )


def _ragas(settings: Settings, judge: Judge | None) -> Metric:
    """By the ragas library or the judge's model; what stands in for them where the judge is neither."""
    if judge is not None and hasattr(judge, "look"):
        from pytest_ragcheck.metrics.ragas.by_library import RagasByLibrary  # noqa: PLC0415 - one of several

        return RagasByLibrary(cast("RagasJudge", judge))
    chat = getattr(judge, "chat", None)
    if chat is None:
        from pytest_ragcheck.metrics.ragas.stand_ins import RagasStandIns  # noqa: PLC0415 - one of several

        return RagasStandIns()
    from pytest_ragcheck.judging.embeddings import choose_embeddings  # noqa: PLC0415 - one group of several
    from pytest_ragcheck.metrics.ragas.metric import RagasMetrics  # noqa: PLC0415 - as above

    return RagasMetrics(chat, choose_embeddings(settings))
