from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck import UsageError
from tests.canned import bad, good

if TYPE_CHECKING:
    from tests.harness import Project

TERMS = good("terms")


def test_two_replies_to_one_text_are_refused(project: Project) -> None:
    with pytest.raises(UsageError) as caught:
        project.ask(TERMS, TERMS.but(id="fees", answer="A month."))
    assert str(caught.value) == "RagProject: two questions are 'What about terms?', with other replies. Change one."


def test_a_question_may_be_asked_twice_and_get_another_reply_later(project: Project) -> None:
    project.ask(TERMS, TERMS.but(id="fees", entry={"expected_answer": "30 days"}))
    project.reply_to(TERMS.but(groundedness=0.1))
    assert project.run().verdicts == {"terms": "FAIL", "fees": "FAIL"}


def test_a_partial_run_reports_its_own_results_and_nothing_for_a_question_that_did_not_run(project: Project) -> None:
    project.ask(bad("prices"), TERMS)
    stopped = project.run("-x")
    assert (stopped.verdicts, stopped.counts["pass"], stopped.errors_by_id) == ({"prices": "FAIL"}, 0, {})
    assert stopped.scores.keys() == {"prices"}
    assert project.run().verdicts == {"prices": "FAIL", "terms": "PASS"}
    project.ask(bad("prices").but(groundedness=1.0), TERMS.but(groundedness=0.1))
    assert project.run("-k", "prices").verdicts == {"prices": "PASS"}
    assert project.run().verdicts == {"prices": "PASS", "terms": "FAIL"}
