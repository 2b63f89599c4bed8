"""The page of the spec language is true: every example runs and gives what it says, and no word is missing.

The first line of a Python block says what it is (a world, a spec, an example in a world) and what must come out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pytest

import kmc.lang
import kmc.spec
from kmc.errors import KmcError
from kmc.invariants.declaration import ActionConstraint, Constraint, SymmetrySet, View
from kmc.lang.maps import MapValue
from kmc.lang.modelfile import Assignment, parse_set
from kmc.lang.networks import MessageBagValue, MessageSetValue
from kmc.lang.seqs import SeqValue
from kmc.reference.search import Search
from kmc.result import Result
from kmc.spec.model import Model, bind_all

PAGE = Path(__file__).parents[1] / "docs" / "language.md"
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
HEADER = re.compile(
    r"# (?P<kind>world |spec\b|)(?P<world>\w*)(?: with (?P<given>[^:]*))?"
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
    that its model chooses.
    """

    heading: str
    world: str
    is_world: bool
    given: tuple[str, ...]
    under: tuple[str, ...]
    expected: str
    text: str


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
        world=header["world"],
        is_world=header["kind"] == "world ",
        given=listed(header["given"], ";"),
        under=listed(header["under"], ","),
        expected=header["expected"] or "",
        text=block.text,
    )


def listed(text: str | None, separator: str) -> tuple[str, ...]:
    """The parts of a list in a first line."""
    return tuple(part.strip() for part in (text or "").split(separator) if part.strip())


@cache
def examples() -> tuple[Example, ...]:
    """The Python blocks of the page."""
    return tuple(read_example(block) for block in blocks() if block.language == "python")


RUN = [example for example in examples() if not example.is_world]
NAMES = [f"{number}-{example.heading}" for number, example in enumerate(RUN)]


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


def model_of(example: Example, folder: Path) -> Model:
    """The example as a model with all its invariants and action properties, deadlock not checked."""
    path = folder / "example.py"
    path.write_text(source_of(example), encoding="utf-8")
    model = replace(bind_all(path, constants_of(example)), deadlock=False)
    chosen = [model.spec.properties[name] for name in example.under]
    views = [declared for declared in chosen if isinstance(declared, View)]
    return replace(
        model,
        constraints=tuple(declared for declared in chosen if isinstance(declared, Constraint)),
        action_constraints=tuple(declared for declared in chosen if isinstance(declared, ActionConstraint)),
        symmetry=tuple(declared for declared in chosen if isinstance(declared, SymmetrySet)),
        view=views[0] if views else None,
    )


def outcome(result: Result) -> str:
    """A result in the words of the page."""
    violation = result.violation
    if violation is not None and violation.error is not None:
        return f"error {violation.error.code}"
    if violation is not None and violation.name is not None:
        return f"{violation.name} violated in {len(violation.trace)} states"
    return f"{result.counters.generated} generated, {result.counters.distinct} distinct"


def run(example: Example, folder: Path) -> str:
    """What comes out of an example."""
    try:
        return outcome(Search(model_of(example, folder)).run())
    except KmcError as error:
        return f"error {error.code}"


@pytest.mark.parametrize("example", RUN, ids=NAMES)
def test_an_example_gives_what_the_page_says(example: Example, tmp_path: Path) -> None:
    assert run(example, tmp_path) == example.expected


def test_every_example_says_what_must_come_out() -> None:
    assert [example.heading for example in RUN if not example.expected] == []


def test_every_example_stands_beside_its_tla_text() -> None:
    pairs = [block.language for block in blocks() if block.language in ("tla", "python")]
    assert pairs == ["tla", "python"] * (len(pairs) // 2)


ROW = re.compile(r"^\| (.+?) \| (KMC\d+) \| (.+) \|$", re.MULTILINE)
INSTEAD_OF_STAY = """
@spec.init
def init():
    yield start([Entry(epoch=1, value=Value.at(1))])

@spec.action
def example(st, i: Server):
    me = st.servers[i]
    entry = me.log.at(1)
"""
TOP_LEVEL = ("import ", "from ", "class ", "@", "assert ", "spec.")


@dataclass(frozen=True, slots=True)
class Refusal:
    """A row of the table of what is refused: the code in it, what to write instead, and the code of the error."""

    wrong: tuple[str, ...]
    code: str
    right: tuple[str, ...]


def code_of(cell: str) -> tuple[str, ...]:
    """The lines of code in a cell of a table."""
    return tuple(line.replace("\\|", "|") for line in re.findall("`(.+?)`", cell))


REFUSALS = [
    Refusal(code_of(wrong), code, code_of(right))
    for wrong, code, right in ROW.findall(PAGE.read_text(encoding="utf-8"))
]


def example_of(lines: tuple[str, ...], expected: str) -> Example:
    """An example in the world `voters` that holds these lines in an action or at its top."""
    top_level = lines[0].startswith(TOP_LEVEL)
    body = ["    yield st"] if top_level else [*(f"    {line}" for line in lines), "    yield st"]
    text = "\n".join([*(lines if top_level else ()), INSTEAD_OF_STAY.rstrip(), *body]) + "\n"
    return Example("refused", "voters", False, (), (), expected, text)


@pytest.mark.parametrize("refusal", REFUSALS, ids=[" ".join(refusal.wrong) for refusal in REFUSALS])
def test_what_the_page_calls_refused_is_refused(refusal: Refusal, tmp_path: Path) -> None:
    assert run(example_of(refusal.wrong, ""), tmp_path) == f"error {refusal.code}"


@pytest.mark.parametrize("refusal", REFUSALS, ids=[" ".join(refusal.right) for refusal in REFUSALS])
def test_what_the_page_offers_instead_runs(refusal: Refusal, tmp_path: Path) -> None:
    assert "generated" in run(example_of(refusal.right, ""), tmp_path)


def test_the_table_of_refusals_is_read() -> None:
    assert len(REFUSALS) > 30


def public_methods(cls: type) -> set[str]:
    """The methods that a spec may call on values of a class."""
    return {name for name, member in vars(cls).items() if callable(member) and not name.startswith("_")}


WORDS = sorted(set(kmc.lang.__all__) | set(kmc.spec.__all__))
METHODS = sorted(
    (cls.__name__, method)
    for cls in (SeqValue, MapValue, MessageSetValue, MessageBagValue)
    for method in public_methods(cls)
)
DECORATORS = sorted(name for name in dir(kmc.spec.spec) if not name.startswith("_"))


def code_of_the_page() -> str:
    """All Python of the page."""
    return "\n".join(example.text for example in examples())


@pytest.mark.parametrize("word", WORDS)
def test_every_word_of_the_language_is_used_in_an_example(word: str) -> None:
    assert re.search(rf"(?<![.\w]){word}\b", code_of_the_page())


@pytest.mark.parametrize(("cls", "method"), METHODS)
def test_every_method_of_a_value_is_used_in_an_example(cls: str, method: str) -> None:
    assert re.search(rf"\.{method}\(", code_of_the_page()), f"{cls}.{method}"


@pytest.mark.parametrize("name", DECORATORS)
def test_every_declaration_is_used_in_an_example(name: str) -> None:
    assert re.search(rf"\bspec\.{name}\b", code_of_the_page())
