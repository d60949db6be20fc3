"""The judge against a real server: its requests, its judgements, and its identity."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from contextlib import aclosing
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from jsonschema import Draft202012Validator
from openai import AsyncOpenAI

from pytest_ragcheck.errors import JudgeReplyError, JudgeUnavailable, UsageError
from pytest_ragcheck.judging.judge_prompt import load_prompt
from pytest_ragcheck.judging.judgement import JudgeIdentity, Judgement
from pytest_ragcheck.judging.model.openai_judge import OpenAIJudge
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer
from tests.servers.openai_server import OpenAIServer, Reply, completion, says, verdict, verdict_text

KEY = "sk-of-the-judge-0123456789"
QUESTION = Question(dataset_name="d", id="refund", question="How long can I return it?", expected_answer="30 days")
ANSWER = RagAnswer(text="For a month.", contexts=("Returns are taken for 30 days.",))
FULL_MARKS = Judgement(answer_correctness=1.0, groundedness=1.0)


def judge_of(server: OpenAIServer, **settings: Any) -> OpenAIJudge:
    return OpenAIJudge(**{"model": "m-1", "api_key": KEY, "base_url": server.url, "max_retries": 0, **settings})


def judged(judge: OpenAIJudge, question: Question = QUESTION, answer: RagAnswer = ANSWER) -> Judgement:
    async def run() -> Judgement:
        async with aclosing(judge):
            return await judge.judge(question, answer)

    return asyncio.run(run())


@pytest.fixture(autouse=True)
def no_openai_variables(monkeypatch):
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_CUSTOM_HEADERS"):
        monkeypatch.delenv(name, raising=False)


def test_the_verdict_of_the_server_is_the_judgement():
    fields: dict[str, Any] = {
        "answer_correctness": 0.25,
        "groundedness": 0.5,
        "error_message": "A month is not 30 days.",
    }
    with OpenAIServer(verdict(**fields, abstained=False, unsupported_claims=["For a month."])) as server:
        judgement = judged(judge_of(server))
    assert judgement == Judgement(**fields, abstained=False, unsupported_claims=("For a month.",))


def test_one_request_carries_model_key_prompt_temperature_and_schema():
    with OpenAIServer() as server:
        judged(judge_of(server))
    (request,) = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    sent = request.json
    schema = sent.pop("response_format")
    (message,) = sent.pop("messages")
    assert sent == {"model": "m-1", "temperature": 0}
    assert message["role"] == "user"
    assert [request.block(name) for name in ("question", "contexts", "answer", "expected_answers")] == [
        QUESTION.question,
        list(ANSWER.contexts),
        ANSWER.text,
        ["30 days"],
    ]
    assert (schema["type"], schema["json_schema"]["strict"]) == ("json_schema", True)
    full = {"abstained": False, "unsupported_claims": []}
    Draft202012Validator(schema["json_schema"]["schema"]).validate(json.loads(verdict_text("x", **full)))


@pytest.mark.parametrize(
    "base", ["URL", "URL/", "http://me:pass-word@HOST/v1?api-version=3"], ids=["plain", "slash", "query"]
)
def test_the_request_is_the_one_that_the_openai_package_would_send(monkeypatch, base):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-1")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Gateway: a: b\nno header\nX-Empty:")

    async def by_the_package(server, url, body) -> None:
        query = dict(parse_qsl(urlsplit(url).query))
        plain = urlsplit(url)._replace(query="").geturl()
        # The oldest openai package that may be installed does not read OPENAI_CUSTOM_HEADERS.
        custom = {"X-Gateway": "a: b", "X-Empty": ""}
        async with AsyncOpenAI(
            api_key=KEY, base_url=plain, default_query=query, default_headers=custom, max_retries=0
        ) as client:
            await client.chat.completions.create(**body)

    with OpenAIServer() as server:
        url = base.replace("URL", server.url).replace("HOST", server.url.split("/")[2])
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        judged(judge_of(server, base_url=None))
        asyncio.run(by_the_package(server, url, server.requests[0].json))
    ours, theirs = server.requests
    assert (ours.path, ours.json) == (theirs.path, theirs.json)
    about_the_client = ("user-agent", "x-stainless-", "content-length")
    sent, expected = (
        {name: value for name, value in request.headers.items() if not name.lower().startswith(about_the_client)}
        for request in (ours, theirs)
    )
    assert sent == expected


def test_every_question_of_every_judge_has_a_nonce_of_its_own():
    async def run(judge) -> None:
        for question in (QUESTION, QUESTION, replace(QUESTION, question="Who pays?")):
            await judge.judge(question, ANSWER)
        await judge.aclose()

    with OpenAIServer() as server:
        asyncio.run(run(judge_of(server)))
        asyncio.run(run(judge_of(server)))
    one, again, other, *of_another_judge = [request.nonce for request in server.requests]
    assert one == again != other
    assert not {one, other} & set(of_another_judge)


def test_a_users_prompt_without_the_further_fields_works(tmp_path):
    path = tmp_path / "short.txt"
    path.write_text("Score {answer} to {question} by {contexts}, strictly.")
    with OpenAIServer() as server:
        judge = judge_of(server, prompt=load_prompt(path))
        assert judged(judge) == FULL_MARKS
    assert judge.identity.prompt_version == load_prompt(path).version
    assert "expected_answers" not in server.requests[0].prompt


@pytest.mark.parametrize(
    "content",
    [
        "```json\nVERDICT\n```",
        "<think>Let me see: {}</think>\nVERDICT",
        [{"type": "thinking", "thinking": [{"text": "{}"}]}, {"type": "text", "text": "VERDICT"}, "stray"],
    ],
)
def test_fenced_thinking_and_split_replies_are_read(content):
    def script(request):
        quoted = json.dumps(verdict_text(request.nonce))[1:-1]
        return completion(json.loads(json.dumps(content).replace("VERDICT", quoted)))

    with OpenAIServer(script) as server:
        assert judged(judge_of(server)) == FULL_MARKS
    assert len(server.requests) == 1


def test_a_reply_that_cannot_be_read_is_sent_back_once_with_what_is_wrong():
    with OpenAIServer(verdict(groundedness=1.3), verdict(groundedness=0.3)) as server:
        assert judged(judge_of(server)).groundedness == 0.3
    first, second = server.requests
    prompt, said, wanted = second.json["messages"]
    assert prompt == first.json["messages"][0]
    assert said == {"role": "assistant", "content": verdict_text(first.nonce, groundedness=1.3)}
    assert wanted == {
        "role": "user",
        "content": "This cannot be read as your verdict: groundedness is 1.3, outside 0..1. "
        "Reply again, with nothing but the one JSON object that was asked for, all its fields filled in.",
    }


def test_the_russian_prompt_asks_again_in_russian_after_an_unreadable_reply():
    with OpenAIServer(verdict(groundedness=1.3), verdict()) as server:
        judged(judge_of(server, prompt=load_prompt("ru")))
    assert server.requests[1].json["messages"][2]["content"] == (
        "Это нельзя прочитать как твой вердикт: groundedness is 1.3, outside 0..1.\n"
        "Ответь ещё раз, ничем, кроме одного запрошенного объекта JSON, со всеми заполненными полями."
    )


def test_an_empty_reply_is_asked_for_again_without_being_sent_back():
    with OpenAIServer(completion(None), verdict()) as server:
        assert judged(judge_of(server)) == FULL_MARKS
    first, second = server.requests
    assert second.json == first.json


def test_a_reply_that_was_cut_off_is_repaired_with_that_reason():
    with OpenAIServer(completion('{"nonce": ', finish_reason="length"), verdict()) as server:
        assert judged(judge_of(server)) == FULL_MARKS
    assert (
        "verdict: the reply was cut off before its end: the reply holds no complete JSON object."
        in (server.requests[1].json["messages"][2]["content"])
    )


def test_a_whole_verdict_counts_though_the_tokens_ran_out_behind_it():
    def script(request):
        return completion(verdict_text(request.nonce) + " and", finish_reason="length")

    with OpenAIServer(script) as server:
        assert judged(judge_of(server)) == FULL_MARKS


def test_a_huge_faulty_reply_with_lone_surrogates_goes_back_cut_and_clean():
    with OpenAIServer(completion("\ud800" + "x" * 900_000), verdict()) as server:
        assert judged(judge_of(server)) == FULL_MARKS
    assert server.requests[1].json["messages"][1]["content"] == "?" + "x" * 19_999


def test_two_faulty_replies_are_an_error_with_the_problem_and_the_start_of_the_second():
    with (
        OpenAIServer(says("No."), says("Still {no}. " + "x" * 400)) as server,
        pytest.raises(JudgeReplyError) as caught,
    ):
        judged(judge_of(server))
    assert str(caught.value) == (
        f"the judge at {server.url} (model 'm-1') twice gave no verdict: the reply holds no complete JSON object. "
        "Use a model that follows formats more closely, or look at rag_judge_prompt.\n"
        f"It said: Still {{no}}. {'x' * 287}…"
    )
    assert caught.value.reply == f"Still {{no}}. {'x' * 287}…"
    assert len(server.requests) == 2


def test_two_empty_replies_are_an_error_that_says_so():
    with (
        OpenAIServer(completion("")) as server,
        pytest.raises(JudgeReplyError, match=r"twice gave no verdict: the reply is empty\.") as caught,
    ):
        judged(judge_of(server))
    assert str(caught.value).endswith("\nIt said: (nothing)")


def test_many_questions_at_once_each_get_their_own_verdict():
    def script(request):
        return completion(verdict_text(request.nonce, error_message=request.block("question"), groundedness=0))

    async def run(judge) -> Any:
        messages = {}

        async def one(number):
            question = Question(dataset_name="d", id=str(number), question=f"Question {number}?")
            messages[number] = (await judge.judge(question, ANSWER)).error_message

        await asyncio.gather(*map(one, range(40)))
        await judge.aclose()
        return messages

    with OpenAIServer(script) as server:
        messages = asyncio.run(run(judge_of(server)))
    assert messages == {number: f"Question {number}?" for number in range(40)}
    assert len(server.requests) == 40


def test_json_that_a_server_sends_as_plain_text_is_read_all_the_same():
    with OpenAIServer(lambda request: replace(verdict()(request), content_type="text/plain")) as server:
        assert judged(judge_of(server)) == FULL_MARKS


def test_a_judge_imports_the_http_library_at_its_first_question_and_never_openai():
    code = """
