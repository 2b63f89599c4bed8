"""Choices inside of each other, more of them than Python has blocks if each were guarded."""

from __future__ import annotations

from pathlib import Path

from support.oracles.results import told
from support.specs.small import model_of

from kmc.engine.check_model import check_native
from kmc.reference.search import Search
from kmc.result import Limits

DEPTH = 16
STATE = """
class State(Record):
    total: Int(0, 99)


@spec.init
def init():
"""
STEP = """

def halved(n):
    require(n % 2 == 0)
    return {n // 2, n}


@spec.action
def halve(st):
    for a in {0, 1}:
        for b in halved(st.total + a):
            for c in {0, 1}:
                for d in range(st.total, st.total + 2):
                    require(c != b)
                    yield st.set(total=min(b + c * d, 7))


@spec.action
def step(st):
"""


def nested(last: str) -> str:
    """Return choices inside of each other; two of them have a choice."""
    loops = [f"{'    ' * (depth + 1)}for n{depth} in {{{1 + depth % 8 // 7}, 1}}:" for depth in range(DEPTH)]
    total = " + ".join(f"n{depth}" for depth in range(DEPTH))
    return "\n".join([*loops, "    " * (DEPTH + 1) + last.replace("TOTAL", total)]) + "\n"


def test_engines_agree_on_choices_inside_of_each_other(tmp_path: Path) -> None:
    source = STATE + nested("yield State(total=TOTAL)") + STEP + nested("yield st.set(total=(st.total + TOTAL) % 5)")
    model = model_of(tmp_path, source, "CHECK_DEADLOCK FALSE")
    result = Search(model).run()
    assert (result.initial, result.counters.distinct) == (4, 11)
    assert told(check_native(model, Limits())) == told(result)
