"""Mistakes planted in compiled kernels are caught, so the tests that compare kernels with the interpreter can fail.

A mutant that nothing can tell from the original (a store of the word that is there, a check that cannot fail) is no
mistake, so not every one must be caught; `CAUGHT` says how many are, and a change that lets more of them by fails.
"""

from __future__ import annotations

import signal
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from ir_mutants import MUTATIONS, covering, mutants
from native_steps import Kernels, differences, level_states, walk_states
from random_worlds import World, head_of
from small_specs import model_of
from test_native_edges import shipped_model

from kmc.actions.relation import Step
from kmc.compiler.emit_python import emit_python
from kmc.compiler.ir import Module
from kmc.compiler.kernels import build_kernels
from kmc.errors import KmcError
from kmc.result import Limits
from kmc.spec.model import Model

SOURCE = (
    head_of(World(low=0, high=3, bag=True))
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


@spec.action
def again(st, i: Server):
    for m in st.net.of(Ping):
        yield st.set(net=st.net.add(Ping(source=m.source, dest=i, n=st.n)))


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


CFG = "CONSTANTS Server = {s1, s2} Value = {v1, v2} INVARIANT Inv PROPERTY Step CHECK_DEADLOCK FALSE"

ENDLESS_CPU_SECONDS = 10.0
"""Kernels without a mistake need a second or three for what is compared."""


@dataclass(frozen=True, slots=True)
class Original:
    """Kernels without a mistake, and states that between them run all that is compared."""

    model: Model
    module: Module
    states: list[Any]
    known: dict[Any, list[Step] | None]

    def is_caught(self, module: Module) -> bool:
        """Whether kernels with a mistake differ from the interpreter, or are refused, or break, or never end."""
        before = signal.signal(signal.SIGVTALRM, _give_up)
        signal.setitimer(signal.ITIMER_VIRTUAL, ENDLESS_CPU_SECONDS)
        try:
            call = emit_python(module).call
            return next(differences(Kernels(self.model, call), self.states, self.known), None) is not None
        except (KmcError, IndexError, AssertionError, ValueError, TypeError, OverflowError, TimeoutError):
            return True
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            signal.signal(signal.SIGVTALRM, before)


def _give_up(number: int, frame: object) -> None:
    raise TimeoutError


def compared(model: Model, candidates: list[Any], more: int) -> Original:
    """The model's kernels with the states of `candidates` that cover them, and `more` others."""
    module, known = build_kernels(model).module, dict[Any, list[Step] | None]()
    emitted = emit_python(module)
    kernels = Kernels(model, emitted.call)
    chosen = covering(emitted, lambda state: list(differences(kernels, [state], known)), candidates)
    return Original(model, module, list(dict.fromkeys([*chosen, *candidates]))[: len(chosen) + more], known)


@cache
def original(name: str) -> Original:
    """The small spec above, or a shipped one with constants for which all its actions can happen."""
    if name == "small":
        with TemporaryDirectory() as folder:
            model = model_of(Path(folder), SOURCE, CFG)
            return compared(model, level_states(model, Limits(states=2000), at_most=80), 80)
    model = shipped_model(name, *SHIPPED[name])
    return compared(model, walk_states(model, walks=10, depth=60, seed=1)[:200], 30)


SHIPPED = {
    "kraft": ("smoke", "MaxElections=2", "MaxRestarts=1", "Value={v1, v2}"),
    "kip_996": ("reconfiguration",),
}

CAUGHT = {
    "dropped store": 9,
    "wrong shift": 8,
    "dropped guard": 6,
    "skipped branch": 7,
    "wrong salt": 9,
    "lost hash": 8,
    "swapped select": 5,
    "swapped operands": 6,
    "off by one": 4,
    "wrong constant": 5,
    "wrong word": 6,
    "wrong logic": 8,
}
"""How many of the mistakes planted in the small spec are caught, at least."""

PLANTED = 10
"""How many mistakes of a kind are planted in the small spec, and how many below in a shipped one."""

PLANTED_IN_SHIPPED = {
    "kraft": dict.fromkeys(MUTATIONS, 2),
    "kip_996": dict.fromkeys(("dropped store", "dropped guard", "lost hash", "wrong salt"), 1),
}

CAUGHT_IN_SHIPPED = {"kraft": 10, "kip_996": 3}
"""How many of all kinds are caught, at least. The others change nothing, or stand in code that few states run: checks
of domains, actions that the model rules out."""


@pytest.mark.parametrize("name", ["small", *SHIPPED])
def test_the_kernels_without_a_mistake_do_not_differ(name: str) -> None:
    assert not original(name).is_caught(original(name).module)


@pytest.mark.parametrize("kind", MUTATIONS)
def test_planted_mistakes_are_caught(kind: str) -> None:
    small = original("small")
    planted = mutants(small.module, MUTATIONS[kind], PLANTED)
    assert sum(small.is_caught(mutant.module) for mutant in planted) >= CAUGHT[kind]


@pytest.mark.parametrize("name", SHIPPED)
def test_mistakes_planted_in_the_kernels_of_a_shipped_spec_are_caught(name: str) -> None:
    shipped = original(name)
    kinds = PLANTED_IN_SHIPPED[name].items()
    planted = [mutant for kind, many in kinds for mutant in mutants(shipped.module, MUTATIONS[kind], many)]
    assert sum(shipped.is_caught(mutant.module) for mutant in planted) >= CAUGHT_IN_SHIPPED[name]
