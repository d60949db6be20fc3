from __future__ import annotations

import math
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.config.resolve import read_settings
from pytest_ragcheck.config.settings import DUMMY_API_KEY, Settings
from pytest_ragcheck.config.table import Given
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.redaction import REDACTED
from pytest_ragcheck.scores import ASSERTABLE, DEFAULT_GROUPS, DEFAULT_WEIGHTS, listed

if TYPE_CHECKING:
    from collections.abc import Mapping

OWN_KEY = {"RAGCHECK_JUDGE_API_KEY": "own-judge-key"}
OPENAI_KEY = {"OPENAI_API_KEY": "openai-key-1"}
SERVER = {"rag_judge_url": Given("http://localhost:11434/v1", "--rag-judge-url")}


def read(environment: Mapping[str, str] | None = None, /, **given: Given) -> Settings:
    return read_settings(given, environment=environment or {}, folder=Path("/project"))


def typed(text: Any, option: str = "--rag-url") -> Given:
    return Given(text, option)


def ini(text: Any, option: str = "rag_url") -> Given:
    return Given(text, f"{option} in pytest.ini")


def headers(*lines: str) -> Given:
    return ini(list(lines), "rag_headers")


def test_nothing_given_means_the_defaults() -> None:
    settings = read()
    assert settings.replace(output=Path("ragcheck-results")) == Settings.of()
    assert settings.run.output == Path("/project/ragcheck-results")
    assert (
        settings.gate.threshold,
        settings.endpoint.top_k,
        settings.endpoint.timeout_seconds,
        settings.run.agent,
    ) == (0.7, 5, 60.0, "rag")
    assert (settings.endpoint.url, settings.judge.name, settings.run.require_endpoint) == (None, None, False)


@pytest.mark.parametrize(
    ("given", "environment", "url"),
    [
        ("typed", "http://environment", "http://typed"),
        ("typed", "", "http://typed"),
        ("ini", "http://environment", "http://environment"),
        ("ini", "", "http://ini"),
        (None, "http://environment", "http://environment"),
    ],
)
def test_the_command_line_wins_over_the_environment_and_that_over_the_ini_file(
    given: str | None, environment: str, url: str
) -> None:
    options = {"typed": {"rag_url": typed("http://typed")}, "ini": {"rag_url": ini("http://ini")}, None: {}}
    assert read({"RAGCHECK_URL": environment}, **options[given]).endpoint.url == url


@pytest.mark.parametrize(
    ("environment", "given", "problem"),
    [
        ({}, {"rag_url": typed("localhost")}, "--rag-url: 'localhost' is not a URL; write it whole, such as "),
        ({"RAGCHECK_URL": "x"}, {}, "RAGCHECK_URL: 'x' is not a URL; write it whole, such as "),
        (
            {},
            {"rag_threshold": ini("7", "rag_threshold")},
            "rag_threshold in pytest.ini: '7' is not a number from 0 to 1; write one such as ",
        ),
        (
            {},
            {"rag_min": typed(["f1=0.5", "f1"], "--rag-min")},
            "--rag-min: 'f1' is not of the form METRIC=VALUE; write, for example, ",
        ),
        (
            {},
            {"rag_headers": headers("Authorization Bearer abc")},
            "rag_headers in pytest.ini: a line is not of the form 'Name: value'; write, for example, ",
        ),
    ],
)
def test_a_wrong_value_is_named_with_its_origin(
    environment: dict[str, str], given: dict[str, Given], problem: str
) -> None:
    with pytest.raises(UsageError) as caught:
        read(environment, **given)
    assert str(caught.value).startswith(problem)
    assert "abc" not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["http://bob:hunter2@", "https//bob:hunter2@host/q", "http://bob:hun/ter2@host", "ftp://h?token=hunter2"]
)
def test_a_wrong_url_is_quoted_without_its_secrets(url: str) -> None:
    with pytest.raises(UsageError, match=r"is not a URL; write it whole") as caught:
        read(rag_url=typed(url))
    assert "bob" not in str(caught.value)
    assert "ter2" not in str(caught.value)