import sys
from contextlib import aclosing
import asyncio
from pytest_ragcheck import Question, RagAnswer
from pytest_ragcheck.errors import JudgeUnavailable
from pytest_ragcheck.judging.model.openai_judge import OpenAIJudge

def loaded():
    print(*sorted({'openai', 'httpx', 'httpx2'} & set(sys.modules)))

async def ask():
    async with aclosing(OpenAIJudge(model='m', api_key='k', base_url='http://127.0.0.1:9/v1', max_retries=0)) as judge:
        loaded()
        try:
            await judge.judge(Question(dataset_name='d', id='q', question='Why?'), RagAnswer(text='So.'))
        except JudgeUnavailable:
            loaded()

asyncio.run(ask())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() in (["", "httpx2"], ["", "httpx"])


def test_a_judge_that_was_never_asked_can_be_closed_and_asked_later():
    with OpenAIServer(verdict()) as server:
        judge = judge_of(server)
        asyncio.run(judge.aclose())
        assert server.requests == []
        assert judged(judge) == FULL_MARKS


def test_the_identity_holds_no_credentials_and_names_no_url_for_openais_own():
    judge = OpenAIJudge(model=" m-1 ", api_key="k", base_url="https://me:pass-word@host:8443/api/v1/?api_key=q#f")
    assert judge.identity == JudgeIdentity(
        kind="openai", model="m-1", url="https://host:8443/api/v1", prompt_version="en-2"
    )
    assert OpenAIJudge(model="m", api_key="k").identity.url is None


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"model": " "}, "the openai judge needs a model. Set rag_judge_model."),
        *(
            (
                wrong,
                ("the openai judge takes model, api_key and base_url as str, headers and parameters as mappings."),
            )
            for wrong in ({"model": 3}, {"api_key": b"k"}, {"base_url": 3}, {"headers": "a: b"}, {"parameters": "{}"})
        ),
        ({"prompt": "en"}, "OpenAIJudge: prompt is 'en'. Write prompt=load_prompt(...)."),
        ({"api_key": " "}, "the openai judge needs a key. Set RAGCHECK_JUDGE_API_KEY or OPENAI_API_KEY."),
        (
            {"api_key": "sk-a\N{EN DASH}b"},
            (
                r"the judge's key cannot be sent: its character 5 is '\u2013'. "
                "Copy the key again into RAGCHECK_JUDGE_API_KEY or OPENAI_API_KEY."
            ),
        ),
        (
            {"base_url": "localhost:8000/v1"},
            (
                "the judge's URL 'localhost:8000/v1' is not an http or https URL. "
                "Give the API's base, such as http://localhost:8000/v1."
            ),
        ),
        (
            {"base_url": "http://u:pass-word@h:port/v1"},
            (
                "the judge's URL 'http://h:port/v1' is not an http or https URL. "
                "Give the API's base, such as http://localhost:8000/v1."
            ),
        ),
        (
            {"base_url": "http://h/v1/\udcff"},
            (
                r"the judge's URL 'http://h/v1/\udcff' is not an http or https URL. "
                "Give the API's base, such as http://localhost:8000/v1."
            ),
        ),
        (
            {"base_url": "http://h/v1/chat/completions/"},
            (
                "the judge's URL 'http://h/v1/chat/completions/' is the path of one call. "
                "Give the API's base, without /chat/completions."
            ),
        ),
    ],
)
def test_settings_that_cannot_work_are_refused_at_once(settings, said):
    with pytest.raises(UsageError) as caught:
        OpenAIJudge(**{"model": "m", "api_key": "k", **settings})
    assert str(caught.value) == said


