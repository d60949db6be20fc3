"""YAML and JSON as nodes: valid texts, the lines of values, and unreadable texts."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pytest_ragcheck.questions.nodes.json_nodes import compose_json
from pytest_ragcheck.questions.nodes.node import MAX_DEPTH, ListNode, MappingNode, Node, Scalar, Unreadable
from pytest_ragcheck.questions.nodes.yaml_nodes import FAST_LOADER, compose_yaml
from tests.questions.reading import problems

if TYPE_CHECKING:
    from pathlib import Path

LOADERS = [pytest.param(yaml.SafeLoader, id="pure"), pytest.param(FAST_LOADER, id="fast")]
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
)


def as_python(node: Node | None) -> Any:
    """The result of the standard library's reader for the same JSON."""
    match node:
        case MappingNode(entries=entries):
            return {entry.key: as_python(entry.value) for entry in entries}
        case ListNode(items=items):
            return [as_python(item) for item in items]
        case Scalar(quoted=True, text=text):
            return text
        case Scalar(text=text):
            return json.loads(text)
    raise AssertionError(node)


@given(JSON_VALUES, st.sampled_from([None, 0, 3]), st.booleans())
def test_json_is_read_as_the_standard_library_reads_it(value: Any, indent: int | None, ensure_ascii: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ensure_ascii)

    assert as_python(compose_json(text)) == value


@given(st.text(alphabet='{}[]:,"\\ \n0-1.eEtrufalsn/*x', max_size=30))
def test_json_is_refused_exactly_where_the_standard_library_refuses_it(text: str) -> None:
    try:
        expected = json.loads(text)
    except ValueError:
        with pytest.raises(Unreadable):
            compose_json(text)
    else:
        assert isinstance(expected, dict) or as_python(compose_json(text)) == expected


def lines(node: Node) -> list[int]:
    """The line of every value, in the order of the text."""
    match node:
        case MappingNode(line=line, entries=entries):
            return [line, *(number for entry in entries for number in (entry.line, *lines(entry.value)))]
        case ListNode(line=line, items=items):
            return [line, *(number for item in items for number in lines(item))]
    return [node.line]


def test_json_has_the_line_of_every_key_and_value() -> None:
    text = '\n[\n1,\r\n"a\\n\\u000a",\n\n{"k"\n:\ntrue, "l": [\n]\n}\n]\n'

    assert lines(compose_json(text)) == [2, 3, 4, 6, 6, 8, 8, 8]


@pytest.mark.parametrize("loader", LOADERS)
def test_yaml_has_the_line_of_every_key_and_value(loader: Any) -> None:
    node = compose_yaml(
        "# comment\n- a: 1\n  b:\n    - |\n      text\n      text\n    - {c: d}\n- 'x\n\n  y'\n", loader=loader
    )

    assert node is not None
    assert lines(node) == [2, 2, 2, 2, 3, 4, 4, 7, 7, 7, 8]


@pytest.mark.parametrize("loader", LOADERS)
def test_both_yaml_parsers_say_where_the_text_is_no_yaml(loader: Any) -> None:
    with pytest.raises(Unreadable) as caught:
        compose_yaml("- one\n- a: b: c\n", loader=loader)

    assert caught.value.line == 2
    assert re.fullmatch(
        r"is not YAML: mapping values are not allowed .+\. Put a text that contains ': ' in quotes, and .+",
        caught.value.text,
    )


