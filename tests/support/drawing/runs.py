"""Random specs run by both engines: what must be the same, and what such a run shows of the language.

A construct counts as met when a run gives evidence of it: a reached state holds the value, an action changed the
field, a constraint refused a state. That a spec mentions it is not enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from support.drawing.specs import Drawn
from support.oracles.orbits import orbit_faults
from support.oracles.results import TINY, told
from support.oracles.steps import Expected, Kernels, differences
from support.specs.small import model_of
from support.views.read_back import told_in_every_view

from kmc.actions.relation import Step
from kmc.compiler.view_order import fingerprint_order
from kmc.engine import check_model
from kmc.engine.check_model import check_native
from kmc.engine.compiled_model import compile_model
from kmc.errors import KmcError
from kmc.frontend.model import Model
from kmc.invariants.properties import Predicate, holds
from kmc.lang.types import SymbolMeta
from kmc.reference.search import Search
from kmc.reference.states.identity import StateSet
from kmc.reference.states.initial import initial_states
from kmc.reference.states.order_dependence import every_turn
from kmc.result import Limits, Result, Verdict
from kmc.runtime.object_cache import KernelCache
from kmc.runtime.state_layout import row_layout

STATES = 150
"""A search ends with the first level that has so many."""

STEPPED = 50
"""From how many of them all successors are compared, and of how many all permutations."""
PERMUTED = 12

THREADS = (1, 2)


@dataclass(frozen=True, slots=True)
class Run:
    """A random spec and what the interpreter made of it; `steps` are those of some of its states."""

    drawn: Drawn
    model: Model
    result: Result
    states: list[Any]
    steps: dict[Any, list[Step] | None]

    def successors(self) -> Iterator[tuple[Any, Any]]:
        """Steps, by the states before and after."""
        return ((state, step[2]) for state, steps in self.steps.items() for step in steps or ())

    def values(self, field: str) -> set[Any]:
        """What a field holds in the states; nothing where there is no such field."""
        return {getattr(state, field) for state in self.states if field in self.model.spec.state_class.fields}

    def changes(self, *fields: str) -> bool:
        """Whether an action gave one of these fields another value than those in the initial states."""
        first = initial_states(self.model)
        return any(self.values(field) - {getattr(state, field, None) for state in first} for field in fields)


def compared(drawn: Drawn, folder: Path) -> Run | None:
    """A spec run on both engines, its counterexample in every view; AssertionError where they differ.

    SpecError if the spec is not compiled.

    None if something fails in one order of elements only, where engines need not agree.
    """
    model = model_of(folder, drawn.source, drawn.cfg)
    limits = Limits(states=STATES)
    search = Search(model, limits, keep_going=drawn.keep_going, view_order=fingerprint_order)
    wanted = ended(search.run)
    of_order = not drawn.world.safe and depends_on_order(drawn, model, limits, wanted)
    with patch.object(KernelCache, "of_environment", lambda: KernelCache(None)):
        compiled = compile_model(model)
    with patch.object(check_model, "compile_model", lambda *_, **__: compiled):
        for threads in THREADS:
            run = partial(check_native, model, limits, threads=threads, keep_going=drawn.keep_going, settings=TINY)
            found = ended(run)
            assert of_order or said(found) == said(wanted), f"{threads} threads"
    if of_order or not isinstance(wanted, Result):
        return None
    if wanted.violation is not None:
        told_in_every_view(model, wanted.violation)
    kernels, states = Kernels(model, compiled.module.call), search.graph.states
    expected = Expected(model)
    assert list(differences(kernels, states[:: 1 + len(states) // STEPPED], expected))[:3] == []
    if model.symmetry:
        assert list(orbit_faults(kernels, states[:: 1 + len(states) // PERMUTED]))[:3] == []
    return Run(drawn, model, wanted, states, expected.steps_met)


def ended(run: Callable[[], Result]) -> Result | KmcError:
    """How a check ends; the one error that ends it without a result is that of an order (KMC262)."""
    try:
        return run()
    except KmcError as error:
        if error.code != "KMC262":
            raise
        return error


def said(end: Result | KmcError) -> object:
    """What engines must say alike."""
    return told(end) if isinstance(end, Result) else end.code


def depends_on_order(drawn: Drawn, model: Model, limits: Limits, wanted: Result | KmcError) -> bool:
    """Whether the check ends differently if the turn of every element is evaluated, or if members come in reverse."""
    reverse = patch.object(SymbolMeta, "__iter__", lambda cls: reversed(cls.members))
    for order in (every_turn(model), reverse):
        with order:
            search = Search(model, limits, keep_going=drawn.keep_going, view_order=fingerprint_order)
            if said(ended(search.run)) != said(wanted):
                return True
    return False


def is_wide(run: Run) -> bool:
    """Whether messages of `net` are wider than a word and some are in a reached state."""
    networks = dict(row_layout(run.model.spec.state_class).networks)
    return networks["net"].words > 1 and any(
        type(message).__name__ == "Batch" for net in run.values("net") for message in net
    )


def mixes_shapes(run: Run) -> bool:
    """Whether a network holds messages of one type with different fields."""
    names = [{type(message).__name__ for message in net} for net in run.values("net")]
    return any(both <= found for found in names for both in ({"Ping", "LoudPing"}, {"AskPlain", "AskMore"}))


def forgets(run: Run) -> bool:
    """Whether a step leads to a state that was not stored, because of another with the same view."""
    if run.model.view is None:
        return False
    dropped = run.model.view.dropped
    kept = [field for field in run.model.spec.state_class.fields if field not in dropped]
    stored = {tuple(getattr(state, field) for field in kept): state for state in run.states}
    seen = ((stored.get(tuple(getattr(after, field) for field in kept), after), after) for _, after in run.successors())
    return any(one != other for one, other in seen)


def permutes(run: Run, types: int) -> bool:
    """Whether a state has images other than itself under symmetry of so many types."""
    classes = [cls for group in run.model.symmetry for cls in group.classes]
    known = StateSet(run.model.spec.state_class, run.model.symmetry, run.model.view)
    return len(classes) == types and any(len(set(known.images(state))) > 1 for state in run.states[:20])


def refuses_states(run: Run) -> bool:
    """Whether a constraint is false of a successor."""
    return any(is_false(run, asked, after) for asked in run.model.constraints for _, after in run.successors())


def refuses_steps(run: Run) -> bool:
    """Whether an action constraint is false of a step."""
    return any(is_false(run, asked, *step) for asked in run.model.action_constraints for step in run.successors())


def is_false(run: Run, asked: Predicate, *states: Any) -> bool:
    """Whether a predicate is false, and no error."""
    try:
        return not holds(asked, run.model.spec.files, *states)
    except KmcError:
        return False


def violates(run: Run, *, step: bool) -> bool:
    """Whether a property failed, of a state or of a step."""
    failed = run.result.violation
    return failed is not None and failed.verdict is Verdict.VIOLATION and failed.is_step == step


Evidence = Callable[[Run], bool]


def changing(*fields: str) -> Evidence:
    """An action changes one of these fields."""
    return lambda run: run.changes(*fields)


def ending(verdict: Verdict) -> Evidence:
    """The check ends so."""
    return lambda run: run.result.verdict is verdict


def writing(*words: str) -> Evidence:
    """The spec contains one of these words, behind its initial states."""
    return lambda run: any(word in run.drawn.source.partition("def init")[2] for word in words)


CONSTRUCTS: dict[str, Evidence] = {
    "a message wider than a word": is_wide,
    "a bag of wide messages": lambda run: run.drawn.world.bag and is_wide(run),
    "a set of wide messages": lambda run: not run.drawn.world.bag and is_wide(run),
    "messages of a type with different fields": mixes_shapes,
    "a second network": changing("other"),
    "a message in a field": changing("pending"),
    "a union": lambda run: len({type(value) for value in run.values("what")}) > 2 and run.changes("what"),
    "a set of enums": changing("roles"),
    "a set of pairs, a map of pairs": changing("cut", "linked"),
    "a sequence wider than a word": changing("log", "long"),
    "a record wider than a word": changing("nodes"),
    "a partial map": changing("part"),
    "a map of enums or numbers": changing("holders", "counted"),
    "spawned identifiers": changing("alive"),
    "identifiers of a second type": changing("owner"),
    "a view": lambda run: run.model.view is not None,
    "a view that forgets": forgets,
    "symmetry of one type": lambda run: permutes(run, 1),
    "symmetry of several types": lambda run: permutes(run, 2) or permutes(run, 3),
    "symmetry of three members": lambda run: any(permutes(run, types) for types in (1, 2, 3)) and "s3" in run.drawn.cfg,
    "symmetry and a view": lambda run: bool(run.model.symmetry) and run.model.view is not None,
    "a constraint that refuses": refuses_states,
    "an action constraint that refuses": refuses_steps,
    "reachable properties, reached and not": lambda run: len(run.result.unreached) == 1,
    "every state within the bounds, nothing wrong": ending(Verdict.OK),
    "too many states": ending(Verdict.BOUND_REACHED),
    "an invariant violated": lambda run: violates(run, step=False),
    "an action property violated": lambda run: violates(run, step=True),
    "deadlock": ending(Verdict.DEADLOCK),
    "an assertion that fails": ending(Verdict.ASSERTION),
    "an error": ending(Verdict.ERROR),
    "a counterexample of three states": lambda run: (
        run.result.violation is not None and len(run.result.violation.trace) > 2
    ),
    "a search that goes on after a failure": lambda run: run.drawn.keep_going and run.result.violation is not None,
    "ways": writing("ways("),
    "subsets": writing("subsets("),
    "a helper with a guard": writing("first_of(st"),
    "a choice of messages": writing(".of(Ping):\n"),
    "several messages at once": writing("_all("),
}
"""What a run may show, with the evidence for it."""
