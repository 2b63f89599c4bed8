"""Small models of every kind, tiny buffers, and what a result says that both engines must agree on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from support.specs.small import BALLOT, COUNTER, PHILOSOPHERS, RIVER, TOKENS

from kmc.engine.layout.search_outcome import Settings
from kmc.result import Limits, Result

TINY = Settings(chunk_rows=2, batch=2, table_slots=2)


"""So that small models too are cut among threads, and tables grow."""


def told(result: Result) -> dict[str, Any]:
    """What both engines must say alike: all but times, memory and the bound on collisions."""
    counters, violation = result.counters, result.violation
    return {
        "verdict": result.verdict,
        "counters": (counters.generated, counters.distinct, counters.left, counters.depth),
        "initial": result.initial,
        "cut": result.cut,
        "levels": result.levels,
        "generated_by_action": result.generated_by_action,
        "properties": result.properties,
        "bound": result.bound,
        "unreached_goals": result.unreached,
        "never_fired": result.never_fired,
        "violation": violation and (violation.verdict, violation.name, violation.is_step, repr(violation.error)),
        "trace": violation and [(step.state, step.label, step.arguments) for step in violation.trace.steps],
    }


@dataclass(frozen=True, slots=True)
class Case:
    """A small spec, its model, and how it is searched."""

    source: str
    cfg: str
    limits: Limits | None = None
    keep_going: bool = False


THREE = "CONSTANT Server = {n1, n2, n3}"
TWO = "CONSTANT Server = {n1, n2}"
HELD = "CONSTANTS Client = {c1, c2, c3} Token = {t1, t2} CHECK_DEADLOCK FALSE"
FAILING_ACTION = """
class State(Record):
    n: Int(0, 3)
    k: Int(0, 2)

@spec.init
def init():
    yield State(n=0, k=0)

@spec.action
def up(st):
    yield st.set(n=st.n + 1)

@spec.action
def aside(st):
    yield st.set(k=(st.k + 1) % 3)

@spec.action
def twice(st, i: Int(1, 2)):
    if st.n == 2:
        yield st.set(n=st.n + i)
"""


"""`up` and one instance of `twice` leave the domain, others of the same states do not."""


FAILING_INVARIANT = """
class State(Record):
    xs: Seq[Int(0, 2), 3]

@spec.init
def init():
    yield State(xs=[])

@spec.action
def grow(st):
    for n in range(0, 3):
        if len(st.xs) < 3:
            yield st.set(xs=st.xs.append(n))

@spec.invariant
def Fine(st):
    return len(st.xs) < 3 or st.xs.at(3) < 2

@spec.invariant
def ThirdIsSmall(st):
    return len(st.xs) < 2 or st.xs.at(3) < 2

@spec.reachable
def full(st):
    return len(st.xs) == 3

@spec.constraint
def Shorter(st):
    return len(st.xs) < 2

@spec.constraint
def Short(st):
    return len(st.xs) < 3
"""


"""`ThirdIsSmall` has no value in states of two elements."""


OUTSIDE = """
class State(Record):
    n: Int(0, 9)

@spec.init
def init():
    for n in range(0, 3):
        yield State(n=3 * n)

@spec.action
def up(st):
    if st.n < 9:
        yield st.set(n=st.n + 1)

@spec.invariant
def NotSix(st):
    return st.n != 6

@spec.constraint
def Small(st):
    return st.n < 5

@spec.constraint
def Nowhere(st):
    return st.n > 9
"""


"""The initial state of 6 lies outside of the constraint, and fails."""


NAMED = """
Server = constant("Server", IdentSet(symmetric=True), "x")

class State(Record):
    chosen: Opt[Server]

@spec.init
def init():
    yield State(chosen=Server.at(2))

@spec.action
def go(st, i: Server):
    assert st.chosen != i
    yield st.set(chosen=None)

spec.symmetry("servers", Server)
"""


"""The error names a server, and the state that stands for all names another."""


STILL = """
class State(Record):
    n: Int(0, 2)

@spec.init
def init():
    yield State(n=0)

@spec.action
def wait(st):
    yield st.set(n=(st.n * 2) % 3)

@spec.action
def move(st):
    yield st.set(n=(st.n + 1) % 3)

@spec.action_property
def Moves(st, nxt):
    return nxt.n != st.n
"""


"""At 0, `wait` is a stuttering step."""


FAILING_EVERYWHERE = """
class State(Record):
    n: Int(0, 9)
    low: Opt[Int(0, 9)]

@spec.init
def init():
    yield State(n=0, low=0)
    yield State(n=1, low=None)

@spec.action
def up(st, by: Int(1, 3)):
    if st.n + by <= 9:
        yield st.set(n=st.n + by, low=None if st.n + by == 5 else st.n)

@spec.constraint
def Near(st):
    return st.n - st.low < 3

@spec.constraint
def Small(st):
    return st.n < 4

@spec.action_constraint
def Steady(st, nxt):
    return nxt.n - nxt.low < 3

@spec.action_property
def Follows(st, nxt):
    return nxt.low == st.n and nxt.low + 1 > 0

@spec.action_property
def Nothing(st, nxt):
    return nxt.n != 3