@pytest.mark.parametrize("loader", LOADERS)
@pytest.mark.parametrize(
    ("text", "advice"),
    [
        (
            "- question: a?\n  must_mention: [/3[4-6]/]\n",
            "The line has a regular expression without quotes. Put the expression in quotes, such as '/3[4-6]/'.",
        ),
        ("- question: a?\n\ttags: [x]\n", "The line is indented by a tab. Indent it by spaces."),
        ("questions:\n\t- a?\n", "The line is indented by a tab. Indent it by spaces."),
        ("- question: a?\n-\tquestion: b?\n", "The line is indented by a tab. Indent it by spaces."),
        (
            "- question: a?\n  must_mention: /a: b/\n",
            "The line has a regular expression without quotes. Put the expression in quotes, such as '/3[4-6]/'.",
        ),
        (
            "- {question: a, must_mention: [/a #/]}\n",
            "Line 1 has a regular expression without quotes. Put the expression in quotes, such as '/3[4-6]/'.",
        ),
    ],
)
def test_common_mistakes_in_yaml_have_their_own_advice(loader: Any, text: str, advice: str) -> None:
    with pytest.raises(Unreadable) as caught:
        compose_yaml(text, loader=loader)
    assert caught.value.line == 2
    assert caught.value.text.endswith(f". {advice}")


@pytest.mark.parametrize("loader", LOADERS)
def test_both_yaml_parsers_give_one_tree(loader: Any) -> None:
    text = (
        "a: &x {b: yes, 'c': \"no\", d: ! 5, e: !!int 6, f: !!str 7}\n"
        "g: *x\nh: {<<: [*x, {b: 1, z: 2}], c: own}\ni: >\n  folded\n  text\n\n? j\n: \n"
    )
    assert compose_yaml(text, loader=loader) == compose_yaml(text)


@pytest.mark.parametrize("name", ["deep.rag.yaml", "deep.rag.json"])
def test_nesting_is_read_down_to_its_limit_and_refused_beyond(tmp_path: Path, name: str) -> None:
    as_deep = '[{"question": "x", "metadata": ' + '{"a": ' * (MAX_DEPTH - 2) + "1" + "}" * (MAX_DEPTH - 2) + "}]"
    deeper = as_deep.replace("1", '{"a": 1}')

    compose_json(as_deep)
    compose_yaml(as_deep)
    assert problems(tmp_path, deeper, name) == [
        f"{name}:1: the file nests values more than 100 levels deep. Write them flatter, or look for a missing bracket."
    ]


@pytest.mark.parametrize("content", ["[" * 200_000, '{"a":' * 200_000, "- " * 200_000, "? " * 200_000])
def test_endless_nesting_ends_at_once(tmp_path: Path, content: str) -> None:
    (problem,) = problems(tmp_path, content, "deep.rag.yaml")

    assert problem.startswith("deep.rag.yaml:1: the file nests values more than 100 levels deep.")


def test_an_alias_bomb_is_defused(tmp_path: Path) -> None:
    levels = ["l0: &l0 [" + "x, " * 10 + "]"]
    levels += [f"l{n}: &l{n} [" + f"*l{n - 1}, " * 10 + "]" for n in range(1, 12)]

    # A value counts 64 and its text: l4 has 10 ** 5 of them, so ten of it on line 6 are too many.
    assert problems(tmp_path, "\n".join(levels)) == [
        "billing.rag.yaml:6: the file grows by more than 64,000,000 characters through YAML aliases. Use fewer of them."
    ]


def test_a_bomb_of_merge_keys_is_defused(tmp_path: Path) -> None:
    levels = ["l0: &l0 {" + ", ".join(f"k{n}: v" for n in range(1000)) + "}"]
    levels += [f"l{n}: &l{n} {{<<: [" + f"*l{n - 1}, " * 100 + "]}" for n in range(1, 100)]

    (problem,) = problems(tmp_path, "\n".join(levels))

    assert "through YAML aliases" in problem


def test_shared_passages_are_no_bomb() -> None:
    text = "p: &p [" + ", ".join("'" + "word " * 100 + "'" for _ in range(10)) + "]\nq:\n" + "- *p\n" * 5_000

    node = compose_yaml(text)

    assert isinstance(node, MappingNode)
    assert isinstance(node.entries[1].value, ListNode)
    assert len(node.entries[1].value.items) == 5_000


def test_the_pure_yaml_parser_leaves_a_lone_surrogate_to_the_fields() -> None:
    assert compose_yaml('- "\\ud800"', loader=yaml.SafeLoader) == ListNode(1, [Scalar(1, "\ud800", quoted=True)])
