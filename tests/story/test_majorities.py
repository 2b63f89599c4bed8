"""Which votes were a majority is told where a spec declares what a majority is, and nothing is guessed elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.specs.small import copied, model_of
from support.views.stories import shipped_model

from kmc.engine.check_model import check_native
from kmc.frontend.shipped import find_spec_root
from kmc.frontend.sources import read_sources
from kmc.model_files.manifest import read_manifest
from kmc.reference.search import Search
from kmc.result import Limits
from kmc.story.counterexample import story_of
from kmc.story.parts.story import Story
from kmc.story.tell import tell
from kmc.views.text_options import TextOptions
from kmc.views.text_view import text_view

VOTES = """
Server = constant("Server", IdentSet(), "The voters")


@spec.majority
def least(ensemble):
    return len(ensemble) // 2 + 1


@spec.majority
def wins(members, of):
    return members <= of and len(members) >= least(of)


@spec.majority
def suffice(those):
    return len(those) * 2 > len(Server)


@spec.majority
def carries(those, of=Server):
    those = {s for s in of if s in those}
    return len(those) >= least({s for s in of})


@spec.majority
def carry(those, *, of=Server):
    return suffice(those)


def is_quorum(votes, ensemble):
    return len(votes) * 2 > len(ensemble)


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
    if s not in st.votes and not wins(st.votes, {s for s in Server}):
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
            (o for o in range(1, 3) if count(st.ends[s] >= o for s in voters) >= least(voters)), default=0
        )
        yield st.set(committed=agreed)


@spec.invariant
def NothingCommitted(st):
    return st.committed == 0
"""
CFG = "CONSTANTS Server = {n1, n2, n3}\nINVARIANTS NothingCommitted"
WON = {
    "of a function": "wins(st.votes, {s for s in Server})",
    "of one parameter": "suffice(st.votes)",
    "by default": "carries(st.votes)",
    "by name": "carry(of=Server, those=st.votes)",
    "by counting": "count(s in st.votes for s in Server) >= least({s for s in Server})",
    "of a type": "count(s in st.votes for s in Server) >= least(Server)",
    "undeclared": "is_quorum(st.votes, {s for s in Server})",
    "by other means": "len(st.votes) > 1",
}
TOLD = {"of one parameter": ("n1, n2",), "undeclared": (), "by other means": ()}


def election(folder: Path, won: str) -> Story:
    """Two of three servers vote, one leads, and something is committed."""
    model = model_of(folder, VOTES.replace("WON", WON[won]), CFG)
    violation = Search(model).run().violation
    assert violation is not None
    return tell(model.spec, violation.trace)


@pytest.mark.parametrize("won", WON)
def test_the_votes_that_the_spec_counted_are_named(tmp_path: Path, won: str) -> None:
    story = election(tmp_path, won)
    told = TOLD.get(won, ("n1, n2 of n1, n2, n3",))
    assert [step.label for step in story.steps] == ["Initial state", "Vote(n1)", "Vote(n2)", "Lead", "Commit"]
    # Less than a majority, as before the second vote, is not told.
    assert [step.majorities for step in story.steps] == [(), (), (), told, ("n1, n2 of n1, n2, n3 (o 2)",)]


def test_views_tell_the_majority_beside_what_it_changed(tmp_path: Path) -> None:
    story = election(tmp_path, "of a function")
    lines = [found.text for found in text_view(story, "steps", TextOptions(100))]
    assert "4  Lead: majority n1, n2 of n1, n2, n3; leads false -> true" in lines
    lines = [found.text for found in text_view(story, "changes", TextOptions(100))]
    assert "    majority  n1, n2 of n1, n2, n3" in lines


CALLS = {
    "def is_quorum():\n    return True": "is_quorum()",
    "def is_quorum(votes):\n    return len(votes) * 2 > len(Server)": "is_quorum(st.votes)",
    "def is_quorum(a, b, st):\n    return len(a) * 2 > len(b)": "is_quorum(st.votes, {s for s in Server}, st)",
    "def is_quorum(st, s):\n    return s in st.votes": "any(is_quorum(st, s) for s in Server)",
    "class is_quorum(Record):\n    votes: Set[Server]": "is_quorum(votes=st.votes).votes == st.votes",
    "is_quorum = 2": "is_quorum == 2",
    "def majority_count():\n    return 2": "majority_count() == 2",
    "def majority_count(st, s):\n    return 1 + len(st.votes)": "any(majority_count(st, s) > 1 for s in Server)",
}


@pytest.mark.parametrize("definition", CALLS)
def test_the_names_of_an_authors_functions_mean_nothing(tmp_path: Path, definition: str) -> None:
    own = "def is_quorum(votes, ensemble):\n    return len(votes) * 2 > len(ensemble)"
    source = VOTES.replace("@spec.majority\n", "").replace(own, definition)
    source = source.replace("WON", f"{CALLS[definition]} and len(st.votes) > 1")
    model = model_of(tmp_path, source, CFG)
    violation = Search(model).run().violation
    assert violation is not None
    story = story_of(model, violation)
    assert [step.majorities for step in story.steps] == [()] * 5
    assert story.why is not None


def test_a_declaration_changes_neither_what_a_spec_means_nor_what_it_counts(tmp_path: Path) -> None:
    declared = VOTES.replace("WON", WON["of a function"])
    models = [
        model_of(tmp_path / "declared", declared, CFG),
        model_of(tmp_path / "plain", declared.replace("@spec.majority\n", ""), CFG),
    ]
    assert models[0].digest == models[1].digest
    for engine in (lambda model: Search(model).run(), lambda model: check_native(model, Limits(), threads=1)):
        counts = [(r.counters.generated, r.counters.distinct, r.levels) for r in map(engine, models)]
        assert counts[0] == counts[1]


def test_an_import_that_only_a_declaration_needs_is_not_part_of_the_meaning(tmp_path: Path) -> None:
    root = copied("kraft", tmp_path)
    quorums = root.parent / "consensus" / "quorums.py"
    text = quorums.read_text()
    plain = text.replace("@spec.majority\n", "").replace("from kmc.spec import spec\n", "")
    meanings = []
    for written in (text, plain, text.replace("// 2 + 1", "// 2")):
        quorums.write_text(written)
        meanings.append([source.meaning for source in read_sources(root).values()])
    assert plain != text
    assert meanings[0] == meanings[1] != meanings[2]


@pytest.mark.parametrize("spec", ["kraft", "kip_996", "kip_996_draft", "kip_642"])
def test_shipped_specs_declare_what_a_majority_is(spec: str) -> None:
    model = shipped_model(spec, next(iter(read_manifest(find_spec_root(spec) / "models.toml").entries)))
    assert {function.__name__ for function in model.spec.majorities} == {"is_quorum", "majority_count"}
