"""
Follows a page as its reader does: saves files, types commands, and compares their output with the page.

    reader = Reader(empty_folder)
    reader.follow(page("how-to/add-questions.md"))

The language of a block, and the words around it, give its meaning:

- a first line such as `# billing.rag.yaml`, or "Save this as `helpdesk.txt`" in the paragraph before: it is that file;
- `diff`: a change of the file that the paragraph before names last;
- `console`: commands after `$ `, each with its output; a line `...` in it stands for lines that are left out;
- `text`: a part of what the last command printed.

Any other block is a mistake, because every block of a followed page is used.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tests.harness import OTHERS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PROJECT = Path(__file__).parents[2]
DOCS = PROJECT / "docs"

LEFT_OUT = "..."
"""A line in place of any number of lines."""

_FOREIGN = ("CI", "FORCE_COLOR", "PY_COLORS", "NO_COLOR")
_FOREIGN_PREFIXES = ("RAGCHECK_", "OPENAI_", "PYTEST_", "RAG_", "GITHUB_")
_NOT_RUN = re.compile(r"(\S*pip install|python3? -m venv|git clone) ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A fenced block of a page."""

    language: str
    text: str
    before: str
    """The paragraph before it; empty where a heading or a block is."""

    place: str
    """`docs/page.md:14`."""

    @property
    def file(self) -> str | None:
        """The file in which the reader saves the block; None for a block that is not saved."""
        if self.language in {"console", "diff"}:
            return None
        named = re.match(r"# ([\w./-]+\.\w+)\n", self.text) or re.search(r"[Ss]ave this as `([^`]+)`", self.before)
        return named[1] if named else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """A command that was run."""

    command: str
    status: int
    output: str
    """As the page would show it."""


def page(name: str, *headings: str) -> list[Block]:
    """The blocks of a page of `docs/`, or of its sections with these headings only; the empty one comes before all."""
    path = DOCS / name
    return [block for heading, block in _blocks(path) if not headings or heading in headings]


def readme(*headings: str) -> list[Block]:
    """The blocks of the README's sections with these headings; the empty one is the part before all sections."""
    return [block for heading, block in _blocks(PROJECT / "README.md") if heading in headings]


def _blocks(path: Path) -> list[tuple[str, Block]]:
    """By the heading of level two that they stand under, empty before the first one."""
    text = path.read_text(encoding="utf-8")
    found: list[tuple[str, Block]] = []
    end = 0
    for match in re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        headings = re.findall(r"^## (.+)$", text[: match.start()], re.MULTILINE)
        paragraph = text[end : match.start()].strip().rpartition("\n\n")[2]
        block = Block(
            language=match[1],
            text=match[2],
            before="" if paragraph.startswith("#") else paragraph,
            place=f"{path.relative_to(PROJECT)}:{text.count(chr(10), 0, match.start()) + 1}",
        )
        found.append((headings[-1] if headings else "", block))
        end = match.end()
    assert text.count("```") == 2 * len(found), f"{path}: a block is indented, not ended, or has no language"
    return found