def test_white_space_around_the_key_is_not_sent():
    with OpenAIServer() as server:
        judged(judge_of(server, api_key=f" {KEY}\n"))
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


def test_a_query_in_the_url_goes_with_the_request_and_a_password_as_basic():
    with OpenAIServer() as server:
        judged(judge_of(server, base_url=server.url.replace("//", "//me:pass-word@") + "?api-version=3&x="))
    (request,) = server.requests
    assert request.path == "/v1/chat/completions?api-version=3&x="
    assert request.headers["authorization"] == "Basic bWU6cGFzcy13b3Jk"


def test_the_variables_of_openais_account_do_not_go_to_another_server(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-1")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Gateway: secret-1\nAuthorization: Bearer secret-2")
    with OpenAIServer() as server:
        assert judged(judge_of(server)) == FULL_MARKS
    headers = server.requests[0].headers
    assert headers["authorization"] == f"Bearer {KEY}"
    assert not {"openai-organization", "openai-project", "x-gateway"} & set(headers)


def test_a_server_from_the_environment_gets_its_variables_and_is_in_the_identity(monkeypatch):
    with OpenAIServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
        judge = judge_of(server, base_url=None)
        # The judge asks the server of its identity, even if the variable changes later.
        monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
        assert judged(judge) == FULL_MARKS
    assert judge.identity.url == server.url
    assert server.requests[0].headers["openai-organization"] == "org-1"


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        (
            "OPENAI_PROJECT_ID",
            "pr\N{LATIN SMALL LETTER O WITH ACUTE}ject",
            "value of the header 'openai-project' cannot",
        ),
        ("OPENAI_CUSTOM_HEADERS", "X Gateway: a", "header name 'x gateway' cannot be sent"),
        ("OPENAI_CUSTOM_HEADERS", "Content-Length: 5", "header 'content-length' cannot be set"),
    ],
)
def test_a_header_of_the_environment_that_cannot_be_sent_is_refused_at_once(monkeypatch, variable, value, said):
    monkeypatch.setenv(variable, value)
    with pytest.raises(UsageError, match=f"^{variable}: the {said}"):
        OpenAIJudge(model="m", api_key="k")
    # Of another server they are not.
    OpenAIJudge(model="m", api_key="k", base_url="http://h/v1")


