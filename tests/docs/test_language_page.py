"""The page of the spec language is true: every example runs and gives what it says, and no word is missing.

The first line of a Python block says what it is (a world, a spec, an example in a world) and what must come out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.pages.language import PAGE, RUN, Example, blocks, examples, model_of

import kmc.lang
import kmc.spec
from kmc.compiler.checks.kinds.spec_kinds import check_kinds
from kmc.compiler.view_order import fingerprint_order
from kmc.errors import KmcError
from kmc.lang.maps import MapValue
from kmc.lang.networks import MessageBagValue, MessageSetValue
from kmc.lang.seqs import SeqValue
from kmc.reference.search import Search
from kmc.result import Result

NAMES = [f"{number}-{example.heading}" for number, example in enumerate(RUN)]


def outcome(result: Result) -> str:
    """A result in the words of the page."""
    violation = result.violation
    if violation is not None and violation.error is not None:
        return f"error {violation.error.code}"
    if violation is not None and violation.name is not None:
        return f"{violation.name} violated in {len(violation.trace)} states"
    return f"{result.counters.generated} generated, {result.counters.distinct} distinct"


def run(example: Example, folder: Path) -> str:
    """What comes out of an example, after the type check that precedes every check."""
    try:
        model = model_of(example, folder)
        check_kinds(model.spec)
        return outcome(Search(model, view_order=fingerprint_order).run())
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
