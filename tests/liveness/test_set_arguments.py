"""The recipe of docs/liveness.md for fairness of `Return(c, alloc[c])`, where the argument is a set."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.source_tree import ROOT
from support.specs.small import model_of

from kmc.engine.check_model import check_native
from kmc.reference.temporal.accepted_problem import accepted_problem
from kmc.result import Limits, Verdict

ALLOCATOR = """
from kmc.spec import and_, for_all, leads_to, steps, weak_fairness

Client = constant("Client", IdentSet(), "Who asks")
Resource = constant("Resource", IdentSet(), "What they ask for")


class State(Record):
    alloc: Map[Client, Set[Resource]]


@spec.init
def init():
    yield State(alloc={c: set() for c in Client})


@spec.action
def give(st, c: Client, r: Resource):
    require(all(r not in st.alloc[d] for d in Client))
    yield st.set(alloc=st.alloc.set(c, st.alloc[c] | {r}))


@spec.action
def return_(st, c: Client):
    for q in subsets(st.alloc[c]):
        require(len(q) > 0)
        yield st.set(alloc=st.alloc.set(c, st.alloc[c] - q))


@spec.specification
def Fair():
    return for_all(Client, lambda c: FAIRNESS)


@spec.liveness
def Ends():
    return for_all(Client, lambda c: leads_to(lambda st: len(st.alloc[c]) > 0, lambda st: len(st.alloc[c]) == 0))
"""
CFG = "SPECIFICATION Fair\nCONSTANT Client = {c1, c2}\nCONSTANT Resource = {r1, r2}\nPROPERTY Ends\n"
RECIPE = "weak_fairness(and_(steps(return_, c), lambda st, new: new.alloc[c] == set()))"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fairness", "verdict"),
    [(RECIPE, Verdict.OK), ("weak_fairness(return_, c)", Verdict.LIVENESS)],
    ids=["of all that it has", "of any part"],
)
def test_who_returns_all_at_once_has_nothing_in_the_end(tmp_path: Path, fairness: str, verdict: Verdict) -> None:
    model = model_of(tmp_path, ALLOCATOR.replace("FAIRNESS", fairness), CFG)
    assert check_native(model, Limits(), problem=accepted_problem(model)).verdict is verdict


def test_the_page_has_this_recipe() -> None:
    assert RECIPE in (ROOT / "docs" / "liveness.md").read_text(encoding="utf-8")
