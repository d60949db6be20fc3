from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from pytest_ragcheck.cli.command_line import complain, say
from pytest_ragcheck.cli.project.user_project import default_results
from pytest_ragcheck.cli.results.gate_arguments import with_own_baseline
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.report.files.results_reader import predictions_path, read_results

_SECONDS = 30
_PER_PAGE = 100
_MOST_PAGES = 50


class NotPosted(Exception):
    """The comment was not written. The text gives the reason."""


def run(chosen: argparse.Namespace) -> int:
    from pytest_ragcheck.report.view import view_of
    from pytest_ragcheck.report.write_report import COMMENT_CHARS, markdown_of

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


@frozen
class Discussion:
    comments: str

    comment: str
    """The URL of one comment, without its id."""

    update: Literal["PATCH", "PUT"]
    headers: Mapping[str, str]


def discussion_of() -> Discussion:
    """That of the CI job's pull request: `NotPosted` without one, a `UsageError` without a token."""
    if os.environ.get("GITLAB_CI"):
        return _on_gitlab()
    if os.environ.get("GITHUB_ACTIONS"):
        return _on_github()
    raise NotPosted("this is not a job of GitHub Actions or GitLab CI")


def _on_github() -> Discussion:
    number = _github_number()
    token = os.environ.get("GITHUB_TOKEN")
    if not token:
        raise UsageError("GITHUB_TOKEN is not set. Give the step: env: GITHUB_TOKEN: ${{ github.token }}")
    base = f"{os.environ.get('GITHUB_API_URL', 'https://api.github.com')}/repos/{os.environ['GITHUB_REPOSITORY']}"
    return Discussion(
        comments=f"{base}/issues/{number}/comments",
        comment=f"{base}/issues/comments/",
        update="PATCH",
        headers={"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json"},
    )


def _github_number() -> int:
    try:
        event = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
        return int((event.get("pull_request") or event["issue"])["number"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise NotPosted("this job is not for a pull request") from None


def _on_gitlab() -> Discussion:
    number = os.environ.get("CI_MERGE_REQUEST_IID")
    if not number:
        raise NotPosted("this job is not for a merge request")
    token = os.environ.get("GITLAB_TOKEN")
    if not token:
        raise UsageError("GITLAB_TOKEN is not set. Give the job a project access token with the scope api.")
    project = quote(os.environ["CI_PROJECT_ID"], safe="")
    notes = f"{os.environ['CI_API_V4_URL']}/projects/{project}/merge_requests/{quote(number, safe='')}/notes"
    return Discussion(comments=notes, comment=f"{notes}/", update="PUT", headers={"PRIVATE-TOKEN": token})


def post_comment(discussion: Discussion, marker: str, text: str) -> bool:
    """Update the comment that begins with the marker, or write one and return False; else `NotPosted`."""
    from pytest_ragcheck.rag.http.connections import http_library

    library = http_library()
    try:
        with library.Client(headers=dict(discussion.headers), timeout=_SECONDS) as client:
            body = {"body": f"{marker}\n{text}"}
            for comment in _comments(client, discussion):
                if str(comment.get("body", "")).startswith(marker):
                    url = f"{discussion.comment}{int(comment['id'])}"
                    _accepted(client.request(discussion.update, url, json=body))
                    return True
            _accepted(client.post(discussion.comments, json=body))
            return False
    except library.HTTPError as error:
        raise NotPosted(f"{discussion.comments}: {error or type(error).__name__}") from None


def _comments(client: Any, discussion: Discussion) -> Iterator[dict[str, Any]]:
    for page in range(1, _MOST_PAGES + 1):
        reply = _accepted(client.get(discussion.comments, params={"per_page": _PER_PAGE, "page": page}))
        try:
            found = [each for each in reply.json() if isinstance(each, dict)]
        except (ValueError, TypeError):
            raise NotPosted(f"{discussion.comments}: the reply is not a list of comments") from None
        yield from found
        if len(found) < _PER_PAGE:
            return


def _accepted(reply: Any) -> Any:
    if reply.is_success:
        return reply
    if reply.status_code in {401, 403, 404}:
        raise NotPosted(
            f"the token may not comment here (status {reply.status_code}), as for a pull request from a fork"
        )
    raise NotPosted(f"{reply.request.method} {reply.url}: status {reply.status_code}")
