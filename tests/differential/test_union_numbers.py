"""Numbers of unions: order and arithmetic of a value that may be something else, and products of any size."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.oracles.results import told
from support.specs.small import model_of

from kmc.engine.check_model import check_native
from kmc.errors import InternalError
from kmc.reference.search import Search
from kmc.result import Limits, Verdict

PLACES = """
Car = constant("Car", IdentSet(), "Who")


class State(Record):
    place: Map[Car, Car | Int(0, 3)]
    top: Int(0, 9)


@spec.init
def init():
    yield State(place={c: 0 for c in Car}, top=0)


@spec.action
def climb(st, c: Car):
    if st.place[c] in {0, 1, 2} and st.place[c] < 3:
        yield st.set(place=st.place.set(c, st.place[c] + 1), top=max(st.top, -st.place[c] + 3))


@spec.action
def board(st, c: Car, d: Car):
    if CONDITION:
        yield st.set(place=st.place.set(c, d))


@spec.invariant
def Inv(st):
    return all(st.place[c] not in {0, 1, 2, 3} or 3 >= st.place[c] for c in Car)
"""


@pytest.mark.parametrize("condition", ["True", "st.place[c] in {2, 3} and c != d"])
def test_engines_agree_where_a_union_is_a_number_wherever_it_is_ordered(condition: str, tmp_path: Path) -> None:
    cfg = "CONSTANT Car = {c1, c2} INVARIANT Inv CHECK_DEADLOCK FALSE"
    model = model_of(tmp_path, PLACES.replace("CONDITION", condition), cfg)
    result = Search(model).run()
    assert (result.verdict, result.counters.distinct > 20) == (Verdict.OK, True)
    assert told(check_native(model, Limits())) == told(result)


@pytest.mark.parametrize("condition", ["st.place[c] < 2", "st.place[c] + 1 == 2", "-st.place[c] == 0"])
def test_engines_stop_where_a_union_that_is_ordered_is_not_a_number(condition: str, tmp_path: Path) -> None:
    cfg = "CONSTANT Car = {c1, c2} INVARIANT Inv CHECK_DEADLOCK FALSE"
    model = model_of(tmp_path, PLACES.replace("CONDITION", condition), cfg)
    result = Search(model).run()
    assert result.verdict is Verdict.ERROR
    assert told(check_native(model, Limits())) == told(result)


WAYS = """
class Vote(Message, source=None, dest=None):
    by: Int(0, 9)


class State(Record):
    votes: MessageSet[Vote]
    n: Int(0, 3)


@spec.init
def init():
    yield State(votes=set(), n=0)


@spec.action
def vote(st):
    for i in range(4):
        yield st.set(votes=st.votes.send(Vote(by=i)))


@spec.action
def count_up(st):
    for _ in range(product(count([v.by > 1, v.by < 3, st.n < 3]) for v in st.votes)):
        yield st.set(n=min(st.n + 1, 3))
"""


def test_engines_agree_on_a_product_over_a_set_of_any_size(tmp_path: Path) -> None:
    model = model_of(tmp_path, "from kmc.lang import product\n" + WAYS)
    result = Search(model).run()
    assert result.verdict is Verdict.OK
    assert told(check_native(model, Limits())) == told(result)


def test_a_product_beyond_the_numbers_of_compiled_code_ends_the_search(tmp_path: Path) -> None:
    """(2 ** 16) ** 4 would wrap to 0, and the steps of that state would be missing."""
    guard = "product(count([v.by > 1, v.by < 3, st.n < 3]) for v in st.votes)"
    assert guard in WAYS
    source = WAYS.replace(
        f"range({guard})", f"range(min({guard.replace('count([v.by > 1, v.by < 3, st.n < 3])', '65536')}, 2))"
    )
    model = model_of(tmp_path, "from kmc.lang import product\n" + source, "CHECK_DEADLOCK FALSE")
    assert Search(model).run().verdict is Verdict.OK
    with pytest.raises(InternalError, match="KMC921"):
        check_native(model, Limits())