def test_every_setting_is_read() -> None:
    settings = read(
        rag_url=typed("http://h/query"),
        rag_threshold=typed("0.8"),
        rag_min=typed(["f1=0.5", "groundedness=0.9"]),
        rag_judge=typed("offline"),
        rag_judge_model=typed("m"),
        rag_judge_url=typed("http://j/v1"),
        rag_embedding_model=ini("e@http://e/v1"),
        rag_metrics=ini("+bertscore=roberta-large@17"),
        rag_output=typed("out"),
        rag_agent=typed("gpt"),
        rag_require_endpoint=typed(text=True),
        rag_headers=headers("X-Team: billing"),
        rag_top_k=ini("7"),
        rag_timeout=ini("1.5"),
        rag_judge_prompt=ini("en"),
        rag_question_files=ini(["*_questions.json", "more/*.yaml"]),
    )
    assert settings == Settings.of(
        url="http://h/query",
        headers={"X-Team": "billing"},
        top_k=7,
        timeout=1.5,
        require_endpoint=True,
        threshold=0.8,
        min={"f1": 0.5, "groundedness": 0.9},
        judge="offline",
        judge_model="m",
        judge_url="http://j/v1",
        judge_api_key=DUMMY_API_KEY,
        metrics=(*DEFAULT_GROUPS, "bertscore=roberta-large@17"),
        embedding_model="e@http://e/v1",
        embedding_api_key=DUMMY_API_KEY,
        judge_prompt="en",
        output=Path("/project/out"),
        agent="gpt",
        question_files=("*_questions.json", "more/*.yaml"),
    )


def test_the_concurrency_of_the_judge_follows_that_of_the_endpoint() -> None:
    assert Settings.of(concurrency=3).judge_concurrency == 3
    assert Settings.of(concurrency=3, judge_concurrency=2).judge_concurrency == 2


def test_an_output_folder_beside_the_root_has_a_plain_path() -> None:
    given = {"rag_output": Given("../results", "rag_output in pytest.ini")}
    assert read_settings(given, folder=Path("/project")).run.output == Path("/results")


def test_the_process_environment_and_folder_are_the_defaults() -> None:
    assert read_settings({}).run.output == Path.cwd() / "ragcheck-results"


@pytest.mark.parametrize(
    ("environment", "given", "key"),
    [
        ({}, {}, None),
        (OPENAI_KEY, {}, "openai-key-1"),
        ({**OPENAI_KEY, **OWN_KEY}, {}, "own-judge-key"),
        (OPENAI_KEY, SERVER, DUMMY_API_KEY),
        ({**OPENAI_KEY, **OWN_KEY}, SERVER, "own-judge-key"),
        ({**OPENAI_KEY, "RAGCHECK_JUDGE_URL": "http://j/v1"}, {}, DUMMY_API_KEY),
        ({**OPENAI_KEY, "RAGCHECK_JUDGE_API_KEY": " \n"}, {}, "openai-key-1"),
        ({"OPENAI_API_KEY": " openai-key-1\n"}, {}, "openai-key-1"),
    ],
)
def test_openais_key_is_never_for_another_server(
    environment: dict[str, str], given: dict[str, Given], key: str | None
) -> None:
    assert read(environment, **given).judge.api_key == key


@pytest.mark.parametrize(
    ("environment", "given", "key"),
    [
        ({**OPENAI_KEY, **OWN_KEY}, {}, None),
        ({**OPENAI_KEY, **OWN_KEY}, {"rag_embedding_model": ini("e@http://e/v1")}, DUMMY_API_KEY),
        ({"RAGCHECK_EMBEDDING_API_KEY": "key-e"}, {"rag_embedding_model": ini("e@http://e/v1")}, "key-e"),
    ],
)
def test_a_server_of_embeddings_gets_its_own_key_alone(
    environment: dict[str, str], given: dict[str, Given], key: str | None
) -> None:
    assert read(environment, **given).judge.embedding_api_key == key


@pytest.mark.parametrize(
    ("environment", "given", "judge"),
    [
        ({}, {}, None),
        (OPENAI_KEY, {}, "openai"),
        ({}, SERVER, "openai"),
        ({}, {"rag_judge_model": typed("m")}, "openai"),
        (OPENAI_KEY, {"rag_judge": typed("none")}, "none"),
        ({**OPENAI_KEY, "RAGCHECK_JUDGE": "offline"}, {}, "offline"),
    ],
)
def test_the_judge_is_the_one_that_was_named_else_the_one_that_something_points_to(
    environment: dict[str, str], given: dict[str, Given], judge: str | None
) -> None:
    assert read(environment, **given).judge.name == judge


