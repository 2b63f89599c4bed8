"""The page of what compiles is true: each example takes the same steps on both engines, or gets the error it shows."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from support.oracles.steps import differences, kernels_of, level_states
from support.specs.small import IMPORTS

from kmc.compiler.view_order import fingerprint_order
from kmc.engine.check_model import check_native
from kmc.errors import SpecError
from kmc.frontend.binding import bind_all
from kmc.frontend.model import Model
from kmc.model_files.value_text import parse_set
from kmc.reference.search import Search
from kmc.result import Limits, Result

PAGE = Path(__file__).parents[2] / "docs" / "compiled.md"
BLOCK = re.compile(r"^```python\n# (.*?)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^## (.*)$", re.MULTILINE)
MORE_IMPORTS = "from kmc.lang import fold, pair, pairs, product\n"
STAY = "\n\n@spec.action\ndef stay(st):\n    yield st\n"
STATES = 60


@dataclass(frozen=True, slots=True)
class Block:
    """A block of the page: the heading above it, its first line, and its text."""

    heading: str
    says: str
    text: str


def blocks() -> list[Block]:
    """All blocks, the world first."""
    page = PAGE.read_text(encoding="utf-8")
    return [Block(HEADING.findall(page[: match.start()])[-1], match[1], match[2]) for match in BLOCK.finditer(page)]


WORLD, *EXAMPLES = blocks()
COMPILED = [
    pytest.param(block, id=f"{n}-{block.heading}") for n, block in enumerate(EXAMPLES) if block.says == "compiles"
]
REFUSED = [pytest.param(block, id=f"{n}-{block.says}") for n, block in enumerate(EXAMPLES) if block.says != "compiles"]


def source_of(block: Block) -> str:
    """The whole source of an example; one with a state of its own replaces that of the world."""
    world = WORLD.text.partition("class State")[0] if "class State" in block.text else WORLD.text
    whole = f"{IMPORTS}{MORE_IMPORTS}{world}\n\n{block.text}"
    return whole if "@spec.action" in whole else whole + STAY


def model_of(block: Block, folder: Path) -> Model:
    """An example as a model with all its properties, deadlock not checked."""
    path = folder / "spec.py"
    path.write_text(source_of(block), encoding="utf-8")
    return replace(bind_all(path, [parse_set("Server={s1, s2}")]), deadlock=False)


def told(result: Result) -> tuple[Any, ...]:
    """Counts, and what fails first."""
    counters, violation = result.counters, result.violation
    trace = [step.state for step in violation.trace.steps] if violation else None
    return (
        result.verdict,
        counters.generated,
        counters.distinct,
        result.levels,
        trace,
        repr(violation and violation.error),
    )


@pytest.mark.usefixtures("compiled_once")
@pytest.mark.slow
@pytest.mark.parametrize("block", COMPILED)
def test_an_example_takes_the_same_steps_compiled(block: Block, tmp_path: Path) -> None:
    model = model_of(block, tmp_path)
    states = level_states(model, Limits(states=STATES), at_most=STATES)
    assert list(differences(kernels_of(model), states))[:2] == []
    limits = Limits(states=STATES)
    assert told(check_native(model, limits)) == told(Search(model, limits, view_order=fingerprint_order).run())


@pytest.mark.parametrize("block", REFUSED)
def test_what_is_refused_gets_the_error_that_the_page_shows(block: Block, tmp_path: Path) -> None:
    model = model_of(block, tmp_path)
    with pytest.raises(SpecError) as caught:
        kernels_of(model)
    error = caught.value
    assert f"error {error.code}: {error.message}" == block.says
    assert error.span is not None
    assert (error.span.source_line() or "").strip() in block.text


def test_a_model_of_too_many_properties_is_refused_at_the_first_that_is_too_many(tmp_path: Path) -> None:
    source = "".join(f"@spec.invariant\ndef Small{n}(st):\n    return st.n < {n + 10}\n\n\n" for n in range(63))
    with pytest.raises(SpecError) as caught:
        kernels_of(model_of(Block("", "", source), tmp_path))
    assert (caught.value.code, caught.value.message.split()[0]) == ("KMC806", "Small62")


def test_every_block_says_what_it_is() -> None:
    assert WORLD.says == "world"
    assert [block.says for block in EXAMPLES if not re.fullmatch(r"compiles|error KMC8\d\d: .+", block.says)] == []


def test_every_code_of_a_refusal_is_on_the_page() -> None:
    compiler = Path(__file__).parents[2] / "kmc" / "compiler"
    codes = {
        code for path in compiler.rglob("*.py") for code in re.findall(r"KMC8\d\d", path.read_text(encoding="utf-8"))
    }
    assert codes - set(re.findall(r"KMC8\d\d", PAGE.read_text(encoding="utf-8"))) == set()
