"""Helpers that call themselves: both engines agree, compiled code is given more levels where it needs them."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.oracles.both_engines import beginning_with, compiled, interpreted
from support.oracles.results import told
from support.oracles.steps import differences, kernels_of, level_states
from support.specs.small import model_of

from kmc.engine.files.run_directory import RunDirectory
from kmc.errors import SpecError
from kmc.frontend.model import Model
from kmc.lang.assumed_range import NARROWEST, WIDEST, assuming
from kmc.result import Limits
from kmc.shards.level.sharding import Sharding
from kmc.shards.on_one_machine import sharded

SERVERS = 'Server = constant("Server", IdentSet(symmetric=True), "servers")\n'
TREE = (
    SERVERS
    + """

class Node(Record):
    who: Server
    depth: Int(0, 9)


class State(Record):
    parent: Map[Server, Opt[Server]]
    n: Int(0, 6)


@spec.init
def init():
    yield State(parent={s: None for s in Server}, n=0)


def above(st, s) -> Set[Server]:
    up = st.parent[s]
    return set() if up is None else {up} | above(st, up)


@spec.action
def attach(st, s: Server, t: Server):
    require(st.parent[s] is None and s != t and s not in above(st, t))
    yield st.set(parent=st.parent.set(s, t))


@spec.action
def count_up(st):
    require(st.n < 6)
    yield st.set(n=st.n + 1)
"""
)
HELPERS = {
    "height(st, s) == depth_of(st, s, 0)": """
def height(st, s) -> Int(0, 9):
    up = st.parent[s]
    if up is None:
        return 0
    return 1 + height(st, up)


def depth_of(st, s, so_far) -> Int(0, 9):
    return so_far if st.parent[s] is None else depth_of(st, st.parent[s], so_far + 1)
""",
    "t in below(st, s) or t not in above(st, s)": """
def below(st, s) -> Set[Server]:
    return {s} | {x for c in Server if st.parent[c] == s for x in below(st, c)}
""",
    "size(st, s) > st.n": """
def size(st, s) -> Int(0, 9):
    return 1 + sum(size(st, c) for c in Server if st.parent[c] == s)
""",
    "deepest(st, s) == st.n": """
def deepest(st, s) -> Int(0, 9):
    return max((1 + deepest(st, c) for c in Server if st.parent[c] == s), default=0)
""",
    "reaches(st, s, t)": """
def reaches(st, s, t) -> Bool:
    return s == t or any(reaches(st, c, t) for c in Server if st.parent[c] == s)
""",
    "len(path(st, s)) == st.n and path(st, s).at(1) == s": """
def path(st, s) -> Seq[Server, 9]:
    up = st.parent[s]
    return [s] if up is None else [s] + path(st, up)
""",
    "root(st, s).who == t and root(st, s).depth > 1": """
def root(st, s) -> Node:
    up = st.parent[s]
    if up is None:
        return Node(who=s, depth=0)
    top = root(st, up)
    return top.set(depth=top.depth + 1)
""",
    "first_above(st, s, st.n) == t": """
def first_above(st, s, n) -> Opt[Server]:
    if n == 0:
        return s
    return None if st.parent[s] is None else first_above(st, st.parent[s], n - 1)
""",
    "fibonacci(st.n) == 5 and s == t": """
def fibonacci(n) -> Int(0, 99):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)
""",
    "triangle(st.n, s) == 15 and s == t": """
def triangle(n, s) -> int:
    return 0 if n == 0 else n + triangle(n - 1, s)
""",
    "depths(st, s)[t] > 0": """
def depths(st, s) -> Map[Server, Int(0, 9)]:
    up = st.parent[s]
    if up is None:
        return {x: 0 for x in Server}
    return depths(st, up).set(s, len(above(st, s)))
""",
}
CFG = "CONSTANT Server = {s1, s2, s3}"


def _goals(texts: list[str]) -> str:
    return "".join(
        f"\n\n@spec.reachable\ndef goal_{n}(st):\n    return any({text} for s in Server for t in Server)\n"
        for n, text in enumerate(texts)
    )


def test_compiled_recursion_gives_what_the_interpreter_gives(tmp_path: Path) -> None:
    model = model_of(
        tmp_path, TREE + "\n".join(HELPERS.values()) + _goals(list(HELPERS)), CFG.replace("s3", "s3, s4, s5")
    )
    states = level_states(model, Limits(), at_most=40, seed=1)
    with assuming(WIDEST.with_more_levels()):
        assert list(differences(kernels_of(model), states))[:2] == []


CHAIN = (
    TREE
    + """

def height(st, s) -> Int(0, 9):
    return 0 if st.parent[s] is None else 1 + height(st, st.parent[s])


def sum_to(n) -> Int(0, 99):
    return 0 if n == 0 else n + sum_to(n - 1)


@spec.invariant
def NoLongChain(st):
    return all(height(st, s) < len(Server) for s in Server) and sum_to(st.n) < LIMIT