@pytest.mark.parametrize(
    ("given", "prompt"),
    [
        ("en", "en"),
        ("mine.txt", "/project/mine.txt"),
        ("prompts/mine", "/project/prompts/mine"),
        ("/p/x.txt", "/p/x.txt"),
    ],
)
def test_a_judge_prompt_that_looks_like_a_path_is_relative_to_the_folder(given: str, prompt: str) -> None:
    assert read(rag_judge_prompt=ini(given)).judge.prompt == prompt


def test_a_model_that_is_a_folder_is_that_folder_and_any_other_a_name_on_the_hub(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "models").mkdir()

    def model(text: str) -> str | None:
        given = {"rag_metrics": ini(f"+bertscore={text}")}
        return read_settings(given, environment={}, folder=tmp_path).run.bertscore_model

    assert model("models@2") == f"{tmp_path / 'models'}@2"
    assert model("models") == str(tmp_path / "models")
    assert model("org/model@2") == "org/model@2"

    def embedding(text: str) -> str | None:
        return read_settings({"rag_embedding_model": ini(text)}, environment={}, folder=tmp_path).judge.embedding_model

    assert embedding("local: models") == f"local:{tmp_path / 'models'}"
    assert embedding("local:org/model") == "local:org/model"
    assert embedding("models") == "models", "a server's"

    def judge(text: str) -> str | None:
        given = {"rag_judge": ini("local"), "rag_judge_model": ini(text)}
        return read_settings(given, environment={}, folder=tmp_path).judge.model

    monkeypatch.setenv("HOME", str(tmp_path))
    assert judge("models") == judge("~/models") == str(tmp_path / "models")
    assert judge("~/nothing") == "~/nothing"
    assert judge("~nobody-of-that-name/models") == "~nobody-of-that-name/models"
    with pytest.raises(UsageError, match="names no model"):
        Settings.of(embedding_model="local:")


def test_headers_take_their_secrets_from_the_environment() -> None:
    settings = read(
        {"USER_NAME": "bob", "RAG_TOKEN": "correct-horse"},
        rag_headers=headers("Authorization: Bearer {env:RAG_TOKEN}", "X-By: {env:USER_NAME}/{env:RAG_TOKEN}"),
    )
    assert settings.endpoint.headers == {"Authorization": "Bearer correct-horse", "X-By": "bob/correct-horse"}


@pytest.mark.parametrize("environment", [{}, {"RAG_TOKEN": ""}])
def test_a_header_whose_variable_is_not_set_is_refused(environment: dict[str, str]) -> None:
    with pytest.raises(UsageError) as caught:
        read(environment, rag_headers=headers("Authorization: Bearer {env:RAG_TOKEN}"))
    assert str(caught.value) == (
        "rag_headers in pytest.ini: Authorization needs the environment variable 'RAG_TOKEN', "
        "which is not set or empty. Set it, or take the header out."
    )


def test_an_invalid_header_is_refused_with_its_origin_and_without_its_value() -> None:
    with pytest.raises(UsageError) as caught:
        read({"RAG_TOKEN": "correct-horse\n"}, rag_headers=headers("Authorization: Bearer {env:RAG_TOKEN}"))
    assert str(caught.value) == (
        "rag_headers in pytest.ini: the value of the header 'Authorization' cannot be sent: it has a line break, "
        "another control character, a character beyond ASCII, or white space at an end (its value is not shown). "
        "Check the environment's 'RAG_TOKEN': a secret read from a file often ends in a line break."
    )


def test_authorization_by_header_and_by_url_is_refused_with_both_origins() -> None:
    with pytest.raises(UsageError) as caught:
        read({"RAGCHECK_URL": "http://me:pw-12345@h/q"}, rag_headers=headers("Authorization: Bearer abc"))
    assert str(caught.value) == (
        "rag_headers in pytest.ini: the header 'Authorization' cannot be sent with the user name and password in "
        "RAGCHECK_URL, which are sent as the same header. Take one of them out."
    )