@spec.invariant
def NotTwo(st):
    return st.n != 2

@spec.invariant
def NotFive(st):
    return st.n < 4 or st.low + 1 < 9

@spec.reachable
def five(st):
    return st.low + 1 == 5
"""


"""Where `low` is None, a constraint, an action property, an invariant and a reachable property have no value."""


REFUSED_AND_STORED = """
class State(Record):
    n: Int(0, 5)
    way: Int(0, 2)
    steps: Int(0, 9)

@spec.init
def init():
    yield State(n=0, way=1, steps=0)
    yield State(n=0, way=2, steps=0)

@spec.action
def up(st, by: Int(1, 3)):
    if st.n + by <= 5:
        yield st.set(n=st.n + by, way=st.way if st.n + by < 3 else 0, steps=st.steps + 1)

@spec.action_constraint
def Slow(st, nxt):
    return nxt.n - st.n <= st.way

@spec.invariant
def NotThree(st):
    return st.n != 3

@spec.invariant
def Small(st):
    return st.n < 4

spec.view("without_steps", drop=["steps"])
"""


"""Of the steps to 3 and 4 some are refused: of 3, at the same level and before it is stored."""


TWO_WAYS = COUNTER.replace(
    "        yield st.set", "        for _ in ways(st.n >= 0, st.n < Limit):\n            yield st.set"
)


"""Every step is taken in two ways, and counts twice."""


BEGINS_TWICE = """
class State(Record):
    n: Int(0, 3)
    seen: Int(0, 9)

@spec.init
def init():
    for seen in (7, 2, 9, 4):
        yield State(n=3, seen=seen)

@spec.action
def up(st):
    if st.n < 3:
        yield st.set(n=st.n + 1)

@spec.invariant
def BelowThree(st):
    return st.n < 3

@spec.invariant
def SeenFour(st):
    return st.seen == 4

@spec.constraint
def Small(st):
    return st.n < 3

