"""The page about CI: its files are saved, and the commands of their jobs run."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.docs.pages import DOCS, PROJECT, page
from tests.servers.canary_judge import canary_of, says_of_canaries
from tests.servers.openai_server import OpenAIServer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.docs.pages import Ran, Reader

PAGE = "how-to/in-ci.md"
ACTION = "how-to/github-action.md"
WRITES_ARGUMENTS = """
import json

def pytest_configure(config):
    with open("arguments.json", "w") as file:
        json.dump(config.invocation_params.args, file)
"""
GITHUB, GITLAB = ".github/workflows/ragcheck.yml", ".gitlab-ci.yml"


@pytest.fixture
def maintainer(reader: Callable[..., Reader]) -> Reader:
    """Someone with an empty repository, whose remote is the repository itself."""
    someone = reader()
    assert someone.run("git init --quiet && git checkout --quiet -B main && git remote add origin .").status == 0
    return someone


def merge(someone: Reader) -> None:
    """Merges the additions into the main branch."""
    committed = someone.run("git -c user.name=A -c user.email=a@example.invalid commit --quiet -m baseline")
    assert committed.status == 0, committed.output


def jobs(someone: Reader, path: str) -> Any:
    read = yaml.safe_load((someone.folder / path).read_text(encoding="utf-8"))
    return read.get("jobs", read)


def run_on_github(someone: Reader, job: Any, known: Mapping[str, str]) -> Ran:
    """The result of the job's last command; *known* has the values of its expressions."""
    assert [step["uses"].partition("@")[0] for step in job["steps"] if "uses" in step] == [
        "actions/checkout",
        "actions/setup-python",
        "actions/upload-artifact",
    ]
    install, *fetch, step = (step for step in job["steps"] if "run" in step)
    assert install["run"] == "pip install pytest-ragcheck"
    for each in fetch:
        assert someone.run(each["run"]).status == 0
    variables = {
        name: re.sub(r"\$\{\{ (\S+) \}\}", lambda match: known.get(match[1], ""), value)
        for name, value in step.get("env", {}).items()
    }
    before = dict(someone.environment)
    someone.environment.update(variables)
    ran = someone.run(step["run"])
    someone.environment = before
    # The uploaded files exist after a green and after a red run.
    upload = job["steps"][-1]
    assert upload["if"] == "always()"
    assert list(someone.folder.glob(upload["with"]["path"]))
    return ran


def run_on_gitlab(someone: Reader, job: Any) -> Ran:
    """The result of the job's last command."""
    install, *fetch, line = job["script"]
    assert install == "pip install pytest-ragcheck"
    for each in fetch:
        assert someone.run(each).status == 0
    assignments = " ".join(f"{name}={shlex.quote(value)}" for name, value in job.get("variables", {}).items())
    ran = someone.run(f"{assignments} {line}".strip())
    for path in [*job["artifacts"]["paths"], *job["artifacts"].get("reports", {}).values()]:
        assert list(someone.folder.glob(path)), path
    return ran


def test_the_workflow_that_init_writes_runs_green_and_without_a_system_red(maintainer: Reader) -> None:
    maintainer.follow(page(PAGE, "", "On GitHub"))
    job = jobs(maintainer, GITHUB)["ragcheck"]
    assert "3 passed" in run_on_github(maintainer, job, {}).output
    (maintainer.folder / "conftest.py").unlink()
    ran = run_on_github(maintainer, job, {})
    assert ran.status != 0
    assert "there is no RAG endpoint to ask" in ran.output


def test_the_whole_workflow_gates_offline_and_judges_by_a_model_where_there_is_a_key(maintainer: Reader) -> None:
    maintainer.follow(page(PAGE, "", "On GitHub", "The gate", "A whole workflow"))
    merge(maintainer)
    offline, model = jobs(maintainer, GITHUB).values()
    assert "secrets" not in str(offline), "a pull request of a fork runs it"
    ran = run_on_github(maintainer, offline, {})
    assert ran.status == 0, ran.output
    assert "baseline git:origin/main:ragcheck-baseline.json: 3 as before" in ran.output
    with OpenAIServer(says_of_canaries()) as judge:
        maintainer.environment["OPENAI_BASE_URL"] = judge.url
        ran = run_on_github(maintainer, model, {"secrets.OPENAI_API_KEY": "key-of-the-repository"})
    assert "judge: openai (gpt-5-mini" in ran.output
    assert {request.headers["authorization"] for request in judge.requests} == {"Bearer key-of-the-repository"}
    assert "key-of-the-repository" not in ran.output

    conftest = maintainer.folder / "conftest.py"
    conftest.write_text(conftest.read_text().replace('{"answer": found[0] if found', '{"answer": "Ask us." if found'))
    ran = run_on_github(maintainer, offline, {})
    assert ran.status == 1
    assert "2 confirmed as failing" in ran.output

    accept = "ragcheck baseline accept"
    advice = f"accept them: {accept}, and compare with that file instead of git:origin/main:ragcheck-baseline.json"
    assert advice in ran.output
    assert maintainer.run(accept).status == 0
    (block,) = page(PAGE, "Answers accepted in a pull request")
    _, approved, _, other, _ = yaml.safe_load(block.text)["env"]["BASELINE"].rsplit("'", 4)
    for baseline, status in ((approved, 0), (other, 1)):
        maintainer.environment["BASELINE"] = baseline
        assert maintainer.run('pytest --rag-judge=offline --rag-baseline="$BASELINE"').status == status