@dataclass(kw_only=True)
class Reader:
    """
    Someone with a shell in a folder, who follows pages.

    Args:
        folder: Where files are saved and commands run.
        programs: A folder with the programs of the project that is tested.
        stands_for: What is really asked for a text on the page, such as a server of the test's for a URL.
        environment: Variables beside those of the process.
    """

    folder: Path
    programs: Path
    stands_for: Mapping[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    ran: list[Ran] = field(default_factory=list)

    def follow(self, blocks: Sequence[Block]) -> None:
        """Follows the blocks in order; raises an AssertionError at the first one whose output differs."""
        assert blocks, "there is nothing to follow"
        for block in blocks:
            if block.file:
                self._save(block.file, block.text)
            elif block.language == "diff":
                self._change(block)
            elif block.language == "console":
                self._type(block)
            elif block.language == "text":
                shown = f"{LEFT_OUT}\n{block.text}{LEFT_OUT}\n"
                assert self.ran, f"{block.place}: nothing was run before it"
                _compare(block.place, shown, self.ran[-1])
            else:
                raise AssertionError(f"{block.place}: the block is neither saved, run nor shown as output")

    def run(self, command: str) -> Ran:
        """The result of one command line."""
        variables = {
            name: value
            for name, value in os.environ.items()
            if name not in _FOREIGN and not name.startswith(_FOREIGN_PREFIXES) and not name.lower().endswith("_proxy")
        }
        ended = subprocess.run(
            ["sh", "-c", self._real(command)],
            cwd=self.folder,
            env={
                **variables,
                "PATH": f"{self.programs}{os.pathsep}{variables.get('PATH', '')}",
                "COLUMNS": "80",
                "PYTEST_ADDOPTS": shlex.join(OTHERS),
                **self.environment,
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=120,
            check=False,
        )
        output = ended.stdout
        for shown, real in self.stands_for.items():
            output = output.replace(real, shown)
        self.ran.append(Ran(command=command, status=ended.returncode, output=output))
        return self.ran[-1]

    def _real(self, text: str) -> str:
        for shown, real in self.stands_for.items():
            text = text.replace(shown, real)
        return text

    def _save(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self._real(text), encoding="utf-8")

    def _change(self, block: Block) -> None:
        name = re.findall(r"`([^`]+)`", block.before)[-1]
        text = (self.folder / name).read_text(encoding="utf-8")
        for old, new in _changes(block.text):
            assert text.count(old) == 1, f"{block.place}: {name} does not have once:\n{old}"
            text = text.replace(old, self._real(new))
        (self.folder / name).write_text(text, encoding="utf-8")

    def _type(self, block: Block) -> None:
        for command, shown in _commands(block.text):
            if _NOT_RUN.match(command):
                continue
            exported = re.fullmatch(r"export (\w+)=(\S+)", command)
            if exported:
                self.environment[exported[1]] = self._real(exported[2])
                continue
            ran = self.run(command)
            assert shown.strip() != LEFT_OUT, f"{block.place}: nothing of the output of {command} is shown"
            if shown:
                _compare(block.place, shown, ran)
            else:
                assert ran.status == 0, f"{block.place}: {command}: status {ran.status}\n{ran.output}"


def _commands(text: str) -> list[tuple[str, str]]:
    """The commands of a console block, each with its output on the page."""
    parts = re.split(r"^\$ (.+)\n", text, flags=re.MULTILINE)
    assert parts[0] == "", f"the block does not begin with a command:\n{text}"
    return list(zip(parts[1::2], parts[2::2], strict=True))


def _changes(text: str) -> list[tuple[str, str]]:
    """The old and the new text of each place of a diff; lines without a sign are in both."""
    places = []
    for place in re.split(r"^@@.*\n", text, flags=re.MULTILINE):
        lines = place.splitlines(keepends=True)
        old, new = ("".join(line[1:] for line in lines if line[0] in f" {sign}") for sign in "-+")
        places.append((old, new))
    return places


def _compare(place: str, shown: str, ran: Ran) -> None:
    """Raises an AssertionError unless the output is the shown one."""
    wanted, real = (_steady(text) for text in (shown, ran.output))
    pattern = "".join(r"(?:.*\n)*?" if line == LEFT_OUT else re.escape(line) + r"\n" for line in wanted)
    if not re.fullmatch(pattern, "".join(f"{line}\n" for line in real)):
        raise AssertionError(
            f"{place}: {ran.command} does not print what the page shows.\n"
            f"--- shown\n{shown}\n--- printed (status {ran.status})\n{ran.output}"
        )


def _steady(text: str) -> list[str]:
    """The lines without the parts that differ from run to run: times, and the width of rules."""
    text = re.sub(r"\bin \d+\.\d+s\b", "in 0.00s", text.strip("\n"))
    return [re.sub(r"^(=|_){3,} (.+) \1{3,}$", r"\1 \2", line.rstrip()) for line in text.splitlines()]