spec.view("unseen", drop=["seen"])
"""


"""Four initial states of one view fail, and the order in which the engines keep one of them is not that of values."""


CASES = {
    "initial states of one view fail": Case(BEGINS_TWICE, "INVARIANT BelowThree VIEW unseen"),
    "some initial states of one view fail": Case(BEGINS_TWICE, "INVARIANT SeenFour VIEW unseen"),
    "initial states that count as one fail outside": Case(
        BEGINS_TWICE, "INVARIANT BelowThree VIEW unseen CONSTRAINT Small"
    ),
    "a constraint fails at the start": Case(FAILING_EVERYWHERE, "CONSTRAINTS Near Small"),
    "constraints are asked in order": Case(FAILING_EVERYWHERE, "CONSTRAINTS Small Near", keep_going=True),
    "an action constraint fails": Case(FAILING_EVERYWHERE, "ACTION_CONSTRAINT Steady", keep_going=True),
    "an action property fails": Case(FAILING_EVERYWHERE, "PROPERTY Nothing Follows", keep_going=True),
    "a reachable property fails": Case(FAILING_EVERYWHERE, "INVARIANTS NotTwo NotFive", keep_going=True),
    "two invariants fail": Case(FAILING_EVERYWHERE, "INVARIANTS NotFive NotTwo CONSTRAINT Small"),
    "an initial state outside of a constraint fails": Case(OUTSIDE, "INVARIANT NotSix CONSTRAINT Small"),
    "deadlock": Case(COUNTER, ""),
    "deadlock of many": Case(PHILOSOPHERS, ""),
    "no deadlock asked": Case(COUNTER, "CHECK_DEADLOCK FALSE"),
    "invariant": Case(COUNTER, "INVARIANTS BelowTwo NotNegative"),
    "action property": Case(COUNTER, "PROPERTY NeverToThree"),
    "stuttering steps break no action property": Case(STILL, "PROPERTY Moves"),
    "constraint": Case(COUNTER, "CONSTRAINT AtMostTwo"),
    "a state outside of a constraint is generated in two ways": Case(TWO_WAYS, "CONSTRAINT AtMostTwo"),
    "constraint and a failure outside": Case(COUNTER, "CONSTRAINT AtMostTwo PROPERTY NeverToThree"),
    "reachable properties and a shortest trace": Case(RIVER, "INVARIANT NotAcross CHECK_DEADLOCK FALSE"),
    "an invariant fails outside of a constraint": Case(
        FAILING_INVARIANT, "INVARIANT ThirdIsSmall CONSTRAINT Shorter CHECK_DEADLOCK FALSE"
    ),
    "reachable properties reached": Case(RIVER, "CHECK_DEADLOCK FALSE"),
    "depth": Case(RIVER, "CHECK_DEADLOCK FALSE", Limits(depth=4)),
    "states": Case(RIVER, "CHECK_DEADLOCK FALSE", Limits(states=5)),
    "no initial state within the constraints": Case(OUTSIDE, "INVARIANT NotSix CONSTRAINT Nowhere"),
    "two types without symmetry": Case(TOKENS, HELD),
    "symmetric clients": Case(TOKENS, f"{HELD} SYMMETRY clients"),
    "symmetric tokens": Case(TOKENS, f"{HELD} SYMMETRY tokens"),
    "both symmetric": Case(TOKENS, f"{HELD} SYMMETRY both INVARIANT SomeTokenIsFree"),
    "both symmetric, going on": Case(TOKENS, f"{HELD} SYMMETRY both INVARIANT SomeTokenIsFree", keep_going=True),
    "symmetry and constraint": Case(TOKENS, f"{HELD} SYMMETRY both CONSTRAINT KeepsOneFree"),
    "many states violate": Case(BALLOT, f"{THREE} INVARIANTS Below NoThreeFromOne"),
    "many steps violate": Case(BALLOT, f"{THREE} PROPERTY SmallSteps"),
    "many steps violate, going on": Case(BALLOT, f"{TWO} PROPERTY SmallSteps", keep_going=True),
    "violations outside a constraint": Case(BALLOT, f"{THREE} CONSTRAINT Small INVARIANT Below"),
    "violations beyond the bound": Case(BALLOT, f"{THREE} INVARIANT NoThreeFromOne", Limits(depth=3)),
    "two asserts fail in one state": Case(BALLOT, f"{THREE} TrustOne = 2 TrustTwo = 2"),
    "asserts fail, going on": Case(BALLOT, f"{TWO} TrustOne = 2 TrustTwo = 2", keep_going=True),
    "asserts fail under symmetry": Case(BALLOT, f"{THREE} TrustOne = 2 TrustTwo = 2 SYMMETRY servers"),
    "an assert fails in the first state under symmetry": Case(NAMED, f"{THREE} SYMMETRY servers"),
    "violations under symmetry": Case(BALLOT, f"{THREE} SYMMETRY servers INVARIANTS Below NoThreeFromOne"),
    "unstored violations": Case(BALLOT, f"{THREE} SYMMETRY servers CONSTRAINT Small INVARIANT Below", keep_going=True),
    "violations under a view": Case(BALLOT, f"{TWO} VIEW forgetful INVARIANTS Below NoThreeFromOne", keep_going=True),
    "a view that forgets": Case(BALLOT, f"{TWO} VIEW forgetful"),
    "a view and steps": Case(BALLOT, f"{TWO} VIEW forgetful PROPERTY SmallSteps"),
    "a view, symmetry and violations": Case(
        BALLOT, f"{THREE} VIEW forgetful SYMMETRY servers INVARIANTS Below NoThreeFromOne", keep_going=True
    ),
    "a view and a violation at the end": Case(BALLOT, f"{TWO} VIEW forgetful INVARIANT NoThreeFromOne"),
    "a view and failing asserts": Case(BALLOT, f"{TWO} TrustOne = 2 TrustTwo = 2 VIEW forgetful", keep_going=True),
    "a view and violations outside": Case(BALLOT, f"{TWO} VIEW forgetful CONSTRAINT Small INVARIANTS Below"),
    "a view and violations outside, going on": Case(
        BALLOT, f"{THREE} VIEW forgetful SYMMETRY servers CONSTRAINT Small INVARIANT Below", keep_going=True
    ),
    "a view and violations beyond": Case(BALLOT, f"{TWO} VIEW forgetful INVARIANT NoThreeFromOne", Limits(depth=3)),
    "a view and symmetry": Case(BALLOT, f"{TWO} VIEW forgetful SYMMETRY servers"),
    "steps refused": Case(BALLOT, f"{TWO} ACTION_CONSTRAINT NotTwice INVARIANT NoThreeFromOne", keep_going=True),
    "a violating state is refused and stored": Case(
        REFUSED_AND_STORED, "ACTION_CONSTRAINT Slow INVARIANTS NotThree Small CHECK_DEADLOCK FALSE", keep_going=True
    ),
    "a violating state is refused and stored, until a failure": Case(
        REFUSED_AND_STORED, "ACTION_CONSTRAINT Slow INVARIANTS NotThree Small CHECK_DEADLOCK FALSE"
    ),
    "a violating state is refused and stored, under a view": Case(
        REFUSED_AND_STORED,
        "ACTION_CONSTRAINT Slow INVARIANTS NotThree Small VIEW without_steps CHECK_DEADLOCK FALSE",
        keep_going=True,
    ),
    "an action fails": Case(FAILING_ACTION, ""),
    "an action fails, going on": Case(FAILING_ACTION, "", keep_going=True),
    "an invariant fails": Case(FAILING_INVARIANT, "INVARIANTS Fine ThirdIsSmall CHECK_DEADLOCK FALSE"),
    "an invariant fails, going on": Case(
        FAILING_INVARIANT, "INVARIANTS Fine ThirdIsSmall CHECK_DEADLOCK FALSE", keep_going=True
    ),
    "an invariant fails beyond the bound": Case(
        FAILING_INVARIANT, "INVARIANTS Fine ThirdIsSmall CHECK_DEADLOCK FALSE", Limits(depth=2)
    ),
    "a reachable property outside a constraint": Case(
        FAILING_INVARIANT, "INVARIANT Fine CONSTRAINT Short CHECK_DEADLOCK FALSE"
    ),
}
