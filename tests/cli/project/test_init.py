"""`ragcheck init` in projects of every kind."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
import yaml

from pytest_ragcheck.cli.project.user_project import host_of
from pytest_ragcheck.questions import QUESTION_FILES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.harness import Project

    Ragcheck = Callable[..., tuple[int, str, str]]

ANSWERS = """\
import pytest
from pytest_ragcheck import RagClient

PASSAGES = [
    "Refunds are possible within 30 days of delivery.",
    "Support answers from 9:00 to 17:00 on working days.",
]


def answer(query):
    for passage in PASSAGES:
        if passage.split()[0].lower().rstrip("s") in query.lower():
            return {"answer": passage, "contexts": PASSAGES}
    return {"answer": "I don't know; the documents do not say.", "contexts": PASSAGES}


@pytest.fixture(scope="session")
def rag_client():
    return RagClient.from_callable(answer)
"""
NEXT = """
Next, with the URL of your endpoint instead of this one:

    ragcheck probe http://localhost:8000/query
    pytest {questions} --rag-url=http://localhost:8000/query
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project without a configuration in a folder above."""
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)


def git_repository(folder: Path, remote: str | None = None, name: str = "origin") -> None:
    git(folder, "init", "-q")
    if remote:
        git(folder, "remote", "add", name, remote)


def all_files(folder: Path) -> list[str]:
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return sorted(name for name in found if not name.startswith(".git/"))


def workflow(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_an_empty_folder_gets_everything(folder: Path, ragcheck: Ragcheck) -> None:
    status, printed, _ = ragcheck("init")
    assert status == 0
    assert printed == (
        "wrote          first.rag.yaml\n"
        "wrote          question-file.schema.json\n"
        "wrote          pytest.ini\n"
        "wrote          .github/workflows/ragcheck.yml\n"
    ) + NEXT.format(questions="first.rag.yaml")
    assert all_files(folder) == [
        ".github/workflows/ragcheck.yml",
        "first.rag.yaml",
        "pytest.ini",
        "question-file.schema.json",
    ]


@pytest.mark.parametrize("tests", ["tests", "test"])
def test_questions_go_into_the_folder_of_the_tests(tests: str, folder: Path, ragcheck: Ragcheck) -> None:
    (folder / tests).mkdir()
    _, printed, _ = ragcheck("init")
    assert (folder / tests / "first.rag.yaml").is_file()
    assert (folder / tests / "question-file.schema.json").is_file()
    assert f"    pytest {tests}/first.rag.yaml --rag-url=" in printed


def test_the_written_project_runs_and_passes(project: Project, ragcheck: Ragcheck) -> None:
    project.write("conftest.py", ANSWERS)
    ragcheck("init", str(project.folder))
    run = project.run("-v")
    assert run.exit_status == 0, run.text
    assert run.verdicts == {"refund-window": "PASS", "support-hours": "PASS", "not-in-the-documents": "PASS"}
    assert run.summary["judge"]["kind"] == "offline"
    assert project.run("-m", "support").outcomes == {"passed": 1, "deselected": 2}


def test_the_written_question_file_points_at_the_schema_beside_it_and_keeps_it(
    folder: Path, ragcheck: Ragcheck
) -> None:
    ragcheck("init")
    text = (folder / "first.rag.yaml").read_text(encoding="utf-8")
    match = re.match(r"# yaml-language-server: \$schema=(\S+)\n", text)
    assert match
    beside = json.loads((folder / match[1]).read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(beside).validate(yaml.safe_load(text))


def test_the_written_schema_is_the_one_that_the_command_prints(folder: Path, ragcheck: Ragcheck) -> None:
    ragcheck("init")
    _, printed, _ = ragcheck("schema", "questions")
    assert (folder / "question-file.schema.json").read_text(encoding="utf-8") == printed


def test_another_folder_may_be_named(folder: Path, ragcheck: Ragcheck) -> None:
    (folder / "service").mkdir()
    status, printed, _ = ragcheck("init", "service")
    assert status == 0
    assert printed.startswith("wrote          first.rag.yaml\n")
    assert (folder / "service" / "first.rag.yaml").is_file()


def test_nothing_is_ever_overwritten(folder: Path, ragcheck: Ragcheck) -> None:
    ragcheck("init")
    for name in all_files(folder):
        (folder / name).write_text("mine")
    status, printed, _ = ragcheck("init")
    assert status == 0
    assert [(folder / name).read_text() for name in all_files(folder)] == ["mine"] * 4
    assert printed.splitlines()[:3] == [
        "left as it is  first.rag.yaml",
        "left as it is  question-file.schema.json",
        "left as it is  .github/workflows/ragcheck.yml",
    ]


def test_a_link_to_nowhere_is_left_too(folder: Path, ragcheck: Ragcheck) -> None:
    (folder / "first.rag.yaml").symlink_to("elsewhere.rag.yaml")
    _, printed, _ = ragcheck("init")
    assert printed.startswith("left as it is  first.rag.yaml\n")
    assert not (folder / "elsewhere.rag.yaml").exists()
    assert "would leave as it is  first.rag.yaml\n" in ragcheck("init", "--dry-run")[1]


def test_a_dry_run_shows_everything_and_writes_nothing(folder: Path, ragcheck: Ragcheck) -> None:
    (folder / "first.rag.yaml").write_text("- Mine?")
    status, printed, _ = ragcheck("init", "--dry-run")
    assert status == 0
    assert all_files(folder) == ["first.rag.yaml"]
    ragcheck("init")
    ini = (folder / "pytest.ini").read_text(encoding="utf-8")
    shown_ini = "".join(f"    {line}\n" for line in ini.splitlines())
    assert printed.startswith(
        "would leave as it is  first.rag.yaml\n"
        "would write           question-file.schema.json  (what ragcheck schema questions prints)\n"
        f"would write           pytest.ini\n{shown_ini}"
        "would write           .github/workflows/ragcheck.yml\n    name: ragcheck\n\n    on:\n"
    )


def test_a_folder_that_is_none_is_wrong_usage(folder: Path, ragcheck: Ragcheck) -> None:
    assert ragcheck("init", "nowhere") == (
        2,
        "",
        "ragcheck init: nowhere is not a folder. Create it first, or name another.\n",
    )


def test_a_file_that_cannot_be_written_is_named(folder: Path, ragcheck: Ragcheck) -> None:
    (folder / ".github").write_text("not a folder")
    status, _, err = ragcheck("init")
    assert status == 1
    assert err == (
        f"ragcheck init: {folder / '.github' / 'workflows'} cannot be written (Not a directory). "
        "Allow writing there, or move it away.\n"
    )


# Settings


def test_settings_of_a_fresh_project_have_the_offline_judge_and_no_url(folder: Path, ragcheck: Ragcheck) -> None:
    ragcheck("init")
    assert (folder / "pytest.ini").read_text(encoding="utf-8") == (
        "[pytest]\n"
        "# The endpoint; RAGCHECK_URL and --rag-url override it. ragcheck probe checks it.\n"
        "# rag_url = http://localhost:8000/query\n"
        "# Compares words and numbers, needs no model and no key. openai is a language model as judge.\n"
        "rag_judge = offline\n"
    )


def test_a_url_in_the_environment_is_taken_over(
    folder: Path, ragcheck: Ragcheck, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGCHECK_URL", "https://staging.example/query")
    _, printed, _ = ragcheck("init")
    assert "\nrag_url = https://staging.example/query\n" in (folder / "pytest.ini").read_text(encoding="utf-8")
    assert printed.endswith(
        "\nNext, with the endpoint in RAGCHECK_URL, https://staging.example/query:\n"
        "\n"
        "    ragcheck probe\n"
        "    pytest first.rag.yaml\n"
    )


@pytest.mark.parametrize(
    "url", ["https://me:pw-4711@staging.example/query", "https://staging.example/query?api_key=pw-4711", "pw-4711"]
)
def test_a_url_with_a_secret_and_one_that_is_none_are_not_written(
    url: str, folder: Path, ragcheck: Ragcheck, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGCHECK_URL", url)
    _, printed, _ = ragcheck("init")
    everything = printed + "".join((folder / name).read_text(encoding="utf-8") for name in all_files(folder))
    assert "pw-4711" not in everything


OFFERED = """\
    # The endpoint; RAGCHECK_URL and --rag-url override it. ragcheck probe checks it.
    # rag_url = {quote}http://localhost:8000/query{quote}
    # Compares words and numbers, needs no model and no key. openai is a language model as judge.
    rag_judge = {quote}offline{quote}
