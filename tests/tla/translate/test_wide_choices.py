r"""Choices among functions of records, numbers that may be model values, and `\A` over messages in several ways."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.modules.agreement import pair_of

from kmc.engine.check_model import check_native
from kmc.frontend.model import Model
from kmc.reference.search import Search
from kmc.result import Limits
from kmc.tla.translate import ways

DEPOT = r"""---- MODULE Depot ----
EXTENDS Integers, FiniteSets
CONSTANTS Cart, Bay
VARIABLES cart, jobs
Spots == 1..2
Job == [at : Spots \union Bay, kind : {"in", "out"}]
Far[a, b \in Spots] == IF a > b THEN a - b ELSE b - a
Near[c \in Cart, j \in Job] == cart[c].at = j.at
Init == /\ cart \in [Cart -> [at : Spots, goal : Spots, kind : {"in"}, busy : {FALSE}, seen : {{}}]]
        /\ jobs = {}
Drive(c) == LET now == cart[c] IN
  /\ now.at \in Spots
  /\ \E s \in Spots : Far[now.at, s] = 1 /\ cart' = [cart EXCEPT ![c].at = s, ![c].seen = @ \union {s}]
  /\ UNCHANGED jobs
Enter(c) == \E b \in Bay : cart[c].busy /\ cart' = [cart EXCEPT ![c].at = b] /\ UNCHANGED jobs
Ask(c) == /\ Cardinality(jobs) < 2
          /\ jobs' = jobs \union {[at |-> cart[c].at, kind |-> IF cart[c].busy THEN "out" ELSE "in"]}
          /\ cart' = [cart EXCEPT ![c].busy = ~@]
Serve(c) == /\ \A j \in jobs : Near[c, j] => \E d \in Cart : cart[d].busy \/ cart[d].at # cart[c].goal
            /\ cart' = [cart EXCEPT ![c].goal = 3 - @]
            /\ UNCHANGED jobs
Next == \E c \in Cart : Drive(c) \/ Enter(c) \/ Ask(c) \/ Serve(c)
Placed == \A c \in Cart : cart[c].at \in Spots => cart[c].at < 3
====
"""
CONFIGURATION = "CONSTANTS Cart = {c1, c2} Bay = {b1}\nINIT Init\nNEXT Next\nINVARIANT Placed\nCHECK_DEADLOCK FALSE\n"
STATES = 200


def test_a_depot_has_the_steps_of_its_module(tmp_path: Path) -> None:
    depot = pair_of(tmp_path, DEPOT, CONFIGURATION)
    assert depot.differences(STATES) == []
    assert initial_loops(depot.translated.folder.files["spec.py"]) == 4, "none for sets of one element"


def test_compiled_steps_are_counted_by_action_as_interpreted_ones(tmp_path: Path) -> None:
    model = pair_of(tmp_path, DEPOT, CONFIGURATION).bound
    assert figures(model, native=True) == figures(model, native=False)


def test_a_number_of_ways_that_is_wrong_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def one_way(self: ways.WayCounter, *given: object) -> str:
        return "1"

    monkeypatch.setattr(ways.WayCounter, "_quantified", one_way)
    assert pair_of(tmp_path, DEPOT, CONFIGURATION).differences(STATES) != []


def initial_loops(spec: str) -> int:
    """Return the number of loops in the initial states of a translation."""
    return spec.partition("def init")[2].partition("def ")[0].count("for ")


def figures(model: Model, *, native: bool) -> tuple[object, ...]:
    """Return the counts of a search."""
    result = check_native(model, Limits()) if native else Search(model).run()
    counters = result.counters
    return result.verdict, counters.generated, counters.distinct, counters.depth, result.generated_by_action


BOXES = r"""---- MODULE Boxes ----
EXTENDS Integers, FiniteSets
VARIABLES sent, told
Init == sent = {} /\ told = {}
Send == /\ sent = {}
        /\ \E n, k \in 0..8 : sent' = {[type |-> "ask", n |-> n, k |-> k]}
        /\ UNCHANGED told
Tell == /\ \E m \in sent : told' = {[type |-> "told", n |-> m.n, by |-> m.k]}
        /\ told # told' /\ UNCHANGED sent
Next == Send \/ Tell
Low == \A m \in sent \union told : m.n < 7
Old == \E m \in told \union sent : m.type = "told" => m.by > 2
====
"""


def test_a_quantifier_over_two_networks_is_one_over_each(tmp_path: Path) -> None:
    boxes = pair_of(tmp_path, BOXES, "INIT Init\nNEXT Next\nINVARIANTS Low Old\nCHECK_DEADLOCK FALSE\n")
    assert boxes.differences(STATES) == []
    spec = boxes.translated.folder.files["spec.py"]
    assert "MessageSet[" in spec
    assert "send_all(" not in spec