SECRETS = {
    "a password in the URL": ({"rag_url": typed("http://bob:correct-horse@h/q")}, {}),
    "a percent-encoded password": ({"rag_url": typed("http://bob:correct%2Dhorse@h/q")}, {}),
    "a parameter of the URL": ({"rag_url": typed("http://h/q?key=correct-horse")}, {}),
    "a header of the judge": ({"rag_judge_headers": headers("X-Gateway-Token: correct-horse")}, {}),
    "a variable in a header of the judge": (
        {"rag_judge_headers": headers("X-Team: {env:TEAM}")},
        {"TEAM": "correct-horse"},
    ),
    "a parameter of the judge's URL": ({"rag_judge_url": typed("http://j/v1?api-key=correct-horse")}, {}),
    "a written-out header": ({"rag_headers": headers("X-Api-Key: correct-horse")}, {}),
    "a header with a scheme": ({"rag_headers": headers("Authorization: Token correct-horse")}, {}),
    "a variable in any header": ({"rag_headers": headers("X-Team: {env:TEAM}")}, {"TEAM": "correct-horse"}),
    "a parameter of the embeddings' URL": ({"rag_embedding_model": ini("e@http://e/v1?api-key=correct-horse")}, {}),
    "the embeddings' key": ({}, {"RAGCHECK_EMBEDDING_API_KEY": "correct-horse"}),
    "the judge's key": ({}, {"RAGCHECK_JUDGE_API_KEY": "correct-horse"}),
    "a parameter of the environment's server": ({}, {"OPENAI_BASE_URL": "http://j/v1?api-key=correct-horse"}),
    "a header of the environment": ({}, {"OPENAI_CUSTOM_HEADERS": "X-Team: a\nX-Gateway-Token: Token correct-horse"}),
    "a key that is not used": (SERVER, {"OPENAI_API_KEY": "correct-horse"}),
}


@pytest.mark.parametrize(("given", "environment"), SECRETS.values(), ids=SECRETS)
def test_the_redactor_knows_every_secret_of_the_settings(given: dict[str, Given], environment: dict[str, str]) -> None:
    settings = read(environment, **given)
    assert settings.redactor.text("it said <correct-horse>") == f"it said <{REDACTED}>"
    # pytest's --showlocals shows it.
    assert repr(settings).startswith("Settings.of(")
    assert "correct-horse" not in repr(settings)


def test_a_dummy_key_and_an_ordinary_header_are_no_secrets() -> None:
    settings = read(**SERVER, rag_headers=headers("X-Team: billing"))
    assert settings.redactor.text(f"{DUMMY_API_KEY} for billing") == f"{DUMMY_API_KEY} for billing"


def test_changed_settings_know_their_new_secrets_and_their_old_ones() -> None:
    settings = read(OWN_KEY)
    changed = settings.replace(headers={"Authorization": "Bearer correct-horse"}, secrets=(*settings.secrets, "mine-1"))
    assert changed.redactor.text("correct-horse own-judge-key mine-1") == " ".join([REDACTED] * 3)


def test_one_text_is_one_secret_or_one_metric():
    settings = Settings.of(secrets="correct-horse", own_metrics="cited", min="cited=0.5")
    assert (settings.redactor.text("correct-horse"), settings.gate.minimums) == (REDACTED, {"cited": 0.5})


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"min": 3}, "Settings: min: '3' is not of the form METRIC=VALUE; write, for example, f1=0.5"),
        ({"threshold": math.nan}, "Settings: threshold: 'nan' is not a number from 0 to 1; write one such as 0.7"),
        ({"threshold": 70}, "Settings: threshold: '70' is not a number from 0 to 1; write one such as 0.7"),
        ({"threshold": True}, "Settings: threshold: 'True' is not a number from 0 to 1; write one such as 0.7"),
        ({"min": {"f1": 2}}, "Settings: min: 'f1=2' is not a number from 0 to 1; write one such as 0.7"),
        (
            {"min": {"f2": 0.5}},
            (
                f"Settings: min: 'f2=0.5' names no metric that can be asserted; choose one of {listed(ASSERTABLE)}, "
                "or one of your own from the hook pytest_ragcheck_metrics or Settings.of(own_metrics=[...])"
            ),
        ),
        (
            {"embedding_model": "e@http://bob:hunter2@"},
            "Settings: embedding_model: 'e@http://' is not a URL; write it whole, such as http://localhost:8000/v1",
        ),
        (
            {"url": "http://bob:hunter2@"},
            "Settings: url: 'http://' is not a URL; write it whole, such as http://localhost:8000/query",
        ),
        (
            {"judge_url": "j"},
            "Settings: judge_url: 'j' is not a URL; write it whole, such as http://localhost:8000/v1",
        ),
        (
            {"judge": "gpt"},
            (
                "Settings: judge: 'gpt' is not a judge; choose one of openai, offline, local, ragas, none, "
                "or give your own in the rag_judge fixture or to evaluate"
            ),
        ),
    ],
)
def test_settings_that_cannot_work_are_refused_however_they_are_made(change: dict[str, Any], problem: str) -> None:
    with pytest.raises(UsageError) as caught:
        Settings.of().replace(**change)
    assert str(caught.value) == problem


