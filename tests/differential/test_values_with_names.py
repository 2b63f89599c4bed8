"""Functions without parameters inside of others: their values are computed once, and only a call can fail."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from support.oracles.steps import differences, kernels_of, level_states
from support.specs.small import model_of

from kmc.result import Limits

WORLD = """
class Mail(Message, source=None, dest=None):
    n: Int(0, 3)


class Entry(Record):
    n: Int(0, 3)
    up: Bool


class State(Record):
    n: Int(-3, 6)
    up: Bool
    log: Seq[Int(0, 3), 3]
    last: Opt[Entry]
    seen: Set[Int(0, 3)]
    of: PartialMap[Int(0, 3), Int(0, 3)]
    mail: MessageSet[Mail, 4]


@spec.init
def init():
    yield State(n=0, up=True, log=[], last=None, seen=set(), of={}, mail=set())


@spec.action
def grow(st):
    require(len(st.log) < 3)
    for k in range(0, 4):
        entry = Entry(n=k, up=st.up)
        yield st.set(log=st.log.append(k), n=k - 3, last=entry if k > 1 else None, seen=st.seen | {k}, up=not st.up)


@spec.action
def tell(st, k: Int(0, 3)):
    def sent():
        return st.mail.send(Mail(n=k))

    def of():
        return st.of.set(k, st.log.at(1))

    if k in st.seen and k not in st.of:
        yield st.set(mail=sent(), of=st.of.add(k, 1), n=len(sent()))
    elif k in st.of and len(st.log) > 1:
        yield st.set(of=of(), up=len(of()) > 1)
"""
VALUES = (
    "st.log.at(st.n)",
    "st.of[st.n]",
    "st.last.n",
    "st.n + len(st.log)",
    "max(k for k in st.seen)",
    "sum(k for k in st.log)",
    "1 if st.last is None else st.last.n",
)
GUARDS = ("st.up", "st.n in st.of", "st.n in st.log.offsets()", "st.last is not None", "len(st.seen) > 1", "st.n > 0")


def formula(chance: random.Random, number: int) -> str:
    """A goal in which functions without parameters are called in some states only, and in others several times."""
    first, second, inner = (chance.choice(VALUES) for _ in range(3))
    some, other = chance.choice(GUARDS), chance.choice(GUARDS)
    return f"""

@spec.reachable
def goal_{number}(st):
    def first():
        return {first}

    def both():
        return {{first(), {second}}} if {some} else {{0}}

    def of(k):
        def inner():
            return {inner} + k

        return inner() > 1 and inner() + len(both()) > k

    def whole():
        return {{k: first() for k in st.seen if {other}}}

    if {other} and first() + first() > 1:
        return any(of(k) and k in both() for k in st.seen)
    return not ({some}) or len(both()) + len(whole()) > 1 or first() == 2
"""


@pytest.mark.parametrize("seed", range(3))
def test_calls_give_what_the_interpreter_gives_and_fail_where_it_fails(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    model = model_of(tmp_path, WORLD + "".join(formula(chance, number) for number in range(12)))
    states = level_states(model, Limits(), at_most=150, seed=seed)
    assert list(differences(kernels_of(model), states))[:2] == []


def test_a_value_that_is_called_often_is_computed_once(tmp_path: Path) -> None:
    """Twenty functions, each of which calls the one before it twice, are a million evaluations of the first one."""
    nested = "\n".join(
        f"    def value_{n}():\n        return (value_{n - 1}() + value_{n - 1}()) % 7\n" for n in range(1, 21)
    )
    source = f"""

@spec.reachable
def goal(st):
    def value_0():
        return len(st.log)

{nested}
    return value_20() > 3
"""
    model = model_of(tmp_path, WORLD + source)
    states = level_states(model, Limits(), at_most=60, seed=1)
    assert list(differences(kernels_of(model), states))[:2] == []


def test_a_require_in_a_function_ends_the_step_that_calls_it_and_no_other(tmp_path: Path) -> None:
    """It ends a round of a choice, or an action, where it is called; a function may call another one that has it."""
    source = """

def few(st, k):
    require(len(st.log) < k)
    return len(st.log)


@spec.action
def guard(st):
    def length():
        require(len(st.log) < 2)
        return len(st.log)

    def later():
        return length() + 1

    def through():
        return length() - few(st, 2)

    yield st.set(n=later() if st.up else 3, up=not st.up)
    for k in {1, 2, 3}:
        def high():
            require(k < 3)
            return k

        def counted():
            return {few(st, j) for j in {k, k + 1}}

        yield st.set(n=-k)
        if k in counted():
            yield st.set(n=high() + through())
        yield st.set(n=high())
    if st.n > 1:
        yield st.set(n=through())
    yield st.set(seen=set())
"""
    model = model_of(tmp_path, WORLD + source)
    states = level_states(model, Limits(), at_most=150, seed=1)
    assert list(differences(kernels_of(model), states))[:2] == []