def test_the_gitlab_jobs_do_the_same(maintainer: Reader) -> None:
    included, (*_, whole) = page(PAGE, "", "On GitLab"), page(PAGE, "On GitLab")
    maintainer.follow(included[:-1])
    assert jobs(maintainer, GITLAB) == {"include": [{"local": ".gitlab-ci.ragcheck.yml"}]}
    ran = run_on_gitlab(maintainer, jobs(maintainer, ".gitlab-ci.ragcheck.yml")["ragcheck"])
    assert "3 passed" in ran.output

    maintainer.follow([*page(PAGE, "The gate"), whole])
    merge(maintainer)
    offline, model = jobs(maintainer, GITLAB).values()
    ran = run_on_gitlab(maintainer, offline)
    assert ran.status == 0, ran.output
    assert "baseline git:origin/main:ragcheck-baseline.json: 3 as before" in ran.output
    with OpenAIServer(says_of_canaries()) as judge:
        maintainer.environment |= {"OPENAI_BASE_URL": judge.url, "OPENAI_API_KEY": "key-of-the-project"}
        ran = run_on_gitlab(maintainer, model)
    assert "judge: openai (gpt-5-mini" in ran.output
    assert sum(not canary_of(request) for request in judge.requests) == 3


def test_the_steps_that_comment_run_outside_of_a_pull_request_too(maintainer: Reader) -> None:
    permissions, step, after = (yaml.safe_load(block.text) for block in page(PAGE, "Comment on the pull request"))
    assert permissions["permissions"]["pull-requests"] == "write"
    assert step[0]["env"]["GITHUB_TOKEN"] == action_step("Comment")["env"]["GITHUB_TOKEN"]
    maintainer.follow(page(PAGE, "", "On GitHub", "The gate"))
    for command in (step[0]["run"], *after["after_script"]):
        said = maintainer.run(command)
        assert (said.status, "nothing written" in said.output) == (0, True), said.output


def test_the_action_tests_summarises_and_keeps_a_report(maintainer: Reader) -> None:
    maintainer.follow([*page(PAGE, "", "On GitHub", "The gate"), *page(ACTION)])
    merge(maintainer)
    shutil.copytree(PROJECT / "action", maintainer.folder / ".github/actions/ragcheck")
    job = jobs(maintainer, ".github/workflows/ragcheck-action.yml")["ragcheck"]
    *_, fetch, use = job["steps"]
    assert maintainer.run(fetch["run"]).status == 0
    action = yaml.safe_load((maintainer.folder / use["uses"] / "action.yml").read_text(encoding="utf-8"))
    inputs = {name: said.get("default", "") for name, said in action["inputs"].items()} | use["with"]
    install, test, comment, keep = action["runs"]["steps"]
    assert install["run"] == 'python -m pip install "$VERSION"'
    # No input may be read as a part of the script.
    assert not [step for step in (install, test, comment) if "${{" in step["run"]]
    listed = re.findall(r"^\| (`[\w`, -]+`) \|", (DOCS / ACTION).read_text(encoding="utf-8"), re.MULTILINE)
    assert {name for row in listed for name in re.findall(r"[\w-]+", row)} == set(inputs)

    def run() -> Ran:
        for name, value in test["env"].items():
            maintainer.environment[name] = re.sub(r"\$\{\{ inputs\.(\S+) \}\}", lambda match: inputs[match[1]], value)
        (maintainer.folder / "test.sh").write_text(test["run"], encoding="utf-8")
        return maintainer.run("bash -e test.sh")

    maintainer.environment |= {"GITHUB_STEP_SUMMARY": "step.md", "RAGCHECK_JUDGE": "none"}
    assert "judge none" in run().output, "the job's own environment holds where an input is not given"
    (maintainer.folder / "step.md").unlink()
    inputs["judge"] = "offline"
    ran = run()
    assert ran.status == 0, ran.output
    assert (maintainer.folder / "step.md").read_text(encoding="utf-8").startswith("## ✅ rag: first: all 3 questions")
    assert (maintainer.folder / keep["with"]["path"].replace("${{ inputs.output }}", inputs["output"])).is_dir()
    report = action["outputs"]["report"]["value"].replace("${{ inputs.output }}", inputs["output"])
    assert "<!doctype html>" in (maintainer.folder / report).read_text(encoding="utf-8")
    inputs["arguments"] = "\nfirst.rag.yaml -q\n--rag-min=f1=0.99 --rag-gate=each\n"
    assert run().status == 1
    inputs["arguments"] = "first.rag.yaml --rag-threshold=0.6"
    conftest = maintainer.folder / "conftest.py"
    conftest.write_text(conftest.read_text().replace('{"answer": found[0] if found', '{"answer": "Ask us." if found'))
    assert run().status == 1
    (maintainer.folder / "comment.sh").write_text(comment["run"], encoding="utf-8")
    said = maintainer.run(f"OUTPUT={inputs['output']} bash -e comment.sh")
    assert said.status == 0
    assert "nothing written: this is not a job of GitHub Actions or GitLab CI" in said.output


