"""Measures the citations of an answer by its markers alone."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.rag.body.json_body import quoted_text
from pytest_ragcheck.scores import CITATION_VALIDITY, MUST_CITE, Score

if TYPE_CHECKING:
    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.rag.answer import RagAnswer
    from pytest_ragcheck.rag.cited_answer import Citation, CitedAnswer

NO_IDS = "the answer cites by name, and the endpoint gives its contexts no ids"
MOST_FINDINGS = 3
_WORD = re.compile(r"[^\W_]")
_HEADING = re.compile(r"^[^\S\n]*(?P<text>#[^\n]*)", re.MULTILINE)
_TABLE_RULE = re.compile(r"^[ \t|:-]+\r?$", re.MULTILINE)
_BLANKS = re.compile(r"[ \t]{2,}")
_BLANK_BEFORE_MARK = re.compile(r"(?<![ \t])(?:[ \t]*[(（][ \t]+[)）]|[ \t]+(?=[.,;:!?)。，；：！？]))")


class Citations:
    """The metric of answers with citation markers, and of questions with `must_cite`; every run measures it."""

    names = (MUST_CITE, CITATION_VALIDITY)
    local = True

    async def score(self, question: Question, answer: RagAnswer) -> dict[str, Score]:
        # Imported late, because compiling its expressions would delay the first question.
        from pytest_ragcheck.rag.cited_answer import cited_answer

        cited = cited_answer(answer)
        scores = {}
        if question.must_cite:
            scores[MUST_CITE] = must_cite_score(question, cited)
        if cited.citations:
            scores[CITATION_VALIDITY] = citation_validity(answer, cited)
        return scores


def must_cite_score(question: Question, cited: CitedAnswer) -> Score:
    """
    Share of the documents in `must_cite` that a marker of the answer cites.

    Returns:
        0..1, with the documents that are not cited; 0.0 for an answer without markers. Unscored if the contexts have
        no ids, so that a number names no document.

    Source: our own.
    """
    missing: list[str] = []
    for document in question.must_cite:
        cites = cited.cites(document)
        if cites is None:
            return Score.unscored(f"no marker names {document!r}, and the endpoint gives its contexts no ids")
        if not cites:
            missing.append(document)
    return Score(1 - len(missing) / len(question.must_cite), findings=tuple(missing))


def citation_validity(answer: RagAnswer, cited: CitedAnswer) -> Score:
    """
    Share of the citations that resolve to a context.

    There is at least one citation; `[1, 2]` has two.

    Returns:
        0..1, with the first sentences whose citations do not resolve. Unscored if a name cannot be resolved because
        the contexts have no ids.

    Source: our own.
    """
    if any(citation.contexts is None for citation in cited.citations):
        return Score.unscored(NO_IDS)
    invalid = [citation for citation in cited.citations if not citation.contexts]
    n_contexts = len(answer.contexts)
    few = {0: "and there are no contexts", 1: "but there is only 1 context"}
    lacking = few.get(n_contexts, f"which is none of the {n_contexts} contexts")
    findings = (
        f"{quoted_text(sentence.text)} cites {shown(citation)}, {lacking}"
        for sentence in (cited_sentences(answer, cited) if invalid else ())
        for citation in sentence.citations
        if not citation.contexts
    )
    return Score(1 - len(invalid) / len(cited.citations), findings=tuple(islice(findings, MOST_FINDINGS)))


@frozen
class CitedSentence:
    text: str
    """The sentence without its markers."""

    citations: tuple[Citation, ...]


def cited_sentences(answer: RagAnswer, cited: CitedAnswer) -> tuple[CitedSentence, ...]:
    """
    The sentences of the answer without headings, the heads of tables, questions and lines that end with a colon.

    A marker belongs to the sentence that contains it or precedes it. At the beginning of a line, and before a word in
    lower case, it belongs to the sentence that follows. Sentences with citations are never left out.
    """
    from pytest_ragcheck.judging.offline.words.sentences import places_of_sentences

    text = cited.marked.blanked(answer.text)
    found = list(places_of_sentences(text))
    if not found:
        return ()
    starts = [start for start, _ in found]
    of_sentence: list[list[Citation]] = [[] for _ in found]
    markers = [citation.marker for citation in cited.citations]
    places = [marker.end if marker.label else marker.start for marker in markers]
    for citation, index in zip(cited.citations, _sentences_at(text, places, starts), strict=True):
        of_sentence[index].append(citation)
    headings = sorted((*(match.span("text") for match in _HEADING.finditer(text)), *_table_heads(text)))
    return tuple(
        CitedSentence(text=_BLANKS.sub(" ", _BLANK_BEFORE_MARK.sub("", text[start:end])), citations=tuple(citations))
        for (start, end), citations in zip(found, of_sentence, strict=True)
        if citations or not (text.endswith((":", "?", "：", "？"), start, end) or _is_within(headings, start))
    )


def _table_heads(text: str) -> Iterator[tuple[int, int]]:
    # The line above each rule such as `|---|---|`, with the line break before it.
    for rule in _TABLE_RULE.finditer(text):
        end = rule.start() - 1
        if end > 0 and "|" in rule[0] and "-" in rule[0]:
            yield text.rfind("\n", 0, end), end


def shown(citation: Citation) -> str:
    several = len(citation.marker.targets) > 1
    return f"{citation.target} in {citation.marker.text}" if several else citation.marker.text


def _sentences_at(text: str, places: Sequence[int], starts: list[int]) -> list[int]:
    # The index of the sentence that the marker at each place belongs to; each part of the text is read twice.
    before: list[tuple[bool, int]] = []
    word_before, end, last = False, 0, 0
    for place in places:
        between = text[last:place]
        if stripped := between.rstrip():
            end = last + len(stripped)
        _, newline, line = between.rpartition("\n")
        word_before = (word_before and not newline) or _WORD.search(line) is not None
        before.append((word_before, end))
        last = place
    found: list[int] = []
    word_after, following, last = False, "", len(text)
    for place, (word_before, end) in zip(reversed(places), reversed(before), strict=True):
        line, newline, _ = text[place:last].partition("\n")
        word_after = (word_after and not newline) or _WORD.search(line) is not None
        following = line.lstrip()[:1] or ("" if newline else following)
        begins_line = word_after and not word_before
        follows_end = text.endswith((".", "!", "?"), 0, end) and following.islower()
        if begins_line or follows_end:
            found.append(min(bisect_right(starts, place - 1), len(starts) - 1))
        else:
            found.append(max(bisect_right(starts, max(0, end - 1)) - 1, 0))
        last = place
    return found[::-1]


def _is_within(spans: list[tuple[int, int]], place: int) -> bool:
    at = bisect_left(spans, (place,)) - 1
    return at >= 0 and place < spans[at][1]
