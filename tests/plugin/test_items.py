"""Questions are collected, named and selected as pytest items."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.canned import bad, broken, good
from tests.harness import three_ways, two_ways
from tests.servers.fake_endpoint import FakeEndpoint, json_reply

if TYPE_CHECKING:
    from tests.harness import Project, Run


def node_ids(run: Run) -> list[str]:
    """The node ids that `--collect-only -q` lists."""
    return [line for line in run.lines if "::" in line]


def test_a_question_is_one_item_with_a_readable_id(project: Project) -> None:
    project.ask(good("refund-window"), good("opening hours?"), file="tests/billing.rag.yaml")
    run = project.run("--collect-only", "-q")
    assert node_ids(run) == ["tests/billing.rag.yaml::refund-window", "tests/billing.rag.yaml::opening hours?"]
    assert run.exit_status == 0


@pytest.mark.parametrize("name", ["a.rag.yaml", "a.rag.yml", "a.rag.json"])
def test_question_files_are_collected_wherever_they_lie(project: Project, name: str) -> None:
    project.ask(good("terms"), file=f"deep/down/{name}")
    assert node_ids(project.run("--co", "-q")) == [f"deep/down/{name}::terms"]


@pytest.mark.parametrize("name", ["billing.yaml", "billing.json", "rag.yaml", "billing_questions.json"])
def test_other_files_are_not_collected_by_themselves(project: Project, name: str) -> None:
    project.ask(good("terms"), file=name)
    run = project.run("--co", "-q")
    assert (run.exit_status, node_ids(run)) == (pytest.ExitCode.NO_TESTS_COLLECTED, [])


def test_a_questions_json_is_collected_when_it_is_an_argument(project: Project) -> None:
    project.ask(good("terms"), file="billing_questions.json")
    run = project.run("billing_questions.json")
    assert run.verdicts == {"terms": "PASS"}


@pytest.mark.parametrize(("name", "ending"), [("billing.rag.yalm", ".yalm"), ("billing.rag.yml.txt", ".txt")])
def test_an_argument_with_a_misspelt_ending_is_an_error(project: Project, name: str, ending: str) -> None:
    project.write(name, "questions: [{id: terms, question: How long?}]")
    run = project.run(name)
    mistake = f"{name}:1: the file ends in {ending!r}, but question files end in .yaml, .yml, .json, .jsonl, .csv."
    assert f"{mistake} Convert and rename it." in run.lines, run.text
    assert (run.exit_status, run.outcomes) == (pytest.ExitCode.INTERRUPTED, {"error": 1})


@two_ways
def test_a_misspelt_ending_in_a_folder_is_a_warning(project: Project) -> None:
    project.ask(good("terms"))
    project.write("eval/billing.rag.yalm", "questions: [{id: terms, question: How long?}]")
    for name in ("eval/billing.rag.py", "chat.rag.ts", "billing.rag.yaml.orig", ".billing.rag.yaml.swp"):
        project.write(name, "")
    project.write("pytest.ini", "[pytest]\nrag_agent = my.rag.agent\n")
    for _ in range(2):
        run = project.run("-Wdefault")
        assert (run.exit_status, run.outcomes["passed"]) == (0, 1)
        (warned,) = [line for line in run.lines if "not collected" in line]
        assert warned.partition("Warning: ")[2] == (
            "not collected: billing.rag.yalm, which ends with none of .rag.yaml, .rag.yml, .rag.json, .rag.jsonl, "
            ".rag.csv. Rename it if it has questions that pytest should collect."
        )


def test_a_misspelt_ending_is_an_error_of_its_file_if_warnings_are_errors(project: Project) -> None:
    project.ask(good("terms"))
    project.write("shop.rag.log", "")
    run = project.run("-Werror", "--continue-on-collection-errors")
    assert run.outcomes == {"passed": 1, "error": 1}
    assert run.section("ERROR collecting")[0] == (
        "shop.rag.log:1: the file ends in '.log', but question files end in .yaml, .yml, .json, .jsonl, .csv. "
        "Convert and rename it."
    )


def test_code_and_pages_of_a_package_called_rag_are_not_question_files(project: Project) -> None:
    project.write("shop.rag.rst", ">>> 1 + 1\n2\n")
    project.write("shop.rag.py", "def test_shop():\n    pass\n")
    run = project.run("shop.rag.rst", "shop.rag.py", "--import-mode=importlib")
    assert run.outcomes == {"passed": 2}


def test_further_names_of_question_files_are_an_ini_value(project: Project) -> None:
    project.ask(good("terms"), file="eval/billing_questions.json")
    project.ask(good("hours"), file="eval/support.qa.yaml")
    project.write("pytest.ini", "[pytest]\nrag_question_files = *_questions.json *.qa.yaml\n")
    run = project.run()
    assert run.verdicts == {"terms": "PASS", "hours": "PASS"}


def test_two_stars_in_a_further_name_stand_for_any_folders(project: Project) -> None:
    for number, folder in enumerate(("eval", "eval/a", "eval/a/b", "other/eval")):
        project.ask(good(f"q{number}"), file=f"{folder}/billing.qa.json")
    project.ask(good("not"), file="other/a/billing.qa.json")
    project.write("pytest.ini", "[pytest]\nrag_question_files = eval/**/*.qa.json\n")
    assert project.run().verdicts.keys() == {"q0", "q1", "q2", "q3"}
    project.write("pytest.ini", "[pytest]\nrag_question_files = eval/a/**/\n")
    assert project.run().verdicts.keys() == {"q1", "q2"}
    project.write("pytest.ini", "[pytest]\nrag_question_files = **/a/**/billing.qa.json\n")
    assert project.run().verdicts.keys() == {"q1", "q2", "not"}


@three_ways
def test_a_further_name_that_matches_no_file_is_a_warning(project: Project) -> None:
    project.ask(good("terms"), file="eval/billing_questions.json")
    project.write("tests/test_own.py", "def test_own(): pass\n")
    project.write("pytest.ini", "[pytest]\nrag_question_files = *_question.json eval/**/*_questions.json\n")
    for ignored in (".cache/b_question.json", "node_modules/b_question.json", "env/lib/b_question.json"):
        project.write(ignored, "[]")
    project.write("env/pyvenv.cfg", "")
    text = f"ragcheck: rag_question_files in pytest.ini: no file in {project.folder} matches '*_question.json'"
    for folder in (".", "tests"):
        assert project.run(folder).text.count(f"PytestConfigWarning: {text}") == 1
    strict = project.run("-Werror")
    assert (strict.exit_status, f"ERROR: {text}" in strict.stderr) == (4, True)


def test_a_run_that_may_have_no_file_of_a_further_name_is_not_warned(project: Project) -> None:
    def is_quiet(*arguments: str) -> bool:
        run = project.run(*arguments)
        return run.exit_status == 0 and "Warning" not in run.text

    project.ask(good("terms"), file="eval/billing_questions.json")
    project.write("a/test_own.py", "def test_own(): pass\n")
    project.write(
        "pytest.ini", "[pytest]\nrag_question_files = *_questions.json /elsewhere/*.json bill**_*.json eval/*.json/\n"
    )
    assert is_quiet("a")
    assert is_quiet("-k", "own")
    project.write("pytest.ini", "[pytest]\nrag_question_files = *_question.json\n")
    assert is_quiet("a/test_own.py")
    assert is_quiet("a", "-c", "pytest.ini", "--rootdir=a")
    (project.folder / "pytest.ini").unlink()
    assert is_quiet("-orag_question_files=*_question.json")


def test_all_questions_of_a_file_with_a_further_name_are_a_full_run(project: Project) -> None:
    project.ask(good("terms"), good("hours"), file="eval/support.qa.yaml")
    project.write("pytest.ini", "[pytest]\nrag_question_files = *.qa.yaml\n")
    assert "partial: 1 of the collected questions was not run" in project.run("eval/support.qa.yaml::terms").lines
    run = project.run("eval/support.qa.yaml::terms", "eval/support.qa.yaml::hours")
    assert run.summary["complete"] is True, run.text


def test_no_output_folder_is_collected(project: Project) -> None:
    project.ask(good("terms"))
    project.write("pytest.ini", "[pytest]\nrag_question_files = *_questions.json\n")
    first, second, elsewhere = project.run(), project.run(), project.run("--rag-output=other")
    assert "billing_questions.json" in first.files
    assert second.outcomes == elsewhere.outcomes == {"passed": 1}


def test_a_written_questions_file_can_be_asked_again_when_it_is_named(project: Project) -> None:
    project.ask(good("terms"))
    project.run()
    run = project.run("ragcheck-results/billing_questions.json", "--rag-output=again")
    assert run.outcomes == {"passed": 1}
    assert (project.folder / "again" / "billing_questions.json").is_file()


@pytest.mark.parametrize(
    ("arguments", "ids"),
    [
        (["-k", "refund"], ["billing.rag.yaml::refund-window"]),
        (["-k", "not refund and not hours"], ["billing.rag.yaml::terms"]),
        (["-m", "smoke"], ["billing.rag.yaml::refund-window", "billing.rag.yaml::terms"]),
        (["-m", "smoke and not slow"], ["billing.rag.yaml::terms"]),
        (["billing.rag.yaml::terms"], ["billing.rag.yaml::terms"]),
        (["--deselect", "billing.rag.yaml::terms"], ["billing.rag.yaml::refund-window", "billing.rag.yaml::hours"]),
    ],
)
def test_questions_are_selected_as_tests_are(project: Project, arguments: list[str], ids: list[str]) -> None:
    project.ask(good("refund-window", tags=["smoke", "slow"]), good("terms", tags=["smoke"]), good("hours"))
    assert node_ids(project.run("--co", "-q", "--strict-markers", *arguments)) == ids


def test_tags_of_the_file_are_markers_of_all_its_questions(project: Project) -> None:
    project.ask(good("terms"), good("hours", tags=["slow"]), defaults={"tags": ["billing"]})
    project.ask(good("news"), file="news.rag.yaml")
    run = project.run("--co", "-q", "--strict-markers", "-m", "billing")
    assert node_ids(run) == ["billing.rag.yaml::terms", "billing.rag.yaml::hours"]


def test_two_files_may_use_the_same_tag(project: Project) -> None:
    project.ask(good("terms", tags=["smoke"]))
    project.ask(good("news", tags=["smoke"]), file="news.rag.yaml")
    assert project.run("--strict-markers").outcomes == {"passed": 2}


def test_a_tag_may_have_a_hyphen_and_be_selected(project: Project) -> None:
    project.ask(good("terms", tags=["pay-back"]), good("hours"))
    assert project.run("--strict-markers", "-m", "pay-back").outcomes["passed"] == 1


@pytest.mark.parametrize("tag", ["skip", "xfail", "parametrize", "rag_questions", "mine"])
def test_a_tag_that_is_an_existing_marker_is_refused(project: Project, tag: str) -> None:
    project.write("pytest.ini", "[pytest]\nmarkers =\n    mine: a marker of the user's\n")
    project.ask(good("terms", tags=[tag]))
    run = project.run()
    assert run.exit_status == pytest.ExitCode.INTERRUPTED
    (line,) = [line for line in run.lines if line.startswith("billing.rag.yaml:")][:1]
    assert "'terms'" in line
    assert repr(tag) in line


def test_the_first_failure_ends_the_run_where_the_user_says_so(project: Project) -> None:
    project.ask(bad("prices"), good("terms"))
    run = project.run("-x", "-o", "rag_disable=prefetch")
    assert run.asked == ["What about prices?"]
    assert run.outcomes == {"failed": 1}


def test_last_failed_runs_the_failures_and_the_errors_again(project: Project) -> None:
    project.ask(bad("prices"), good("terms"), broken("hours"))
    project.run()
    again = project.run("--lf")
    assert again.asked == ["What about prices?", "What about hours?"]


def test_quiet_runs_show_dots_and_no_header(project: Project) -> None:
    project.ask(good("terms"), good("hours"))
    run = project.run("-q")
    assert run.lines[0].startswith("..")
    assert "ragcheck:" not in run.text


def test_collecting_opens_no_connection_and_writes_no_file(project: Project) -> None:
    with FakeEndpoint(json_reply({"answer": "30 days", "contexts": []})) as endpoint:
        project.write("billing.rag.yaml", "questions: [How long is the refund window?]")
        run = project.run("--collect-only", f"--rag-url={endpoint.url}", "--rag-judge=offline")
        assert (run.exit_status, endpoint.connections) == (0, 0)
    assert run.files == []


@pytest.mark.parametrize("setting", ["python_functions = check_*", "python_files = check_*.py", "python_classes = X*"])
def test_the_options_for_the_users_other_tests_do_not_matter(project: Project, setting: str) -> None:
    project.write("pytest.ini", f"[pytest]\n{setting}\n")
    project.ask(good("terms"))
    assert project.run().outcomes == {"passed": 1}


@pytest.mark.parametrize("mode", ["prepend", "append", "importlib"])
def test_questions_are_collected_in_every_import_mode(project: Project, mode: str) -> None:
    project.ask(good("terms"), file="tests/billing.rag.yaml")
    project.write("tests/test_billing.py", "def test_that(): pass")
    assert project.run(f"--import-mode={mode}").outcomes == {"passed": 2}


@two_ways
def test_blanks_and_other_scripts_in_paths_and_ids_work(project: Project) -> None:
    project.ask(
        good("возврат денег"), bad("prix élevé", reason="Aucun prix n’est donné."), file="éval à faire/цены.rag.yaml"
    )
    run = project.run()
    assert run.outcomes == {"passed": 1, "failed": 1}
    assert run.verdicts == {"возврат денег": "PASS", "prix élevé": "FAIL"}
    assert "éval à faire__цены_questions.json" in run.files
    assert run.short_summary == [
        "FAILED éval à faire/цены.rag.yaml::prix élevé - Aucun prix n’est donné. (groundedness 0.41 < 0.70)"
    ]
    selected = project.run("éval à faire/цены.rag.yaml::возврат денег")
    assert selected.asked == ["What about возврат денег?"]


def test_a_failure_is_located_at_the_line_of_its_question(project: Project) -> None:
    project.ask(good("terms"), bad("prices"))
    lines = (project.folder / "billing.rag.yaml").read_text().splitlines()
    line = next(number for number, text in enumerate(lines, 1) if '"id": "prices"' in text) - 1
    run = project.run("--tb=line")
    assert f"{project.folder / 'billing.rag.yaml'}:{line}: No price is in the contexts. (groundedness 0.41 < 0.70)" in (
        run.lines
    )


@two_ways
def test_two_files_with_one_dataset_name_are_an_error_that_names_both(project: Project) -> None:
    project.ask(good("terms"), dataset_name="billing")
    project.ask(good("hours"), file="other/billing.rag.yaml", dataset_name="billing")
    run = project.run()
    assert run.exit_status in (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.TESTS_FAILED)
    assert (
        "other/billing.rag.yaml:1: the dataset name 'billing' is also that of billing.rag.yaml. "
        "Give one of them another dataset_name."
    ) in run.lines
    # Workers run the items that could be collected, and the run is not complete.
    assert "rag_summary.json" not in run.files


def test_two_files_of_lines_with_one_dataset_name_are_distinguished_by_their_file_names(project: Project) -> None:
    project.write("billing.rag.csv", "question\nWhat?\n")
    project.write("billing.rag.jsonl", '{"question": "What?"}\n')
    assert (
        "billing.rag.jsonl:1: the dataset name 'billing' is also that of billing.rag.csv. "
        "Rename one of the two: files of lines have no place for a dataset_name."
    ) in project.run("--co").lines


def test_a_file_with_mistakes_is_an_error_that_says_them_all_without_a_traceback(project: Project) -> None:
    project.write("bad.rag.yaml", "questions:\n- id: a\n  query: What?\n  gold: x\n- id: a\n  question: Where?\n")
    run = project.run()
    assert run.exit_status == pytest.ExitCode.INTERRUPTED
    *mistakes, page = run.section("ERROR collecting bad.rag.yaml")
    assert all(line.startswith("bad.rag.yaml:") for line in mistakes)
    assert len(mistakes) == 2
    assert page == "See: ragcheck docs errors/question-files"
    assert run.files == []


def test_files_list_questions_in_collection_order_however_they_ran(project: Project) -> None:
    project.ask(good("a"), good("b"), good("c"))
    project.extend_conftest("def pytest_collection_modifyitems(items): items.reverse()\n")
    # Of several requests at once, a later one may overtake those that wait for their start.
    run = project.run("--rag-concurrency=1")
    assert run.asked == ["What about c?", "What about b?", "What about a?"]
    assert list(run.verdicts) == ["a", "b", "c"]


def test_a_question_without_an_id_is_named_after_its_text(project: Project) -> None:
    project.write("billing.rag.yaml", "questions: [How long is the refund window?]")
    (node_id,) = node_ids(project.run("--co", "-q"))
    assert node_id.startswith("billing.rag.yaml::how-long-is-the-refund-window-")


def test_a_question_that_is_given_twice_has_one_record(project: Project) -> None:
    project.ask(good("terms"), good("hours"))
    # pytest 8.4 runs it twice, 9 once.
    run = project.run("billing.rag.yaml::terms", "billing.rag.yaml")
    assert run.verdicts == {"terms": "PASS", "hours": "PASS"}
    assert run.summary["complete"] is True


def test_questions_and_users_own_tests_run_side_by_side(project: Project) -> None:
    project.ask(good("terms"))
    project.write("test_own.py", "def test_own(): pass\ndef test_red(): assert 1 == 2\n")
    run = project.run()
    assert run.outcomes == {"passed": 2, "failed": 1}
    assert run.verdicts == {"terms": "PASS"}


VS_CODE = '''
def pytest_sessionfinish(session):
    """As in VS Code's plugin: an item with a callspec is listed below its function, in a Python file."""
    for item in session.items:
        if hasattr(item, "callspec"):
            below = item.nodeid.rsplit("::", 1)[0].rsplit(".py", 1)[1]
            print(f"listed {item.nodeid} below {below + item.originalname}")
        else:
            print(f"listed {item.nodeid}")
'''


def test_the_test_explorer_of_vs_code_lists_the_turns_of_a_conversation(project: Project) -> None:
    project.write("vscode_pytest.py", VS_CODE)
    project.write(
        "billing.rag.yaml", "- {id: terms, question: Which?}\n- {id: refund, turns: [How long?, And abroad?]}\n"
    )
    project.write("test_own.py", "import pytest\n@pytest.mark.parametrize('n', [1])\ndef test_own(n): pass\n")
    run = project.run("-p", "vscode_pytest", "--collect-only", "-q", subprocess=True)
    assert [line.removeprefix("listed ") for line in run.lines if line.startswith("listed ")] == [
        "billing.rag.yaml::terms",
        "billing.rag.yaml::refund[turn1]",
        "billing.rag.yaml::refund[turn2]",
        "test_own.py::test_own[1] below test_own",
    ]
