"""`ragcheck comment` shows the results of a run as one comment of the pull request."""

from __future__ import annotations

import argparse

from pytest_ragcheck.cli.gate_arguments import with_own_baseline
from pytest_ragcheck.cli.printing import complain, say
from pytest_ragcheck.cli.project.user_project import default_results
from pytest_ragcheck.report.files.results_reader import predictions_path, read_results


def run(chosen: argparse.Namespace) -> int:
    from pytest_ragcheck.cli.results.pull_request import NotPosted, discussion_of, post_comment
    from pytest_ragcheck.report.markdown import COMMENT_CHARS, markdown_of
    from pytest_ragcheck.report.view import view_of

    results = with_own_baseline(read_results(predictions_path(chosen.results or default_results(), partial=True)))
    # Several systems in one workflow have a comment each.
    marker = f"<!-- pytest-ragcheck: {results.predictions['agent_name'].replace('--', '- -')} -->"
    text = markdown_of(view_of(results), most_chars=COMMENT_CHARS - len(marker) - 1)
    try:
        updated = post_comment(discussion_of(), marker, text)
    except NotPosted as error:
        complain("comment", f"nothing written: {error}")
        return 0
    say("updated the comment" if updated else "wrote a comment")
    return 0
