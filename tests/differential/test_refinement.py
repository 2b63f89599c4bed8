"""Refinement is what its definition says: on drawn specs the engines agree with a search by hand."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from kmc.checking.check import check
from kmc.checking.model_choice import ChosenModel
from kmc.checking.outcome import Outcome
from kmc.checking.request import CheckRequest, Engine
from kmc.frontend.binding import bind_all

SEEDS = range(30)
"""The specs that the interpreter checks; the native engine, which compiles each, checks the first of them."""

ABSTRACT = """
from kmc.lang import Int, Record
from kmc.spec import spec

TARGETS = {targets}

class State(Record):
    n: Int(0, {last})

@spec.init
def init():
    for n in {initial}:
        yield State(n=n)

@spec.action
def jump(st, n: Int(0, {last})):
    if n in TARGETS[st.n]:
        yield st.set(n=n)
"""

CONCRETE = (
    ABSTRACT.replace("from kmc.spec import spec", "from kmc.spec import spec\nfrom ..abstract import State as Abstract")
    + """
IMAGES = {images}

@spec.refines("abstract")
def Refines(st):
    return Abstract(n=IMAGES[st.n])
"""
)


@dataclass(frozen=True, slots=True)
class Drawn:
    """Two graphs with their initial states, and a mapping from the states of one to those of the other."""

    initial: frozenset[int]
    edges: dict[int, frozenset[int]]
    abstract_initial: frozenset[int]
    abstract_edges: dict[int, frozenset[int]]
    images: dict[int, int]

    def length(self) -> int | None:
        """The number of states of a shortest behaviour that breaks the refinement; None if there is none."""
        if any(self.images[n] not in self.abstract_initial for n in self.initial):
            return 1
        level, known = set(self.initial), set(self.initial)
        for length in range(2, 2 + len(self.edges)):
            steps = [(n, m) for n in level for m in self.edges[n]]
            if not all(self._is_step(self.images[n], self.images[m]) for n, m in steps):
                return length
            level = {m for _, m in steps} - known
            known |= level
        return None

    def _is_step(self, before: int, after: int) -> bool:
        return before == after or after in self.abstract_edges[before]


def drawn(seed: int) -> Drawn:
    """Graphs of a few states; about half of the mappings are refinements up to some depth."""
    chance = random.Random(seed)
    images = {n: chance.randrange(4) for n in range(7)}
    abstract_edges = {n: frozenset(chance.sample(range(4), chance.randrange(1, 4))) for n in range(4)}
    edges = {}
    for n in range(7):
        fitting = [m for m in range(7) if images[m] == images[n] or images[m] in abstract_edges[images[n]]]
        targets = chance.sample(fitting, min(2, len(fitting)))
        edges[n] = frozenset([*targets, chance.randrange(7)] if chance.random() < 0.15 else targets)
    initial = frozenset(chance.sample(range(7), 2))
    abstract_initial = frozenset(images[n] for n in initial) if chance.random() < 0.8 else frozenset([0])
    return Drawn(initial, edges, abstract_initial, abstract_edges, images)


def written(folder: Path, **files: str) -> Path:
    """Write specs as files of their own, one beside the folder `concrete` of the other; the path of that one."""
    for name, text in files.items():
        path = folder / f"{name}.py" if name != "concrete" else folder / "concrete" / "spec.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "concrete"


def checked(root: Path, engine: Engine = Engine.PYTHON) -> Outcome:
    """The outcome of a check of all properties that a spec declares."""
    model = replace(bind_all(root, []), deadlock=False)
    return check(CheckRequest(ChosenModel(model, None), engine=engine, threads=1))


def folder_of(case: Drawn, folder: Path) -> Path:
    """The two specs that a drawn case is."""
    abstract = ABSTRACT.format(
        targets={n: set(targets) for n, targets in case.abstract_edges.items()},
        initial=set(case.abstract_initial),
        last=3,
    )
    concrete = CONCRETE.format(
        targets={n: set(targets) for n, targets in case.edges.items()},
        initial=set(case.initial),
        last=6,
        images=case.images,
    )
    return written(folder, abstract=abstract, concrete=concrete.replace("set()", "{n for n in range(0)}"))


def length_of(outcome: Outcome) -> int | None:
    """The length of the counterexample; None where there is none."""
    violation = outcome.result.violation
    return None if violation is None else len(violation.trace)


def shown(outcome: Outcome) -> tuple[str | None, list[str]] | None:
    """The property that fails, and the steps of the counterexample."""
    violation = outcome.result.violation
    if violation is None:
        return None
    return violation.name, [f"{step.label}: {step.state}" for step in violation.trace.steps]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_interpreter_finds_what_a_search_by_hand_finds(seed: int, tmp_path: Path) -> None:
    case = drawn(seed)
    assert length_of(checked(folder_of(case, tmp_path))) == case.length()


def test_the_drawn_cases_hold_and_fail_at_several_depths() -> None:
    lengths = [drawn(seed).length() for seed in SEEDS]
    assert {None, 1, 2, 3} <= set(lengths)


@pytest.mark.parametrize("length", [None, 2, 3])
def test_the_native_engine_reports_what_the_interpreter_reports(length: int | None, tmp_path: Path) -> None:
    seed = next(seed for seed in SEEDS if drawn(seed).length() == length)
    root = folder_of(drawn(seed), tmp_path)
    ours, theirs = checked(root, Engine.NATIVE), checked(root)
    assert shown(ours) == shown(theirs)
    assert ours.result.counters.distinct == theirs.result.counters.distinct
