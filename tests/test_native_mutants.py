"""Mistakes planted in compiled kernels are caught, so the tests that compare kernels with the interpreter can fail.

A mutant that nothing can tell from the original (a store of the word that is there, a check that cannot fail) is no
mistake, so not every one must be caught; `CAUGHT` says how many are, and a change that lets more of them by fails.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from ir_mutants import MUTATIONS, mutants
from native_steps import Kernels, differences, level_states
from random_specs import HEAD
from test_native_random import model_of

from kmc.compiler.emit_python import emit_python
from kmc.compiler.ir import Module
from kmc.compiler.kernels import build_kernels
from kmc.errors import KmcError
from kmc.result import Limits
from kmc.spec.model import Model

SOURCE = (
    HEAD.format(low=0, high=3, capacity=2, network="MessageBag[Ping | Pong, 3, 2]", empty="{}", add="add")
    + """

@spec.action
def append(st, i: Server):
    mapped = st.mapped.set(i, clipped(st.mapped[i], st.n))
    if st.maybe is not None and len(st.xs) < 2:
        yield st.set(xs=st.xs.append(st.maybe), mapped=mapped)
    elif st.who != i:
        yield st.set(maybe=st.n, xs=st.xs.upto(len(st.xs) - 1), mapped=mapped)


@spec.action
def keep_some(st, i: Server):
    for chosen in subsets(st.some):
        for _ in ways(len(chosen) < 2, i in chosen):
            yield st.set(some=chosen, part={s: first_of(st, i) for s in chosen})


@spec.receive(Ping, i="dest")
def ping(st, m, i):
    require(count(m.n >= other.n for other in st.net.of(Ping)) > 0)
    reply = Pong(source=i, dest=m.source, role=Role.TOP if m.n > 1 else st.role)
    yield st.set(net=st.net.take(m).add(reply), n=max(m.n - 1, st.n))


@spec.receive(Pong)
def pong(st, m):
    ps = st.ps if len(st.ps) == 2 else st.ps.append(Pos(n=st.mapped[m.dest], who=m.source))
    yield st.set(net=st.net.take(m), role=m.role, ps=ps)


@spec.invariant
def Inv(st):
    return all(st.mapped[s] < 3 or s in st.some for s in Server) and st.xs != [1, 2]


@spec.transition_invariant
def Step(st, nxt):
    return nxt.n <= st.n + 1 or st.who == nxt.who
"""
)
"""Every kind of field, sequence, map, set, choice and message; errors in some actions of some states."""

PLANTED = 10
CAUGHT = {
    "dropped store": 9,
    "wrong shift": 8,
    "dropped guard": 6,
    "wrong salt": 9,
    "swapped select": 6,
    "off by one": 4,
}
"""How many of the planted mistakes are caught, at least."""


@cache
def original() -> tuple[Model, Module, list[Any]]:
    """The model, its kernels, and states in which they are compared."""
    with TemporaryDirectory() as folder:
        model = model_of(SOURCE, Path(folder))
        return model, build_kernels(model).module, level_states(model, Limits(states=2000), at_most=80)


def is_caught(model: Model, module: Module, states: list[Any]) -> bool:
    """Whether kernels with a mistake differ from the interpreter, or are refused, or break."""
    try:
        call = emit_python(module).call
        return next(differences(Kernels(model, call), states), None) is not None
    except (KmcError, IndexError, AssertionError, ValueError, TypeError, OverflowError):
        return True


def test_the_kernels_without_a_mistake_do_not_differ() -> None:
    assert not is_caught(*original())


@pytest.mark.parametrize("kind", MUTATIONS)
def test_planted_mistakes_are_caught(kind: str) -> None:
    model, module, states = original()
    planted = list(mutants(module, MUTATIONS[kind], PLANTED))
    assert sum(is_caught(model, mutant, states) for mutant in planted) >= CAUGHT[kind]
