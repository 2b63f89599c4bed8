"""The examples of docs/language.md, read from the page, and the model of each."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from kmc.actions.abstraction import Abstraction
from kmc.frontend.binding import bind_all
from kmc.frontend.model import Model
from kmc.invariants.properties import ActionConstraint, Constraint, SymmetrySet, View
from kmc.model_files.model_file import Assignment
from kmc.model_files.value_text import parse_set

PAGE = Path(__file__).parents[3] / "docs" / "language.md"
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
HEADER = re.compile(
    r"# (?P<kind>world |file |spec\b|)(?P<world>\w*)(?: with (?P<given>(?:[^:]|:>)*))?"
    r"(?: under (?P<under>[^:]*))?(?:: (?P<expected>.*))?"
)


STAY = "\n\n@spec.action\ndef stay(st):\n    yield st\n"


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its language, its text, and the heading above it."""

    language: str
    text: str
    heading: str


@dataclass(frozen=True, slots=True)
class Example:
    """A Python block with what its first line says.

    `world` is the world it goes on from, or '' for a whole spec; `under` are the constraints, views and symmetry sets
    that its model chooses. A `file` lies beside the folders of all specs of the page, under this name.
    """

    heading: str
    world: str
    is_world: bool
    given: tuple[str, ...]
    under: tuple[str, ...]
    expected: str
    text: str
    file: str = ""


@cache
def blocks() -> tuple[Block, ...]:
    """All fenced blocks of the page."""
    page = PAGE.read_text(encoding="utf-8")
    found = []
    for match in FENCE.finditer(page):
        heading = HEADING.findall(page[: match.start()])[-1]
        found.append(Block(match[1], match[2], heading))
    return tuple(found)


def read_example(block: Block) -> Example:
    """The example that a Python block is."""
    first = block.text.partition("\n")[0]
    header = HEADER.fullmatch(first)
    assert header is not None, f"{block.heading}: '{first}' says neither what this is nor what must come out"
    return Example(
        heading=block.heading,
        world="" if header["kind"] == "file " else header["world"],
        is_world=header["kind"] == "world ",
        given=listed(header["given"], ";"),
        under=listed(header["under"], ","),
        expected=header["expected"] or "",
        text=block.text,
        file=header["world"] if header["kind"] == "file " else "",
    )


def listed(text: str | None, separator: str) -> tuple[str, ...]:
    """The parts of a list in a first line."""
    return tuple(part.strip() for part in (text or "").split(separator) if part.strip())


@cache
def examples() -> tuple[Example, ...]:
    """The Python blocks of the page."""
    return tuple(read_example(block) for block in blocks() if block.language == "python")


RUN = [example for example in examples() if not example.is_world and not example.file]


def world_of(example: Example) -> Example | None:
    """The world that an example goes on from."""
    return next((other for other in examples() if other.is_world and other.world == example.world), None)


def source_of(example: Example) -> str:
    """The whole source: the world without its initial states if the example has its own, and `stay` if needed."""
    world = world_of(example)
    before = world.text if world else ""
    if "@spec.init" in example.text:
        before = before.partition("@spec.init")[0]
    whole = f"{before}\n\n{example.text}"
    return whole if "@spec.action" in whole or "@spec.receive" in whole else whole + STAY


def constants_of(example: Example) -> list[Assignment]:
    """The constants that the example and its world give."""
    world = world_of(example)
    return [parse_set(text) for text in (*(world.given if world else ()), *example.given)]


def written(example: Example, folder: Path) -> Path:
    """The file of an example, with the files of the page beside its folder."""
    path = folder / "example" / "example.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text(source_of(example), encoding="utf-8")
    for other in examples():
        if other.file:
            (folder / f"{other.file}.py").write_text(other.text, encoding="utf-8")
    return path


def model_of(example: Example, folder: Path) -> Model:
    """The example as a model with all its invariants and action properties, deadlock not checked."""
    path = written(example, folder)
    model = replace(bind_all(path, constants_of(example)), deadlock=False)
    chosen = [model.spec.properties[name] for name in example.under]
    views = [declared for declared in chosen if isinstance(declared, View)]
    return replace(
        model,
        constraints=tuple(declared for declared in chosen if isinstance(declared, Constraint)),
        action_constraints=tuple(declared for declared in chosen if isinstance(declared, ActionConstraint)),
        symmetry=tuple(declared for declared in chosen if isinstance(declared, SymmetrySet)),
        abstractions=tuple(declared for declared in chosen if isinstance(declared, Abstraction)),
        view=views[0] if views else None,
    )