spec.symmetry("Symmetry", Server)
spec.view("View", drop=["n"])
"""
)


@pytest.mark.parametrize("more", ["", "SYMMETRY Symmetry", "VIEW View"])
@pytest.mark.parametrize("limit", ["22", "21"])
def test_a_search_starts_again_with_more_levels(tmp_path: Path, more: str, limit: str) -> None:
    """Six levels are needed where four are compiled, at the last states of the search, and a violation is the same."""
    cfg = f"{CFG.replace('s3', 's3, s4')}\nINVARIANT NoLongChain\nCHECK_DEADLOCK FALSE\n{more}\n"
    model, lines = model_of(tmp_path, CHAIN.replace("LIMIT", limit), cfg), list[str]()
    with beginning_with(NARROWEST):
        result = compiled(model, lines)
    assert told(result) == interpreted(model)
    again = "this recursion has more than 4 levels, which are compiled; the search starts again with 8."
    assert [line.partition(": ")[2] for line in lines] == ([] if "VIEW" in more else [again])


def test_shards_start_again_with_more_levels(tmp_path: Path) -> None:
    model = model_of(tmp_path, CHAIN.replace("LIMIT", "22"), f"{CFG}\nINVARIANT NoLongChain\nCHECK_DEADLOCK FALSE\n")
    (tmp_path / "run").mkdir()
    directory = RunDirectory.created(tmp_path / "run", {})
    with beginning_with(NARROWEST):
        assert told(compiled(model, directory=directory, search_of=sharded(Sharding(2)))) == interpreted(model)
    directory.discard()


ENDLESS = """

def around(n) -> Int(0, 9):
    return around((n + 1) % 3)


@spec.invariant
def Ends(st):
    return st.n < 4 or around(st.n) == 0
"""


def test_an_endless_recursion_is_an_error_of_the_spec(tmp_path: Path) -> None:
    model = model_of(tmp_path, TREE + ENDLESS, f"{CFG}\nINVARIANT Ends\nCHECK_DEADLOCK FALSE\n")
    assert "KMC244" in interpreted(model)["violation"][-1]
    with pytest.raises(SpecError, match="a recursion of more than 32 levels"), beginning_with(NARROWEST):
        compiled(model)


def test_a_result_is_of_the_declared_type(tmp_path: Path) -> None:
    """A level that gives more than its helper declares is an error in both engines, though the sum of all is right."""
    source = (
        TREE
        + """

def down(n) -> Int(0, 3):
    return n if n > 3 else 0 if n == 0 else down(n - 1)


@spec.invariant
def Small(st):
    return down(st.n) < 9
"""
    )
    model = model_of(tmp_path, source, f"{CFG}\nINVARIANT Small\nCHECK_DEADLOCK FALSE\n")
    with beginning_with(NARROWEST):
        assert told(compiled(model)) == interpreted(model)


def test_a_set_of_sets_that_is_collected_late_counts_its_levels(tmp_path: Path) -> None:
    """The elements of a union are looked through when it becomes the declared set, and their calls are levels too."""
    source = (
        TREE
        + """

def parts(of) -> Set[Set[Server]]:
    return {of} | {part for s in of for part in parts(of - {s})}


@spec.invariant
def Parts(st):
    return all(parts(above(st, s)) == {part for part in subsets(above(st, s))} for s in Server)


@spec.reachable
def some(st):
    return any(len(parts(above(st, s))) == 4 for s in Server)
"""
    )
    model = model_of(tmp_path, source, f"{CFG}\nINVARIANT Parts\nCHECK_DEADLOCK FALSE\n")
    with beginning_with(NARROWEST):
        assert told(compiled(model)) == interpreted(model)


def _small(folder: Path, helper: str, invariant: str) -> Model:
    source = f"{TREE}{helper}\n\n@spec.invariant\ndef Holds(st):\n    return {invariant}\n"
    return model_of(folder, source, f"{CFG}\nINVARIANT Holds\nCHECK_DEADLOCK FALSE\n")


def test_many_levels_within_quantifiers_are_compiled(tmp_path: Path) -> None:
    """Each level takes dozens of Python's frames while it is written, and Python's own limit is 1,000."""
    helper = """

def falls(n) -> Bool:
    return n == 0 or any(all(falls(k) for _ in range(0, 1)) for k in {n - 1})
"""
    model = _small(tmp_path, helper, "falls(st.n + 24)")
    with beginning_with(NARROWEST):
        assert told(compiled(model)) == interpreted(model)


def test_a_helper_that_is_given_itself_is_refused_where_it_is_compiled(tmp_path: Path) -> None:
    helper = """

def given(f, n) -> int:
    return 0 if n == 0 else f(f, n - 1)
"""
    model = _small(tmp_path, helper, "given(given, st.n) == 0")
    with pytest.raises(SpecError, match=r"spec\.py:\d+:\d+: .*so many calls one in another"):
        compiled(model)


@pytest.mark.parametrize(
    "helper",
    [
        "def same(n) -> int:\n    def same(k):\n        return k\n\n    return same(n)\n",
        "def same(same) -> int:\n    return same\n",
        "def same(n) -> int:\n    same = n\n    return same\n",
        "def same(n) -> int:\n    return sum(same for same in {n}) if n < 3 else 1 + same(n - 1)\n",
    ],
)
def test_another_value_of_the_name_of_a_helper_does_not_call_it(tmp_path: Path, helper: str) -> None:
    model = _small(tmp_path, f"\n\n{helper}", "same(st.n) == st.n")
    assert told(compiled(model)) == interpreted(model)
