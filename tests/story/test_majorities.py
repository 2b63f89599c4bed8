"""Which votes were a majority is told where the spec counts them, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.small_specs import model_of

from kmc.reference.search import Search
from kmc.story.story import Story
from kmc.story.tell import tell
from kmc.views.text_options import TextOptions
from kmc.views.text_view import text_view

VOTES = """
Server = constant("Server", IdentSet(), "The voters")


def majority_count(ensemble):
    return len(ensemble) // 2 + 1


def is_quorum(votes, ensemble):
    return votes <= ensemble and len(votes) >= majority_count(ensemble)


class State(Record):
    votes: Set[Server]
    ends: Map[Server, Int(0, 2)]
    leads: Bool
    committed: Int(0, 2)


@spec.init
def init():
    yield State(votes=set(), ends={s: 0 for s in Server}, leads=False, committed=0)


@spec.action
def vote(st, s: Server):
    if s not in st.votes and not is_quorum(st.votes, {s for s in Server}):
        yield st.set(votes=st.votes | {s}, ends=st.ends.set(s, 2))


@spec.action
def lead(st):
    if WON and not st.leads:
        yield st.set(leads=True)


@spec.action
def commit(st):
    if st.leads and st.committed == 0:
        voters = {s for s in Server}
        agreed = max(
            (o for o in range(1, 3) if count(st.ends[s] >= o for s in voters) >= majority_count(voters)), default=0
        )
        yield st.set(committed=agreed)


@spec.invariant
def NothingCommitted(st):
    return st.committed == 0
"""
WON = {
    "of a function": "is_quorum(st.votes, {s for s in Server})",
    "by counting": "count(s in st.votes for s in Server) >= majority_count({s for s in Server})",
    "of a type": "count(s in st.votes for s in Server) >= majority_count(Server)",
    "by other means": "len(st.votes) > 1",
}


def election(folder: Path, won: str) -> Story:
    """Two of three servers vote, one leads, and something is committed."""
    cfg = "CONSTANTS Server = {n1, n2, n3}\nINVARIANTS NothingCommitted"
    model = model_of(folder, VOTES.replace("WON", WON[won]), cfg)
    violation = Search(model).run().violation
    assert violation is not None
    return tell(model.spec, violation.trace)


@pytest.mark.parametrize("won", WON)
def test_the_votes_that_the_spec_counted_are_named(tmp_path: Path, won: str) -> None:
    story = election(tmp_path, won)
    told = () if won == "by other means" else ("n1, n2 of n1, n2, n3",)
    assert [step.label for step in story.steps] == ["Initial state", "Vote(n1)", "Vote(n2)", "Lead", "Commit"]
    # Less than a majority, as before the second vote, is not told.
    assert [step.majorities for step in story.steps] == [(), (), (), told, ("n1, n2 of n1, n2, n3 (o 2)",)]


def test_views_tell_the_majority_beside_what_it_changed(tmp_path: Path) -> None:
    story = election(tmp_path, "of a function")
    lines = [found.text for found in text_view(story, "steps", TextOptions(100))]
    assert "4  Lead: majority n1, n2 of n1, n2, n3; leads false -> true" in lines
    lines = [found.text for found in text_view(story, "changes", TextOptions(100))]
    assert "    majority  n1, n2 of n1, n2, n3" in lines
