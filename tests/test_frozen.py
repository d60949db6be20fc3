"""Classes by `frozen` behave as those of the standard decorator."""

from __future__ import annotations

import copy
import inspect
import pickle
import subprocess
import sys
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, replace

import pytest

from pytest_ragcheck.frozen import changed_fields, frozen
from pytest_ragcheck.frozen import replace as quick_replace


@dataclass(frozen=True, slots=True, kw_only=True)
class Standard:
    name: str
    tags: tuple[str, ...] = ()
    notes: dict[str, str] = field(default_factory=dict, repr=False, compare=False)
    length: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", len(self.name))


@frozen
class Ours:
    name: str
    tags: tuple[str, ...] = ()
    notes: dict[str, str] = field(default_factory=dict, repr=False, compare=False)
    length: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", len(self.name))


@frozen
class Single:
    name: str = "a"

    def __repr__(self) -> str:
        return "a name"


@frozen
class Empty:
    pass


def test_the_fields_have_their_values_and_defaults() -> None:
    one, other = Ours(name="abc"), Ours(name="abc")
    assert (one.name, one.tags, one.notes, one.length) == ("abc", (), {}, 3)
    one.notes["a"] = "b"
    assert other.notes == {}
    assert asdict(Ours(name="a", tags=("b",))) == asdict(Standard(name="a", tags=("b",)))
    assert [each.name for each in fields(Ours)] == [each.name for each in fields(Standard)]


def test_the_signature_is_that_of_the_standard_decorator() -> None:
    ours, standard = inspect.signature(Ours), inspect.signature(Standard)
    assert list(ours.parameters) == list(standard.parameters)
    assert [each.kind for each in ours.parameters.values()] == [each.kind for each in standard.parameters.values()]
    assert [each.annotation for each in ours.parameters.values()] == ["str", "tuple[str, ...]", "dict[str, str]"]
    with pytest.raises(TypeError, match="positional"):
        Ours("abc")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"Ours\.__init__\(\) missing 1 required keyword-only argument: 'name'"):
        Ours()  # type: ignore[call-arg]


@pytest.mark.parametrize("made", [Ours, Standard])
def test_objects_are_compared_by_their_compared_fields_and_their_class(made: type[Ours]) -> None:
    one = made(name="abc", tags=("a",))
    same = made(name="abc", tags=("a",), notes={"a": "b"})
    assert one == same
    assert len({one, same, made(name="abd", tags=("a",))}) == 2
    assert one != made(name="abc")
    other: object = (Standard if made is Ours else Ours)(name="abc", tags=("a",))
    assert one != other
    assert Single() == Single()
    assert len({Empty(), Empty()}) == 1


@pytest.mark.parametrize("made", [Ours, Standard])
def test_objects_cannot_be_changed(made: type[Ours]) -> None:
    one = made(name="abc")
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'name'"):
        one.name = "b"  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'name'"):
        del one.name  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises((FrozenInstanceError, AttributeError, TypeError)):
        one.other = "b"  # type: ignore[attr-defined]
    assert not hasattr(one, "__dict__")


@pytest.mark.parametrize("made", [Ours, Standard])
def test_objects_are_copied_and_pickled(made: type[Ours]) -> None:
    one = made(name="abc", tags=("a",), notes={"a": "b"})
    for copied in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one)), replace(one)):
        assert copied == one
        assert (copied.notes, copied.length) == ({"a": "b"}, 3)
    assert replace(one, name="ab").length == 2


@frozen
class Plain:
    name: str
    tags: tuple[str, ...] = ()
    notes: dict[str, str] = field(default_factory=dict, compare=False)


@pytest.mark.parametrize("make", [Ours, Plain, Single])
def test_a_copy_with_changes_is_that_of_the_standard_function(make: type[Ours]) -> None:
    one = make(name="abc")
    for copied, expected in ((quick_replace(one, name="ab"), replace(one, name="ab")), (quick_replace(one), one)):
        assert (type(copied), asdict(copied)) == (make, asdict(expected))
    assert one.name == "abc"


@pytest.mark.parametrize("make", [Ours, Plain, Single])
def test_a_copy_with_an_unknown_field_is_refused(make: type[Ours]) -> None:
    with pytest.raises(TypeError, match="other"):
        quick_replace(make(name="a"), other="b")  # type: ignore[call-arg]


@dataclass(frozen=True, kw_only=True)
class WithCost(Plain):
    cost: float = 0.0


def test_a_subclass_is_frozen_too_as_type_checkers_have_it() -> None:
    made = WithCost(name="abc", cost=0.5)
    changed = quick_replace(made, name="ab")
    assert (type(changed), changed.name, changed.cost) == (WithCost, "ab", 0.5)
    assert pickle.loads(pickle.dumps(made)) == copy.copy(made) == made != WithCost(name="abc")
    with pytest.raises(TypeError, match="cannot inherit non-frozen dataclass from a frozen one"):
        dataclass(kw_only=True)(type("Changeable", (Plain,), {}))


def test_only_fields_without_their_default_have_changed() -> None:
    assert changed_fields(Plain(name="a")) == {"name": "a"}
    assert changed_fields(Plain(name="", notes={"a": "b"})) == {"name": "", "notes": {"a": "b"}}


def test_the_text_names_class_and_shown_fields_unless_the_class_has_its_own() -> None:
    shown = repr(Standard(name="abc")).replace("Standard", "Ours")
    assert repr(Ours(name="abc")) == shown == "Ours(name='abc', tags=(), length=3)"
    assert repr(Single()) == "a name"
    assert repr(Empty()) == "Empty()"


def test_the_modules_that_a_thread_imports_parse_nothing() -> None:
    """CPython 3.11 may end the run with a SystemError if pytest's thread parses at the same time."""
    code = (
        "import sys\n"
        "def parsed(event, _):\n"
        "    if event == 'compile' and sys._getframe(1).f_globals['__name__'] == 'ast':\n"
        "        print('parsed')\n"
        "sys.addaudithook(parsed)\n"
        "import pytest_ragcheck.rag.cited_answer, pytest_ragcheck.judging.model.judge_reply\n"
        "import pytest_ragcheck.plugin.ending.item_report, pytest_ragcheck.plugin.ending.session_end\n"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == ""