"""

CONFIGURED = [
    ("pytest.ini", "[pytest]\naddopts = -q\n", ", below line 1, [pytest]", ""),
    ("tox.ini", "[tox]\n\n[pytest]\n", ", below line 3, [pytest]", ""),
    ("setup.cfg", "[metadata]\n[tool:pytest]\n", ", below line 2, [tool:pytest]", ""),
    (
        "pyproject.toml",
        '[tool.pytest.ini_options]\naddopts = "-q"\n[tool.x]\n',
        ", below line 1, [tool.pytest.ini_options]",
        '"',
    ),
    ("pyproject.toml", "[tool.black]\n\n[ tool.pytest ]\n", ", below line 3, [ tool.pytest ]", '"'),
    ("pytest.toml", "# ours\n[pytest]\n", ", below line 2, [pytest]", '"'),
]


@pytest.mark.parametrize("configured", CONFIGURED, ids=lambda configured: configured[0])
def test_for_an_existing_configuration_the_lines_and_their_place_are_shown(
    configured: tuple[str, str, str, str], folder: Path, ragcheck: Ragcheck
) -> None:
    name, text, place, quote = configured
    (folder / name).write_text(text)
    _, printed, _ = ragcheck("init")
    assert (folder / name).read_text() == text
    assert (folder / "pytest.ini").exists() == (name == "pytest.ini")
    assert f"\nAdd to {name}{place}:\n\n{OFFERED.format(quote=quote)}" in printed


@pytest.mark.parametrize(("name", "quote"), [("pytest.ini", ""), (".pytest.toml", '"')])
def test_a_file_of_pytests_without_a_heading_gets_it_too(
    name: str, quote: str, folder: Path, ragcheck: Ragcheck
) -> None:
    (folder / name).write_text("")
    _, printed, _ = ragcheck("init")
    assert f"\nAdd to {name}:\n\n    [pytest]\n{OFFERED.format(quote=quote)}" in printed


@pytest.mark.parametrize("configured", CONFIGURED, ids=lambda configured: configured[0])
def test_what_is_added_where_it_says_is_what_pytest_reads(
    configured: tuple[str, str, str, str], folder: Path, ragcheck: Ragcheck, pytester: pytest.Pytester
) -> None:
    name, text, heading, _ = configured
    if pytest.version_tuple < (9,) and heading.endswith(("[ tool.pytest ]", "[pytest]")) and name.endswith("toml"):
        pytest.skip("pytest reads this from version 9 on")
    (folder / name).write_text(text)
    _, printed, _ = ragcheck("init", str(folder))
    lines = text.splitlines()
    place = int(re.findall(r"below line (\d+),", printed)[0])
    offered = printed.partition(":\n\n")[2].partition("\n\n")[0]
    lines[place:place] = [line.strip() for line in offered.splitlines()]
    (folder / name).write_text("\n".join(lines))
    config = pytester.parseconfig(f"--rootdir={folder}", "-c", str(folder / name))
    assert config.getini("rag_judge") == "offline"


@pytest.mark.parametrize("name", ["pyproject.toml", "tox.ini", "setup.cfg"])
def test_a_file_without_a_section_of_pytests_is_no_configuration(name: str, folder: Path, ragcheck: Ragcheck) -> None:
    (folder / name).write_text("[tool.black]\n")
    ragcheck("init")
    assert (folder / "pytest.ini").is_file()


def test_the_configuration_may_be_above(folder: Path, ragcheck: Ragcheck) -> None:
    (folder.parent / "pytest.ini").write_text("[pytest]\n")
    _, printed, _ = ragcheck("init")
    assert not (folder / "pytest.ini").exists()
    assert "\nAdd to ../pytest.ini, below line 1, [pytest]:\n" in printed


@pytest.mark.parametrize(
    ("name", "setting"),
    [("pytest.ini", "[pytest]\nrag_url = {}\n"), ("pyproject.toml", '[tool.pytest.ini_options]\nrag_url = "{}"\n')],
)
def test_the_endpoint_of_the_configuration_is_the_one_that_goes_on(
    name: str, setting: str, folder: Path, ragcheck: Ragcheck
) -> None:
    (folder / name).write_text(setting.format("http://h:8001/ask"))
    _, printed, _ = ragcheck("init")
    next_ones = "    ragcheck probe http://h:8001/ask\n    pytest first.rag.yaml\n"
    assert printed.endswith(f"Next, with the endpoint that {name} names:\n\n{next_ones}")
    (folder / name).write_text(setting.format("http://me:hidden99@h/ask"))
    _, printed, _ = ragcheck("init")
    assert "Next, with the URL of your endpoint instead of this one:" in printed
    assert "hidden99" not in printed


@pytest.mark.parametrize("setting", ["rag_judge = openai", "rag_judge_model = m", "rag_url = x\nrag_judge = none"])
def test_a_judge_that_is_there_is_left_alone(setting: str, folder: Path, ragcheck: Ragcheck) -> None:
    (folder / "pytest.ini").write_text(f"[pytest]\n{setting}\n")
    _, printed, _ = ragcheck("init")
    assert "\npytest.ini has settings of pytest-ragcheck already.\n" in printed
    assert "Add to" not in printed


@pytest.mark.parametrize("setting", ["rag_url = http://h/query", "rag_headers =\n    X-Tenant: acme"])
def test_where_no_judge_is_chosen_one_is_offered(setting: str, folder: Path, ragcheck: Ragcheck) -> None:
    (folder / "pytest.ini").write_text(f"[pytest]\n{setting}\n")
    _, printed, _ = ragcheck("init")
    offered = OFFERED.format(quote="").partition("/query\n")[2]
    assert f"\nAdd to pytest.ini, below line 1, [pytest]:\n\n{offered}\n" in printed


# CI


RUN = "pytest . -o python_files= --rag-require-endpoint"
GITHUB, GITLAB = ".github/workflows/ragcheck.yml", ".gitlab-ci.ragcheck.yml"


@pytest.mark.parametrize(
    ("remote", "written"),
    [
        (None, GITHUB),
        ("git@github.com:acme/shop.git", GITHUB),
        ("https://github.acme.example/shop.git", GITHUB),
        ("git@gitlab.com:acme/shop.git", GITLAB),
        ("ssh://git@gitlab.acme.example:2222/shop.git", GITLAB),
        ("../another/clone", GITHUB),
        ("../in-latin-1/k\udcf6ln", GITHUB),
    ],
)
def test_the_remote_tells_which_ci(remote: str | None, written: str, folder: Path, ragcheck: Ragcheck) -> None:
    git_repository(folder, remote)
    ragcheck("init")
    assert [name for name in (GITHUB, GITLAB) if (folder / name).exists()] == [written]


def test_any_remote_will_do_where_none_is_called_origin(folder: Path, ragcheck: Ragcheck) -> None:
    git_repository(folder, "git@gitlab.com:acme/shop.git", name="upstream")
    ragcheck("init")
    assert (folder / GITLAB).exists()


@pytest.mark.parametrize(("marker", "written"), [(".gitlab-ci.yml", GITLAB), (".github/CODEOWNERS", GITHUB)])
def test_a_self_hosted_server_is_recognised_by_the_files_that_are_there(
    marker: str, written: str, folder: Path, ragcheck: Ragcheck
) -> None:
    git_repository(folder, "git@git.acme.example:shop.git")
    (folder / marker).parent.mkdir(exist_ok=True)
    (folder / marker).write_text("")
    ragcheck("init")
    assert [name for name in (GITHUB, GITLAB) if (folder / name).exists()] == [written]


def test_for_another_host_there_is_no_workflow_and_it_says_so(folder: Path, ragcheck: Ragcheck) -> None:
    git_repository(folder, "https://me:pw-4711@bitbucket.org/acme/shop.git")
    _, printed, _ = ragcheck("init")
    assert all_files(folder) == ["first.rag.yaml", "pytest.ini", "question-file.schema.json"]
    assert "\nNo CI workflow: bitbucket.org is neither GitHub nor GitLab. In CI run the last line below.\n" in printed
    assert "pw-4711" not in printed


def test_without_git_on_the_path_it_takes_github(
    folder: Path, ragcheck: Ragcheck, monkeypatch: pytest.MonkeyPatch
) -> None:
    git_repository(folder, "git@gitlab.com:acme/shop.git")
    monkeypatch.setenv("PATH", str(folder))
    ragcheck("init")
    assert (folder / GITHUB).exists()


def test_the_github_workflow_installs_the_project_and_runs_every_question_file(
    folder: Path, ragcheck: Ragcheck
) -> None:
    (folder / "requirements.txt").write_text("")
    (folder / "pyproject.toml").write_text('[project]\nname = "shop"\n')
    ragcheck("init")
    job = workflow(folder / GITHUB)["jobs"]["ragcheck"]
    checkout, python, install, run, upload = job["steps"]
    assert "defaults" not in job
    assert install["run"] == "pip install pytest-ragcheck -r requirements.txt -e ."
    assert run["run"] == RUN
    assert run["env"] == {"RAGCHECK_URL": "${{ vars.RAGCHECK_URL }}"}
    assert (upload["if"], upload["with"]["path"]) == ("always()", "**/ragcheck-results/")
    assert [each["uses"].partition("@")[0] for each in (checkout, python)] == [
        "actions/checkout",
        "actions/setup-python",
    ]


def test_in_a_folder_below_the_top_ci_files_go_to_the_top_and_lead_back(folder: Path, ragcheck: Ragcheck) -> None:
    git_repository(folder, "git@github.com:acme/shop.git")
    service = folder / "services" / "rag"
    service.mkdir(parents=True)
    _, printed, _ = ragcheck("init", "services/rag")
    assert "wrote          ../../.github/workflows/ragcheck.yml\n" in printed
    job = workflow(folder / GITHUB)["jobs"]["ragcheck"]
    assert job["defaults"] == {"run": {"working-directory": "services/rag"}}


@pytest.mark.parametrize(
    ("settings", "kept"),
    [
        ("rag_output = build/rag results", "services/rag/build/rag results/"),
        ("addopts = --rag-output=out", "services/rag/out/"),
        ("rag_output = ../../out", "out/"),
        ("rag_output = ../../../out", "**/ragcheck-results/"),
        ("addopts = '", "**/ragcheck-results/"),
    ],
)
def test_ci_keeps_the_output_folder_of_the_configuration(
    settings: str, kept: str, folder: Path, ragcheck: Ragcheck
) -> None:
    git_repository(folder)
    service = folder / "services" / "rag"
    service.mkdir(parents=True)
    (service / "pytest.ini").write_text(f"[pytest]\n{settings}\n", encoding="utf-8")
    ragcheck("init", "services/rag")
    assert workflow(folder / GITHUB)["jobs"]["ragcheck"]["steps"][-1]["with"]["path"] == kept


def test_the_gitlab_job_does_the_same_and_says_how_to_include_it(folder: Path, ragcheck: Ragcheck) -> None:
    git_repository(folder, "git@gitlab.com:acme/shop.git")
    (folder / "rag").mkdir()
    (folder / "rag" / "setup.py").write_text("")
    _, printed, _ = ragcheck("init", "rag")
    job = workflow(folder / GITLAB)["ragcheck"]
    assert job["script"] == [
        "cd 'rag'",
        "pip install pytest-ragcheck -e .",
        RUN,
    ]
    assert job["artifacts"] == {"when": "always", "paths": ["rag/**/ragcheck-results/"]}
    assert "\nInclude it in .gitlab-ci.yml:\n\n    include:\n      - local: .gitlab-ci.ragcheck.yml\n" in printed


@pytest.mark.parametrize("ending", QUESTION_FILES)
def test_the_line_that_ci_runs_collects_every_question_file_and_no_test(
    ending: str, project: Project, ragcheck: Ragcheck
) -> None:
    deep = {".rag.csv": "question\nWhat?\n", ".rag.jsonl": '{"question": "What?"}\n'}
    project.write(f"deep/er/more{ending}", deep.get(ending, '[{"question": "What?"}]'))
    project.write("test_own.py", "import nowhere\n")
    project.write("tests/test_own.py", "import nowhere\n")
    ragcheck("init", str(project.folder))
    collected = project.run(*shlex.split(RUN)[1:], "--co", "-q").lines
    assert [line.partition("::")[0] for line in collected if "::" in line] == [
        f"deep/er/more{ending}",
        *["tests/first.rag.yaml"] * 3,
    ]


def test_the_line_that_ci_runs_notices_a_question_file_that_is_gone(project: Project, ragcheck: Ragcheck) -> None:
    project.write("conftest.py", ANSWERS)
    project.write("test_calls.py", "def test_it(rag_check): rag_check('When does the support answer?')\n")
    project.write("more.rag.yaml", "[{question: Within how many days are refunds possible?}]")
    ragcheck("init", str(project.folder))
    project.run()
    results = project.folder / "ragcheck-results"
    (results / "rag_predictions.json").rename(project.folder / "baseline.json")
    line = (*shlex.split(RUN)[1:], "--rag-baseline=baseline.json")
    assert project.run(*line).exit_status == 0
    (project.folder / "more.rag.yaml").unlink()
    run = project.run(*line)
    assert "1 missing against baseline.json" in run.text
    assert run.exit_status == 1


@pytest.mark.parametrize(
    ("remote", "host"),
    [
        ("git@github.com:acme/shop.git", "github.com"),
        ("github.com:acme/shop.git", "github.com"),
        ("https://me:token@gitlab.com/acme/shop", "gitlab.com"),
        ("ssh://git@git.acme.example:2222/shop.git", "git.acme.example"),
        ("/srv/git/shop.git", None),
        ("C:/git/shop", None),
        ("file:///srv/git/shop.git", None),
        ("", None),
    ],
)
def test_the_host_of_a_remote(remote: str, host: str | None) -> None:
    assert host_of(remote) == host
