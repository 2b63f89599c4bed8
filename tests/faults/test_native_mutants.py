"""Mistakes planted in compiled kernels are caught, so the tests that compare kernels with the interpreter can fail.

A mutant that means the same as the original is not a mistake: `ir_equivalents` says of which that is so, and why. Every
other one that is planted in the small spec must be caught. In a shipped spec much of what is planted stands in code
that few states run; there, some must be caught.
"""

from __future__ import annotations

import gc
import random
import signal
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from support.drawing.worlds import World, head_of
from support.faults.ir_equivalents import explained, is_check
from support.faults.ir_mutants import MUTATIONS, Mutant, covering, mutants
from support.oracles.steps import Expected, Kernels, differences, level_states, walk_states
from support.specs.shipped import shipped_model
from support.specs.small import model_of

from kmc.compiler.ir.emit_python import emit_python
from kmc.compiler.ir.nodes import Const, Module, Return
from kmc.compiler.model_kernels import build_kernels
from kmc.errors import KmcError
from kmc.frontend.model import Model
from kmc.lang.networks import bag_of_messages
from kmc.result import Limits

SOURCE = (
    head_of(World(low=0, high=3, bag=True), steps=False)
    + """

@spec.action
def around(st):
    if st.role != Role.TOP:
        yield st.set(n=st.n + 1 if st.n < 3 else 0)


@spec.action
def meet(st, i: Server):
    if st.n != 1:
        yield st.set(who=i, some=st.some | {i} if st.who != i else st.some - {i})


@spec.action
def append(st, i: Server):
    mapped = st.mapped.set(i, clipped(st.mapped[i], st.n))
    if st.maybe is not None and len(st.xs) < 2:
        yield st.set(xs=st.xs.append(st.maybe), mapped=mapped)
    elif st.who != i and (st.n <= len(st.xs) or st.role == Role.HIGH):
        yield st.set(maybe=st.n, xs=st.xs.upto(st.n), mapped=mapped)


@spec.action
def keep_some(st, i: Server):
    require(len(st.some) > 0)
    for chosen in subsets(st.some):
        for _ in ways(len(chosen) < 2, i in chosen):
            yield st.set(some=chosen, part={s: first_of(st, i) for s in chosen})


@spec.receive(Ping, i="dest")
def ping(st, m, i):
    largest = count(m.n >= other.n for other in st.net.of(Ping))
    require((largest > 1 or st.role != Role.TOP) and (len(st.net) < 3 or st.role == Role.LOW))
    reply = Pong(source=i, dest=m.source, role=Role.TOP if m.n > 0 else st.role)
    yield st.set(net=st.net.take(m).add(reply), n=max(m.n - 1, largest))


@spec.action
def again(st, i: Server):
    for m in st.net.of(Ping):
        sent = Ping(source=m.source, dest=i, n=st.n)
        if (st.role == Role.TOP and st.n != 1) or 0 < st.net.count(sent) < 2:
            yield st.set(net=st.net.add(sent))


@spec.receive(Pong)
def pong(st, m):
    require(m.role != Role.LOW or st.n != 1)
    ps = st.ps if len(st.ps) == 2 else st.ps.append(Pos(n=st.mapped[m.dest], who=m.source))
    yield st.set(net=st.net.take(m), role=m.role, ps=ps, who=m.source)
    lost = Pong(source=m.source, dest=m.dest, role=Role.TOP)
    if st.net.count(lost) > 0:
        yield st.set(net=st.net.take(lost), n=st.net.count(lost))


@spec.invariant
def Inv(st):
    return all(st.mapped[s] < 3 or s in st.some for s in Server) and st.xs != [3, 3]


@spec.invariant
def Other(st):
    return st.n > 0 or len(st.ps) < 2


@spec.action_property
def Step(st, nxt):
    return nxt.n <= st.n + 1 or st.who == nxt.who
"""
)
"""Every kind of field, sequence, map, set, choice and message; errors in some actions of some states."""


CFG = "CONSTANTS Server = {s1, s2} Value = {v1, v2} INVARIANTS Inv Other PROPERTY Step CHECK_DEADLOCK FALSE"

ENDLESS_CPU_SECONDS = 1.0
"""Kernels without a mistake need some milliseconds for a state."""


@dataclass(frozen=True, slots=True)
class Original:
    """Kernels without a mistake, and states that between them run all that is compared."""

    model: Model
    module: Module
    states: list[Any]
    expected: Expected

    def is_caught(self, module: Module) -> bool:
        """Whether kernels with a mistake differ from the interpreter, or are refused, or break, or never end."""
        before = signal.signal(signal.SIGVTALRM, _give_up)
        was_collecting = gc.isenabled()
        gc.disable()  # Hypothesis has a callback of the collector, and pytest reports an alarm that is lost in it
        try:
            try:
                call = emit_python(module).call
                return next(differences(Kernels(self.model, call), timed(self.states), self.expected), None) is not None
            except (KmcError, IndexError, AssertionError, ValueError, TypeError, OverflowError, TimeoutError):
                return True
        except TimeoutError:  # again, while the many values that an endless loop had made were freed
            return True
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            signal.signal(signal.SIGVTALRM, before)
            if was_collecting:
                gc.enable()

    def never_fails(self, mutant: Mutant) -> bool:
        """Whether a mistake is in a check that holds in all states: one for what the spec guards itself."""
        if not is_check(mutant.statement):
            return False
        asks_again = replace(mutant.statement, otherwise=(Return(Const(-1)),))
        return not self.is_caught(exchanged(self.module, mutant.statement, asks_again))


