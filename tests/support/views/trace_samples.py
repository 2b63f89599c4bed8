"""What the trace tests share: named models, their states and traces, and random TLA+ values."""

from __future__ import annotations

import string
from collections.abc import Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from kmc.actions.relation import NextStateRelation
from kmc.frontend.binding import bind, bind_all
from kmc.frontend.model import Model
from kmc.frontend.shipped import find_model, find_spec_root
from kmc.lang.tla import Tla, TlaMap, TlaRecord, TlaSeq, TlaSet
from kmc.model_files.value_text import parse_set
from kmc.reference.search import Search
from kmc.reference.states.initial import initial_states
from kmc.result import Trace, TraceStep, Violation
from kmc.trace.files import TraceFile, trace_file
from kmc.trace.trees import identity

DATA = Path(__file__).parents[2] / "data" / "traces"
KINDS = DATA / "kinds.py"


class Sample:
    """A model, what a check of it ends with, and states of it."""

    def __init__(self, model: Model, enough: int) -> None:
        self.enough = enough
        self.model = model
        self.spec = model.spec

    @cached_property
    def violation(self) -> Violation:
        """What a check of the model ends with."""
        found = Search(self.model).run().violation
        assert found is not None
        return found

    @property
    def trace(self) -> Trace:
        """The trace that a check of the model ends with."""
        return self.violation.trace

    @cached_property
    def file(self) -> TraceFile:
        """That trace in the form for files."""
        return trace_file(self.trace, self.model, "violation", violated=self.violation.name)

    @cached_property
    def states(self) -> Sequence[Any]:
        """The first states that a walk over the model meets: enough and a few more, or all, if there are fewer."""
        relation = NextStateRelation(self.spec.actions, self.spec.state_class, self.spec.files)
        found = dict.fromkeys(initial_states(self.model))
        for state in (waiting := list(found)):
            successors = dict.fromkeys(successor for _, _, successor in relation.steps(state))
            waiting += [successor for successor in successors if successor not in found]
            found |= successors
            if len(found) >= self.enough:
                break
        return list(found)

    @cached_property
    def all_states(self) -> Trace:
        """Those states in a row, as if they were a trace."""
        return Trace(tuple(TraceStep(state) for state in self.states))


@cache
def kinds() -> Sample:
    """A variable of every kind of value, two nodes; all of its 819 states; it deadlocks."""
    return Sample(bind_all(KINDS, [parse_set("Node={a,b}")]), 1000)


@cache
def kraft() -> Sample:
    """KRaft with one election and one restart, which violates NoIllegalState in 7 states."""
    root = find_spec_root("kraft")
    file = find_model(root, "smoke")
    assert file is not None
    return Sample(bind(root, file.with_overrides([parse_set("MaxRestarts=1")])), 300)


NAMES = st.text(string.ascii_letters, min_size=1, max_size=4).filter(lambda name: name not in ("TRUE", "FALSE"))


def trees(integers: SearchStrategy[int], names: SearchStrategy[str], booleans: bool = True) -> SearchStrategy[Tla]:
    """TLA+ values of any shape, with sets and functions that say nothing twice."""
    atoms: SearchStrategy[Tla] = integers | names
    return st.recursive(atoms | st.booleans() if booleans else atoms, _composites, max_leaves=12)


def _composites(inner: SearchStrategy[Tla]) -> SearchStrategy[Tla]:
    several = st.lists(inner, max_size=3)
    return st.one_of(
        several.map(lambda elements: TlaSeq(tuple(elements))),
        st.lists(inner, max_size=3, unique_by=identity).map(lambda elements: TlaSet(tuple(elements))),
        several.map(lambda values: TlaRecord(tuple((f"f{i}", value) for i, value in enumerate(values)))),
        st.lists(st.tuples(inner, inner), max_size=3, unique_by=lambda pair: identity(pair[0])).map(
            lambda pairs: TlaMap(tuple(pairs))
        ),
    )


def in_python(value: Tla) -> Any:
    """A value as a tree of hashable Python objects."""
    match value:
        case TlaSet(elements):
            return "set", frozenset(map(in_python, elements))
        case TlaSeq(elements):
            return "list", tuple(map(in_python, elements))
        case TlaMap(pairs):
            return "map", frozenset((in_python(key), in_python(item)) for key, item in pairs)
        case TlaRecord(fields):
            return "record", tuple((name, in_python(item)) for name, item in fields)
        case _:
            return value


def from_itf_py(value: Any) -> Any:
    """A value of itf-py as such a tree."""
    if isinstance(value, frozenset):
        return "set", frozenset(map(from_itf_py, value))
    if isinstance(value, list):
        return "list", tuple(map(from_itf_py, value))
    if isinstance(value, dict):
        return "map", frozenset((from_itf_py(key), from_itf_py(item)) for key, item in value.items())
    if isinstance(value, tuple):
        named: Any = value
        return "record", tuple((name, from_itf_py(item)) for name, item in named._asdict().items())
    return value
