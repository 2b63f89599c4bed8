"""Small specs that kmc once got wrong: every attack of drawn specs begins with them, and the tests look too."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from attack.drawn_spec import Action, Body, Claim, DrawnSpec, Temporal
from attack.expressions import Expr

N: Expr = ("field", ("var", "st"), "n")
LAST = 6

UP = Action("up", (), (("require", ("lt", N, LAST)), ("yield", (("n", ("plus", N, 1)),))))
START: Body = (("start", (("n", ("lit", 0, "0")),)),)

COUNTER = DrawnSpec(
    idents=(("Server", ("s1", "s2"), False),),
    enums=(),
    records=(),
    fields=(("n", ("int", 0, LAST)),),
    init=START,
    actions=(UP,),
    deadlock=False,
)
"""A counter from 0 to 6, without fairness: it may stay where it is for ever."""


def counting(**parts: Any) -> DrawnSpec:
    """Return the counter with some properties."""
    return replace(COUNTER, **parts)


TOKEN = DrawnSpec(
    idents=(("Server", ("s1", "s2"), True),),
    enums=(),
    records=(),
    fields=(("token", ("id", "Server")), ("epoch", ("int", 0, 2))),
    init=(("for", "s", ("members", "Server"), (("start", (("token", ("var", "s")), ("epoch", ("lit", 0, "0")))),)),),
    actions=(Action("hand_on", (("i", ("id", "Server")),), (("yield", (("token", ("var", "i")),)),)),),
    steps=(Claim("Step0", ("lt", ("field", ("var", "st"), "epoch"), ("field", ("var", "nxt"), "epoch"))),),
    symmetry=True,
    deadlock=False,
)
"""A token moves between two servers, and the epoch does not rise."""

STAYS_AT_4 = Temporal("Live0", ("always_eventually", ("ne", N, 4)))
NEVER_AT_END = Temporal("Live0", ("eventually", ("eq", N, LAST)))
NOT_ONE = Claim("Inv0", ("ne", N, 1))
FALLS = Claim("Step0", ("lt", ("field", ("var", "nxt"), "n"), 1))

TWO_STARTS: Body = (*START, ("start", (("n", ("lit", 3, "3")),)))
ASSERTING = replace(UP, body=(("assert", ("ne", N, 1)), *UP.body))
ENDING = replace(UP, body=(("require", ("ne", N, 1)), *UP.body))

KNOWN = {
    "refuted early, in shards that dropped its rows": counting(temporal=(STAYS_AT_4,)),
    "an action property that stuttering steps break, with symmetry": TOKEN,
    "an invariant fails in the level that refutes a temporal property": counting(
        temporal=(NEVER_AT_END,), invariants=(NOT_ONE,)
    ),
    "an action property fails in the level that refutes a temporal property": counting(
        temporal=(NEVER_AT_END,), steps=(FALLS,)
    ),
    "an assertion fails in the level that refutes a temporal property": counting(
        init=TWO_STARTS, actions=(ASSERTING,), temporal=(STAYS_AT_4,)
    ),
    "a deadlock lies in the level that refutes a temporal property": counting(
        init=TWO_STARTS, actions=(ENDING,), temporal=(STAYS_AT_4,), deadlock=True
    ),
}
"""Each with what was wrong at 4c73501: the defects 1 to 3 of issue 24, the third with all kinds of failures."""