def timed(states: list[Any]) -> Iterator[Any]:
    """Yield states, each of which must be compared before the CPU time for one has passed."""
    for state in states:
        # Again each second: what is lost in a finalizer comes again.
        signal.setitimer(signal.ITIMER_VIRTUAL, ENDLESS_CPU_SECONDS, 1.0)
        yield state


def exchanged(tree: Any, old: Any, new: Any) -> Any:
    """A tree with another statement instead of one, wherever that stands."""
    if isinstance(tree, tuple):
        return tuple(exchanged(item, old, new) for item in tree)
    if tree == old or not is_dataclass(tree) or isinstance(tree, type):
        return new if tree == old else tree
    return replace(tree, **{field.name: exchanged(getattr(tree, field.name), old, new) for field in fields(tree)})


def _give_up(number: int, frame: object) -> None:
    raise TimeoutError


def compared(model: Model, candidates: list[Any], more: int) -> Original:
    """The model's kernels with the states of `candidates` that cover them, and `more` others."""
    module, expected = build_kernels(model).module, Expected(model)
    emitted = emit_python(module)
    kernels = Kernels(model, emitted.call)
    chosen = covering(emitted, lambda state: list(differences(kernels, [state], expected)), candidates)
    return Original(model, module, list(dict.fromkeys([*chosen, *candidates]))[: len(chosen) + more], expected)


def crossed(states: list[Any], count: int) -> list[Any]:
    """States with each field from one of these, and some of all their messages; no step leads to most of them.

    In some of them the first actions are not enabled, so that the others begin with nothing, and in some `who` is
    None, as in the first state alone.
    """
    chance, cls = random.Random(1), type(states[0])
    known = {message for state in states for message in state.net}
    messages = sorted({m.set(n=n) if "n" in type(m).fields else m for m in known for n in range(4)}, key=repr)
    quiet = {"role": cls.fields["role"].cls.members[-1], "n": 1, "some": frozenset(), "maybe": None, "xs": states[0].xs}

    def drawn(number: int) -> Any:
        fields = {name: getattr(chance.choice(states), name) for name in cls.fields}
        sent = [(message, chance.randrange(3)) for message in chance.sample(messages, chance.choice((0, 2, 3, 3)))]
        unset = {"who": None} if number % 4 == 1 else {}
        return states[0].set(**fields | {"net": bag_of_messages(sent)} | (quiet if number % 6 == 0 else unset))

    return [drawn(number) for number in range(count)]


@cache
def original(name: str) -> Original:
    """The small spec above, or a shipped one with constants for which all its actions can happen."""
    if name == "small":
        with TemporaryDirectory() as folder:
            model = model_of(Path(folder), SOURCE, CFG)
            states = level_states(model, Limits(states=2000), at_most=600)
            return compared(model, [*states[:150], *crossed(states, 600)], 600)
    model = shipped_model(name, *SHIPPED[name])
    return compared(model, walk_states(model, walks=12, depth=60, seed=1)[:250], 100)


SHIPPED = {
    "kraft": ("smoke", "MaxElections=2", "MaxRestarts=1", "Value={v1, v2}"),
    "kip_996": ("reconfiguration",),
}

PLANTED = 10
"""How many mistakes of a kind are planted in the small spec, and how many below in a shipped one."""

PLANTED_IN_SHIPPED = {
    "kraft": dict.fromkeys(MUTATIONS, 2),
    "kip_996": dict.fromkeys(("dropped store", "dropped guard", "lost hash", "wrong salt"), 1),
}

CAUGHT_IN_SHIPPED = {"kraft": 10, "kip_996": 3}
"""How many of all kinds are caught, at least. The others change nothing, or stand in code that few states run: checks
of domains, actions that the model rules out."""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["small", *SHIPPED])
def test_the_kernels_without_a_mistake_do_not_differ(name: str) -> None:
    assert not original(name).is_caught(original(name).module)


@pytest.mark.slow
@pytest.mark.parametrize("kind", MUTATIONS)
def test_planted_mistakes_are_caught(kind: str) -> None:
    small = original("small")
    planted = list(mutants(small.module, kind, PLANTED))
    let_by = [mutant for mutant in planted if not small.is_caught(mutant.module)]
    # Reasons must not explain away what the test is for.
    assert 2 * len(let_by) < len(planted)
    assert [str(mutant) for mutant in let_by if not explained(mutant) and not small.never_fails(mutant)] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", SHIPPED)
def test_mistakes_planted_in_the_kernels_of_a_shipped_spec_are_caught(name: str) -> None:
    shipped = original(name)
    kinds = PLANTED_IN_SHIPPED[name].items()
    planted = [mutant for kind, many in kinds for mutant in mutants(shipped.module, kind, many)]
    assert sum(shipped.is_caught(mutant.module) for mutant in planted) >= CAUGHT_IN_SHIPPED[name]
