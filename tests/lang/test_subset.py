"""The spec language takes what it should: constructs near to a refused one, each with what it means.

What it refuses is in `test_author_mistakes`.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from support.specs.small import model_of

from kmc.actions.relation import NextStateRelation
from kmc.reference.states.initial import initial_states

SPEC = """
Server = constant("Server", IdentSet(), "The servers")


class Role(Enum):
    FOLLOWER, LEADER = range(2)


class State(Record):
    n: Int(0, 99)
    seq: Seq[Int(0, 9), 4]
    roles: Map[Server, Role]


@spec.init
def init():
    yield State(n=2, seq=[4, 5, 6], roles={{s: Role.FOLLOWER for s in Server}})


{helper}


@spec.action
def act(st):
    {body}
"""

ACCEPTED = {
    "one name for two choices": (
        "for n in range(1, 3): yield st.set(n=n)\n    for n in range(3, 5): yield st.set(n=n)",
        [1, 2, 3, 4],
    ),
    "one name for a choice and a comprehension": (
        "for n in range(1, 3): yield st.set(n=n)\n    yield st.set(n=sum(n for n in st.seq))",
        [1, 2, 15],
    ),
    "a comprehension in a choice over the same name as before": (
        "total = sum(n for n in st.seq)\n    for n in range(2): yield st.set(n=total + n)",
        [15, 16],
    ),
    "a value of its own in each round": ("for n in range(3):\n        m = n * 2\n        yield st.set(n=m)", [0, 2, 4]),
    "a value changed within a round": (
        "for n in range(3):\n        m = n\n        m += 5\n        yield st.set(n=m)",
        [5, 6, 7],
    ),
    "continue in a choice": ("for n in range(3):\n        if n == 1: continue\n        yield st.set(n=n)", [0, 2]),
    "a name with a value on every path": (
        "if st.n == 2: m = 1\n    elif st.n == 3: m = 2\n    else: m = 3\n    yield st.set(n=m)",
        [1],
    ),
    "a name whose other path ends": ("if st.n == 2: m = 1\n    else: return\n    yield st.set(n=m)", [1]),
    "a sum that goes on outside of a choice": ("m = 1\n    m += 2\n    yield st.set(n=m)", [3]),
    "a chain of comparisons": ("if 1 < st.n < 3: yield st", [2]),
    "a comparison with None": ("if st.roles is not None: yield st", [2]),
    "the first elements": ("yield st.set(n=sum(st.seq.upto(2)))", [9]),
    "an element": ("yield st.set(n=st.seq.at(3))", [6]),
    "the greatest of none, with a default": ("yield st.set(n=max((n for n in st.seq if n > 9), default=0))", [0]),
    "a quantifier over Bools": ("yield st.set(n=1 if all({n > 3 for n in st.seq}) else 0)", [1]),
    "a map taken apart": ("yield st.set(n=len({s for s, r in st.roles.items() if r == Role.FOLLOWER}))", [2]),
    "a conditional condition": ("if (st.n > 1 if st.n > 0 else st.n == 0): yield st", [2]),
    "text in an assertion": ('assert st.n < 9, "it is small"\n    yield st', [2]),
    "a division": ("yield st.set(n=7 // st.n + 7 % st.n)", [4]),
    "a negative number": ("yield st.set(n=-st.n + 5)", [3]),
    "sets, with - before & before |": ("yield st.set(n=len({1} | set(st.seq) - {4} & {4, 5}))", [2]),
    "a subset": ("yield st.set(n=1 if {4} <= set(st.seq) else 0)", [1]),
    "a stutter": ("yield st", [2]),
    "pass": ("if st.n == 0: pass\n    yield st", [2]),
}

HELPERS = {
    "several values returned": (
        "def both(st):\n    return st.n, st.n + 1",
        "a, b = both(st)\n    yield st.set(n=a + b)",
        [5],
    ),
    "a function as a parameter": (
        "def how_many(wanted, st):\n    return len([n for n in st.seq if wanted(n)])",
        "yield st.set(n=how_many(lambda n: n > 4, st))",
        [2],
    ),
    "a helper as a parameter": (
        "def big(n):\n    return n > 4\n\n\ndef how_many(wanted, seq):\n    return len([n for n in seq if wanted(n)])",
        "yield st.set(n=how_many(big, st.seq))",
        [2],
    ),
    "a default of a parameter": ("def plus(n, more=1):\n    return n + more", "yield st.set(n=plus(st.n))", [3]),
    "a parameter by name": ("def plus(n, *, more):\n    return n + more", "yield st.set(n=plus(st.n, more=2))", [4]),
    "a type of a parameter": ("def plus(n: Int(0, 9)):\n    return n + 1", "yield st.set(n=plus(st.n))", [3]),
    "a function given within a comprehension": (
        "def how_many(wanted, st):\n    return len([n for n in st.seq if wanted(n)])",
        "yield st.set(n=sum([how_many(lambda n: n > 4, st) for k in range(3)]))",
        [6],
    ),
    "a guard of a helper that is called after a quantifier": (
        "def positive(n):\n    require(n > 0)\n    return n",
        "some = any(n > 5 for n in st.seq)\n    yield st.set(n=positive(st.n) if some else 0)",
        [2],
    ),
    "a constant of the file": ("Step = 3", "yield st.set(n=st.n + Step)", [5]),
    "a constant that a comprehension makes": ("Steps = {n for n in range(3)}", "yield st.set(n=len(Steps))", [3]),
}


def after_one_step(folder: Path, helper: str, body: str) -> list[int]:
    """The values of n that the action of SPEC with this helper and body yields."""
    source = SPEC.format(helper=helper, body=body)
    model = model_of(folder, source, "CONSTANT Server = {a, b} INIT Init NEXT Next")
    relation = NextStateRelation(model.spec.actions, model.spec.state_class, model.spec.files)
    return [successor.n for state in initial_states(model) for _, _, successor in relation.steps(state)]


@pytest.mark.parametrize(("body", "expected"), ACCEPTED.values(), ids=ACCEPTED)
def test_a_construct_is_taken_and_means_what_it_says(body: str, expected: list[int], tmp_path: Path) -> None:
    assert after_one_step(tmp_path, "", body) == expected


@pytest.mark.parametrize(("helper", "body", "expected"), HELPERS.values(), ids=HELPERS)
def test_a_helper_is_taken_and_means_what_it_says(helper: str, body: str, expected: list[int], tmp_path: Path) -> None:
    assert after_one_step(tmp_path, helper, body) == expected