def action_step(name: str) -> Any:
    action = yaml.safe_load((PROJECT / "action" / "action.yml").read_text(encoding="utf-8"))
    (step,) = (step for step in action["runs"]["steps"] if step["name"] == name)
    return step


@pytest.mark.parametrize(
    ("arguments", "read"),
    [
        ("", []),
        ("-q\n-k=a", ["-q", "-k=a"]),
        ("\n\n  -q\r\n\t-x \n", ["-q", "-x"]),
        ("-k 'a or b'\n-m \"not c\"", ["-k", "a or b", "-m", "not c"]),
        ("'-k=a or\nb' -k ''", ["-k=a or\nb", "-k", ""]),
        (
            "-k=$(touch\\ made) -k=`touch\\ made` -k=* -k=$HOME -k=~",
            ["-k=$(touch made)", "-k=`touch made`", "-k=*", "-k=$HOME", "-k=~"],
        ),
        ("-k=a #b", ["-k=a", "#b"]),
        ("-k=naïve -k='«a»'", ["-k=naïve", "-k=«a»"]),
    ],
)
def test_the_action_takes_all_arguments_and_expands_none(maintainer: Reader, arguments: str, read: list[str]) -> None:
    (maintainer.folder / "conftest.py").write_text(WRITES_ARGUMENTS, encoding="utf-8")
    (maintainer.folder / "test.sh").write_text(action_step("Test")["run"], encoding="utf-8")
    maintainer.environment |= {"ARGUMENTS": arguments, "OUTPUT": "out", "GITHUB_STEP_SUMMARY": "step.md"}
    maintainer.run("bash -e test.sh")
    given = json.loads((maintainer.folder / "arguments.json").read_text(encoding="utf-8"))
    assert given[4:] == read
    assert not (maintainer.folder / "made").exists()


def test_the_action_is_red_for_a_quote_that_is_not_closed(maintainer: Reader) -> None:
    (maintainer.folder / "test.sh").write_text(action_step("Test")["run"], encoding="utf-8")
    maintainer.environment |= {"ARGUMENTS": "-k 'a", "OUTPUT": "out", "GITHUB_STEP_SUMMARY": "step.md"}
    ran = maintainer.run("bash -e test.sh")
    assert (ran.status, ran.output.strip()) == (1, "arguments: No closing quotation. Close each quote.")


def test_every_workflow_pins_the_actions_that_it_uses() -> None:
    pages = [PROJECT / "action" / "action.yml", PROJECT / "pytest_ragcheck" / "cli" / "project" / "github.txt"]
    pages += (PROJECT / "docs").rglob("*.md")
    used = [each for path in pages for each in re.findall(r"uses: ([^.\n].*)", path.read_text(encoding="utf-8"))]
    assert len(used) > 10
    assert all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", each) for each in used), used


def test_what_jenkins_runs_is_run(maintainer: Reader) -> None:
    maintainer.follow(page(PAGE, "", "On GitHub"))
    (pipeline,) = page(PAGE, "On Jenkins")
    install, command = re.findall(r"sh '(.*)'", pipeline.text)
    assert install == "python -m venv .venv && .venv/bin/pip install pytest-ragcheck"
    assert command.startswith(".venv/bin/pytest ")
    ran = maintainer.run(command.removeprefix(".venv/bin/"))
    assert ran.status == 0, ran.output
    (junit,) = re.findall(r"junit '(.*)'", pipeline.text)
    (kept,) = re.findall(r"artifacts: '(.*)'", pipeline.text)
    assert (maintainer.folder / junit).is_file()
    assert maintainer.folder / "ragcheck-results/report.html" in list(maintainer.folder.glob(f"{kept}/*"))


def text_of(name: str, heading: str) -> list[str]:
    """The lines of the page's section."""
    text = (DOCS / name).read_text(encoding="utf-8")
    return text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0].splitlines()


def test_from_the_tutorial_to_a_job_in_an_empty_folder(maintainer: Reader) -> None:
    """A question file, a function to ask, and a CI job, from the pages alone."""
    maintainer.follow(
        page("tutorial/first-run.md", "Install", "Write a question file", "Connect your system", "Run it")
    )
    maintainer.follow([block for block in page(PAGE, "A whole workflow") if block.file])
    maintainer.run("ragcheck baseline save && git add ragcheck-baseline.*")
    merge(maintainer)
    offline, _ = jobs(maintainer, GITHUB).values()
    ran = run_on_github(maintainer, offline, {})
    assert ran.status == 0, ran.output
    assert "2 PASS, 0 FAIL, 0 ERROR, 0 skipped" in ran.output