def test_a_threshold_may_be_any_kind_of_number() -> None:
    number: Any = Decimal("0.5")
    assert Settings.of().replace(threshold=number).gate.threshold == 0.5
    assert Settings.of().replace(threshold=1).gate.threshold == 1


@pytest.mark.parametrize(
    ("words", "groups"),
    [
        ((), DEFAULT_GROUPS),
        (("+overlap",), DEFAULT_GROUPS),
        (("overlap", "judge"), ("overlap", "judge")),
        (("overlap", "+judge", "overlap"), ("overlap", "judge")),
    ],
)
def test_groups_of_metrics_replace_the_default_ones_or_are_added(words: tuple[str, ...], groups: object) -> None:
    assert read(rag_metrics=ini(list(words), "rag_metrics")).run.metrics == groups


def test_a_minimum_of_a_group_that_is_left_out_is_refused() -> None:
    with pytest.raises(UsageError) as caught:
        read(rag_metrics=ini(["judge"], "rag_metrics"), rag_min=typed(["f1=0.5"], "--rag-min"))
    assert str(caught.value) == (
        "rag_min: f1 is measured by the group 'overlap', which rag_metrics leaves out; "
        "write rag_metrics = +overlap, or leave the minimum out"
    )


def test_a_minimum_may_name_a_metric_of_the_users_own() -> None:
    given = {"rag_min": typed(["brevity=0.5"], "--rag-min")}
    assert read_settings(given, environment={}, own_metrics=["brevity"]).gate.minimums == {"brevity": 0.5}
    with pytest.raises(UsageError, match=r"^--rag-min: 'brevity=0\.5' names no metric that can be asserted; choose"):
        read_settings(given, environment={}, own_metrics=["length"])


def test_parameters_are_read_from_texts_and_mappings_alike() -> None:
    parameters = {"max_tokens": 4096, "stop": ["x"]}
    assert Settings.of(judge_parameters=parameters).judge.parameters == parameters
    given = ini('{"max_tokens": 4096, "stop": ["x"]}', "rag_judge_parameters")
    assert read(rag_judge_parameters=given).judge.parameters == parameters


def test_groups_of_metrics_are_checked_when_settings_are_made() -> None:
    with pytest.raises(UsageError, match=r"^Settings: metrics: 'overlapp' is not a group of metrics; did you mean"):
        Settings.of(metrics=("overlapp",))


def test_weights_replace_the_default_ones() -> None:
    assert read().run.weights == DEFAULT_WEIGHTS
    assert read(rag_weights=ini(["f1=2", "groundedness=1"], "rag_weights")).run.weights == {
        "f1": 2.0,
        "groundedness": 1.0,
    }


def test_a_minimum_of_a_weighted_score_that_nothing_measures_is_refused() -> None:
    with pytest.raises(UsageError) as caught:
        Settings.of(min={"overall_score": 0.7})
    assert str(caught.value) == (
        "rag_min: overall_score is measured by the group 'ragas', which rag_metrics leaves out; "
        "write rag_metrics = +ragas, or leave the minimum out"
    )
    assert Settings.of(min={"overall_score": 0.7}, weights={"f1": 1}).gate.minimums == {"overall_score": 0.7}


def test_weights_are_checked_when_settings_are_made() -> None:
    with pytest.raises(
        UsageError, match=r"^Settings: weights: 'f1=0' has no weight above 0; write, for example, f1=2$"
    ):
        Settings.of(weights={"f1": 0})
