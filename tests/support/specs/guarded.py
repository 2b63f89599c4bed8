"""Runs that take named steps, and a spec in which a step keeps the others within the constraints."""

from __future__ import annotations

from pathlib import Path

from support.specs.small import model_of

from kmc.actions.relation import NextStateRelation
from kmc.frontend.model import Model
from kmc.reference.states.initial import initial_states
from kmc.reference.states.traces import trace_step
from kmc.result import Trace, TraceStep, Verdict, Violation
from kmc.story.slice import slice_of

GUARDED = """
class State(Record):
    n: Int(0, 3)
    m: Int(0, 1)
    is_open: Bool

@spec.init
def init():
    yield State(n=0, m=0, is_open=False)

@spec.action
def unlock(st):
    if not st.is_open:
        yield st.set(is_open=True)

@spec.action
def aside(st):
    if st.m == 0:
        yield st.set(m=1)

@spec.action
def rise(st):
    if st.n < 3:
        yield st.set(n=st.n + 1)

@spec.invariant
def BelowThree(st):
    return st.n < 3

@spec.constraint
def IsOpenAboveZero(st):
    return st.n in (0, 3) or st.is_open

@spec.action_constraint
def RisesWhereOpen(st, nxt):
    return st.n == nxt.n or st.n == 2 or st.is_open
"""
"""All can rise; within the constraints, only what is open may go on rising. The last state may be outside of them."""


def run_of(model: Model, *labels: str) -> Trace:
    """The run that takes the steps with these labels."""
    relation = NextStateRelation(model.spec.actions, model.spec.state_class, model.spec.files)
    steps = [TraceStep(initial_states(model)[0])]
    for label in labels:
        found = [trace_step(step) for step in relation.steps(steps[-1].state)]
        steps.append(next(step for step in found if step.label == label))
    return Trace(tuple(steps))


def kept_within(folder: Path, constraint: str) -> tuple[int, ...] | None:
    """The states of a run to a violation that its slice keeps, where the model has this constraint."""
    model = model_of(folder, GUARDED, f"INVARIANT BelowThree {constraint} CHECK_DEADLOCK FALSE")
    trace = run_of(model, "Aside", "Unlock", "Rise", "Rise", "Rise")
    found = slice_of(model, Violation(Verdict.VIOLATION, "BelowThree", trace))
    return None if found is None else found.numbers