def test_a_redirect_to_another_server_is_refused():
    with OpenAIServer() as other:
        moved = Reply(status=307, headers={"location": f"{other.url}/chat/completions"})
        with OpenAIServer(moved) as server, pytest.raises(JudgeUnavailable, match="redirects the request: HTTP 307"):
            judged(judge_of(server))
    assert other.requests == []


def test_a_redirect_within_the_server_takes_the_key_along():
    with OpenAIServer(Reply(status=308, headers={"location": "/v2/chat/completions"}), verdict()) as server:
        assert judged(judge_of(server)) == FULL_MARKS
    first, second = server.requests
    assert (second.path, second.body) == ("/v2/chat/completions", first.body)
    assert second.headers["authorization"] == f"Bearer {KEY}"


def test_no_secret_of_the_url_is_in_what_the_http_library_logs(caplog):
    caplog.set_level("DEBUG")
    with OpenAIServer() as server:
        judged(judge_of(server, base_url=server.url.replace("//", "//me:pass-word@") + "?api_key=query-secret-1"))
    assert f"POST {server.url}/chat/completions?api_key=[redacted]" in caplog.text
    assert not [secret for secret in ("pass-word", "query-secret-1", KEY) if secret in caplog.text]


def test_a_client_of_the_caller_is_used_as_it_is_and_left_open():
    async def run(server) -> Any:
        client = AsyncOpenAI(api_key="of-the-client", base_url=server.url, max_retries=0, organization="org-2")
        judge = OpenAIJudge(model="m-1", client=client)
        await judge.judge(QUESTION, ANSWER)
        await judge.aclose()
        await judge.judge(QUESTION, ANSWER)
        await client.close()
        return judge.identity.url

    with OpenAIServer() as server:
        assert asyncio.run(run(server)) == server.url
    assert [request.headers["authorization"] for request in server.requests] == ["Bearer of-the-client"] * 2
    assert server.requests[0].headers["openai-organization"] == "org-2"


def test_through_a_client_of_the_caller_a_refusal_is_named_too():
    async def run(server) -> Any:
        async with AsyncOpenAI(api_key="of-the-client", base_url=server.url, max_retries=0) as client:
            return await OpenAIJudge(model="m-1", client=client).judge(QUESTION, ANSWER)

    with (
        OpenAIServer(completion(None, refusal="I will not.")) as server,
        pytest.raises(JudgeReplyError, match="it refused: I will not"),
    ):
        asyncio.run(run(server))
