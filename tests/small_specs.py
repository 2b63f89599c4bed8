"""Specs of a few lines, for tests that need one of a certain shape: written to a folder, loaded, bound to a model."""

from __future__ import annotations

from pathlib import Path

from kmc.lang.cfg import parse_cfg
from kmc.spec.model import Model, bind

_IMPORTS = """
from kmc.lang import (
    Bool, Enum, IdentSet, Int, Map, Message, MessageBag, MessageSet, Opt, Record, Seq, Set, constant, require, ways,
)
from kmc.spec import spec
"""


def model_of(folder: Path, source: str, cfg: str = "") -> Model:
    """The model that the text `cfg` describes of the spec with this source; the folder gets one file, `spec.py`."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "spec.py"
    path.write_text(_IMPORTS + source, encoding="utf-8")
    return bind(path, parse_cfg(cfg, str(folder / "model.cfg")))


COUNTER = """
Limit = constant("Limit", Int(0, 99), "Where the counter stops", 3)


class State(Record):
    n: Int(0, 100)


@spec.init
def init():
    yield State(n=0)


@spec.action
def increase(st):
    if st.n < Limit:
        yield st.set(n=st.n + 1)


@spec.invariant
def BelowTwo(st):
    return st.n < 2


@spec.invariant
def NotNegative(st):
    return st.n >= 0


@spec.transition_invariant
def NeverToThree(st, nxt):
    return nxt.n != 3


@spec.constraint
def AtMostTwo(st):
    return st.n <= 2
"""
"""n goes from 0 to Limit by ones; deadlock there."""

PHILOSOPHERS = """
Seats = constant("Seats", Int(1, 6), "How many sit at the table", 3)
Seat = Int(1, Seats)


class State(Record):
    left: Map[Seat, Bool]
    right: Map[Seat, Bool]


def taken(st, fork):
    return st.left[fork] or st.right[fork - 1 if fork > 1 else Seats]


@spec.init
def init():
    yield State(left={s: False for s in range(1, Seats + 1)}, right={s: False for s in range(1, Seats + 1)})


@spec.action
def take_left(st, s: Seat):
    if not st.left[s] and not taken(st, s):
        yield st.set(left=st.left.set(s, True))


@spec.action
def take_right(st, s: Seat):
    if st.left[s] and not st.right[s] and not taken(st, s + 1 if s < Seats else 1):
        yield st.set(right=st.right.set(s, True))


@spec.action
def put_down(st, s: Seat):
    if st.left[s] and st.right[s]:
        yield st.set(left=st.left.set(s, False), right=st.right.set(s, False))
"""
"""Each takes the left fork, then the right one (fork s + 1, shared with the neighbour's left); deadlock when all hold
their left forks."""
