"""Conformance: the shipped specs are their TLA+ specs edge by edge, and every planted fault is found."""

from __future__ import annotations

import copy
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from support.faults.corpora import (
    CORPORA,
    EDGES,
    KIP_996,
    KIP_996_CORPORA,
    KRAFT,
    MUTATIONS,
    Document,
    excerpt,
    fires,
    found,
    mutant,
    written,
)
from support.specs.small import model_of

from kmc.errors import EvaluationError, ModelError, TraceError
from kmc.reference.conformance.corpus import canonical_text, raw_text, read_corpus, value_of
from kmc.reference.conformance.edges import ActionCount, ConformanceReport, Difference, DifferenceKind, conform
from kmc.reference.states.differences import Part

SAMPLE = 40


@pytest.fixture(scope="module", params=CORPORA)
def report(request: pytest.FixtureRequest) -> ConformanceReport:
    return conform(KRAFT, EDGES / f"{request.param}.json.gz")


@pytest.mark.slow
class TestKRaft:
    def test_no_edge_differs_from_tlc(self, report: ConformanceReport) -> None:
        assert report.differences[:3] == ()

    def test_the_actions_are_those_of_the_tla_spec(self, report: ConformanceReport) -> None:
        assert (report.missing_actions, report.extra_actions) == ((), ())

    def test_every_edge_of_the_corpus_is_compared(self, report: ConformanceReport) -> None:
        assert (report.sources, report.edges, report.generated) == CORPORA[report.model]


@pytest.fixture(scope="module")
def samples() -> list[ConformanceReport]:
    return [conform(KIP_996, EDGES / f"{name}.json.gz", limit=SAMPLE) for name in KIP_996_CORPORA]


@pytest.mark.slow
class TestKip996:
    """Each corpus takes the interpreter 15 s, mostly to read states: whole ones run with the large cases."""

    def test_no_edge_of_a_sample_differs_from_tlc(self, samples: list[ConformanceReport]) -> None:
        assert [report.differences[:3] for report in samples] == [()] * len(samples)

    def test_the_actions_are_those_of_the_tla_spec(self, samples: list[ConformanceReport]) -> None:
        assert {(report.missing_actions, report.extra_actions) for report in samples} == {((), ())}

    def test_every_action_fires_in_the_samples(self, samples: list[ConformanceReport]) -> None:
        fired = {count.action for report in samples for count in report.actions if count.edges}
        assert fired == {count.action for count in samples[0].actions}

    @pytest.mark.golden_large
    @pytest.mark.parametrize("name", KIP_996_CORPORA)
    def test_no_edge_of_the_whole_corpus_differs_from_tlc(self, name: str) -> None:
        report = conform(KIP_996, EDGES / f"{name}.json.gz")
        assert report.differences[:3] == ()
        assert (report.sources, report.edges, report.generated) == KIP_996_CORPORA[name]


@pytest.fixture(scope="module")
def whole() -> Document:
    document: Document = json.loads(gzip.decompress((EDGES / "kraft-a.json.gz").read_bytes()))
    return document


@pytest.mark.slow
@pytest.mark.parametrize("fault", MUTATIONS)
def test_a_planted_fault_is_a_difference(fault: str, whole: Document, tmp_path: Path) -> None:
    mutation = MUTATIONS[fault]
    root = mutant(tmp_path, mutation.file, mutation.old, mutation.new)
    corpus = written(tmp_path, excerpt(whole, fires(mutation.action), 40))
    assert mutation.expected in found(conform(root, corpus))


@pytest.fixture
def one_vote(whole: Document) -> Document:
    """One source, in which RequestVote fires; a copy that a test may change."""
    return copy.deepcopy(excerpt(whole, fires("RequestVote"), 1))


def the_difference(root: Path, path: Path) -> Difference:
    """The only difference."""
    (difference,) = conform(root, path).differences
    return difference


def edge_of(document: Document, action: str) -> list[Any]:
    """The first successor of this action."""
    edge: list[Any] = next(s for s in document["sources"][0]["successors"] if s[0] == action)
    return edge


class TestCorruptedCorpus:
    @pytest.mark.slow
    def test_an_excerpt_as_it_is_has_no_difference(self, one_vote: Document, tmp_path: Path) -> None:
        assert conform(KRAFT, written(tmp_path, one_vote)).conforms

    def test_a_successor_that_is_left_out_is_extra(self, one_vote: Document, tmp_path: Path) -> None:
        edge = edge_of(one_vote, "RequestVote")
        one_vote["sources"][0]["successors"].remove(edge)
        difference = the_difference(KRAFT, written(tmp_path, one_vote))
        assert (difference.kind, difference.label) == (DifferenceKind.EXTRA, f"RequestVote(i={edge[3]['i']})")

    def test_an_extra_step_without_counterpart_is_shown_against_its_source(
        self, one_vote: Document, tmp_path: Path
    ) -> None:
        for edge in [s for s in one_vote["sources"][0]["successors"] if s[0] == "RequestVote"]:
            one_vote["sources"][0]["successors"].remove(edge)
        difference = conform(KRAFT, written(tmp_path, one_vote)).differences[0]
        changed = {part.path.partition("[")[0] for part in difference.parts}
        assert difference.against_source
        assert {"electionCtr", "currentEpoch", "messages"} <= changed

    def test_a_repeated_successor_is_missing_a_time(self, one_vote: Document, tmp_path: Path) -> None:
        one_vote["sources"][0]["successors"].append(edge_of(one_vote, "RequestVote"))
        difference = the_difference(KRAFT, written(tmp_path, one_vote))
        assert (difference.kind, difference.tlc_times, difference.kmc_times) == (DifferenceKind.TIMES, 2, 1)
        assert (difference.parts, difference.against_source) == ((), False)

    def test_a_changed_field_is_named_with_both_values(self, one_vote: Document, tmp_path: Path) -> None:
        successor = one_vote["states"][edge_of(one_vote, "RequestVote")[1]]
        ours = successor["restartCtr"]
        successor["restartCtr"] = theirs = (ours + 1) % 3
        differences = conform(KRAFT, written(tmp_path, one_vote)).differences
        shown = {(d.kind.value, p.path, p.left, p.right) for d in differences for p in d.parts}
        assert shown == {(kind, "restartCtr", str(theirs), str(ours)) for kind in ("missing", "extra")}

    def test_a_step_given_to_another_action_is_missing_there(self, one_vote: Document, tmp_path: Path) -> None:
        edge_of(one_vote, "RequestVote")[0] = "Restart"
        report = conform(KRAFT, written(tmp_path, one_vote))
        assert found(report) == {("Restart", "missing"), ("RequestVote", "extra")}

    def test_a_parameter_of_another_name_is_another_step(self, one_vote: Document, tmp_path: Path) -> None:
        edge = edge_of(one_vote, "RequestVote")
        edge[3] = {"k": edge[3]["i"]}
        labels = {d.label.partition("=")[0] for d in conform(KRAFT, written(tmp_path, one_vote)).differences}
        assert labels == {"RequestVote(k", "RequestVote(i"}

    def test_an_action_that_only_the_corpus_has_is_named(self, one_vote: Document, tmp_path: Path) -> None:
        one_vote["actions"].append("Abdicate")
        report = conform(KRAFT, written(tmp_path, one_vote))
        assert (report.conforms, report.missing_actions) == (False, ("Abdicate",))

    def test_an_action_that_only_the_spec_has_is_named(self, one_vote: Document, tmp_path: Path) -> None:
        one_vote["actions"].remove("DivergingFetchRequest")
        report = conform(KRAFT, written(tmp_path, one_vote))
        assert (report.conforms, report.extra_actions) == (False, ("DivergingFetchRequest",))


class TestErrors:
    def test_a_state_outside_a_domain_names_the_variable(self, one_vote: Document, tmp_path: Path) -> None:
        one_vote["states"][0]["electionCtr"] = 99
        with pytest.raises(TraceError) as caught:
            conform(KRAFT, written(tmp_path, one_vote))
        assert (caught.value.code, caught.value.notes[0]) == ("KMC411", "in variable 'electionCtr'")
        assert caught.value.notes[1].startswith("in state 0 of ")

    def test_a_map_without_a_key_is_outside_its_domain(self, one_vote: Document, tmp_path: Path) -> None:
        one_vote["states"][0]["acked"]["#map"].pop()
        with pytest.raises(TraceError, match="'acked' of State: a total map needs exactly the keys") as caught:
            conform(KRAFT, written(tmp_path, one_vote))
        assert caught.value.code == "KMC434"

    def test_a_missing_variable_is_named(self, one_vote: Document, tmp_path: Path) -> None:
        del one_vote["states"][0]["votesGranted"]
        with pytest.raises(TraceError, match="variable 'votesGranted' is missing"):
            conform(KRAFT, written(tmp_path, one_vote))

    def test_a_set_that_is_not_sorted_does_not_come_back(self, whole: Document, tmp_path: Path) -> None:
        document = copy.deepcopy(excerpt(whole, fires("BecomeLeader"), 1))
        source = document["states"][document["sources"][0]["state"]]
        votes = next(v for _, v in source["votesGranted"]["#map"] if len(v["#set"]) > 1)
        votes["#set"].reverse()
        with pytest.raises(TraceError, match="'votesGranted' does not come back") as caught:
            conform(KRAFT, written(tmp_path, document))
        assert caught.value.code == "KMC435"

    def test_a_state_that_no_source_needs_is_checked_too(self, one_vote: Document, tmp_path: Path) -> None:
        one_vote["states"].append(one_vote["states"][0] | {"restartCtr": -1})
        with pytest.raises(TraceError, match="-1 is not in"):
            conform(KRAFT, written(tmp_path, one_vote))

    def test_a_constant_that_the_spec_lacks_is_refused(self, one_vote: Document, tmp_path: Path) -> None:
        one_vote["constants"]["MaxDisasters"] = 1
        with pytest.raises(ModelError, match="the spec has no constant 'MaxDisasters'"):
            conform(KRAFT, written(tmp_path, one_vote))

    @pytest.mark.slow
    def test_an_action_that_fails_names_the_state(self, one_vote: Document, tmp_path: Path) -> None:
        root = mutant(tmp_path, "actions.py", "election_ctr=st.election_ctr + 1", "election_ctr=st.election_ctr + 99")
        with pytest.raises(EvaluationError, match="'election_ctr' of State") as caught:
            conform(root, written(tmp_path, one_vote))
        assert any(note.startswith("from state ") for note in caught.value.notes)


BROKEN = {
    "no JSON": (b"{", "KMC431"),
    "no UTF-8": (b"\xff\xfe\x00", "KMC431"),
    "a gzip file cut short": (gzip.compress(b"{}" * 50)[:-9], "KMC431"),
    "a gzip file with damaged data": (gzip.compress(bytes(range(256)))[:12] + b"\x00" * 60, "KMC431"),
    "no object": (b"[]", "KMC432"),
    "no states": (b'{"sources": []}', "KMC432"),
    "a state that is not an object": (b'{"states": [1], "sources": []}', "KMC432"),
    "no constants": (b'{"states": [], "sources": []}', "KMC432"),
    "a constant given twice in a set": (b'{"states": [], "sources": [], "constants": {"S": ["a", "a"]}}', "KMC432"),
    "a constant that is not a value": (b'{"states": [], "sources": [], "constants": {"S": null}}', "KMC432"),
    "a source without a state": (
        b'{"states": [], "sources": [{"state": 0, "successors": []}], "constants": {}, "variables": [], "actions": []}',
        "KMC432",
    ),
    "a successor without times": (
        b'{"states": [{}], "sources": [{"state": 0, "successors": [["A", 0]]}], "constants": {}, "variables": [], '
        b'"actions": []}',
        "KMC432",
    ),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_broken_file_is_refused(fault: str, tmp_path: Path) -> None:
    data, code = BROKEN[fault]
    path = tmp_path / "corpus.json.gz"
    path.write_bytes(data)
    with pytest.raises(TraceError) as caught:
        read_corpus(path)
    assert (caught.value.code, str(path) in caught.value.message) == (code, True)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="No such file"):
        read_corpus(tmp_path / "none.json")


@pytest.mark.parametrize("raw", [None, 1.5, ["a"], {"#set": 1}, {"#tup": [], "x": 1}, {"#map": [["k"]]}, {"#bag": []}])
def test_what_is_not_a_value_is_refused(raw: Any) -> None:
    with pytest.raises(TraceError, match="is not a value"):
        value_of(raw)


def test_the_text_of_a_value_does_not_depend_on_the_order_in_which_it_was_written() -> None:
    shuffled = {"b": {"#set": [2, 10, "x", False]}, "a": {"#map": [[{"#tup": [1]}, "v"], ["k", 0]]}}
    assert canonical_text(value_of(shuffled)) == (
        '{"a":{"#map":[["k",0],[{"#tup":[1]},"v"]]},"b":{"#set":["x",10,2,false]}}'
    )


def test_the_text_of_a_state_is_the_text_in_the_file(whole: Document) -> None:
    assert all(canonical_text(value_of(state)) == raw_text(state) for state in whole["states"][:20])


@pytest.mark.slow
def test_a_limit_compares_that_many_sources_and_reports_progress() -> None:
    seen: list[tuple[int, int]] = []
    report = conform(KRAFT, EDGES / "kraft-a.json.gz", limit=3, progress=lambda done, total: seen.append((done, total)))
    assert (report.sources, report.sources_total, seen) == (3, 553, [(1, 3), (2, 3), (3, 3)])


SMALL = """
class State(Record):
    a: Int(0, 3)
    b: Int(0, 3)
    c: Int(0, 3)


@spec.init
def init():
    yield State(a=0, b=0, c=0)


@spec.action
def change(st, k: Int(1, 2)):
    yield st.set(a=k, b=k)


@spec.action
def reset(st):
    if st.a > 0:
        yield st.set(a=0)
        yield st.set(a=0)
"""


def small_corpus(folder: Path, sources: list[tuple[int, list[list[Any]]]], *states: tuple[int, int, int]) -> Path:
    """A corpus of the small spec: each source with the edges that TLC is said to have, and all states by number."""
    return written(
        folder,
        {
            "constants": {},
            "variables": ["a", "b", "c"],
            "actions": ["Change", "Reset"],
            "states": [dict(zip("abc", state, strict=True)) for state in states],
            "sources": [{"state": number, "successors": edges} for number, edges in sources],
        },
    )


def small_spec(folder: Path) -> Path:
    """The small spec's file."""
    model_of(folder, SMALL)
    return folder / "spec.py"


def test_sources_edges_and_generated_steps_are_counted_by_action(tmp_path: Path) -> None:
    states = ((0, 0, 0), (1, 1, 0), (2, 2, 0), (0, 1, 0))
    changes = [["Change", 1, 1, {"k": 1}], ["Change", 2, 1, {"k": 2}]]
    corpus = small_corpus(tmp_path, [(0, changes), (1, [*changes, ["Reset", 3, 2, None]])], *states)
    report = conform(small_spec(tmp_path), corpus)
    assert report.conforms
    assert (report.sources, report.sources_total, report.edges, report.generated) == (2, 2, 5, 6)
    assert report.actions == (ActionCount("Change", 2, 4, 4), ActionCount("Reset", 1, 1, 2))


def test_a_step_that_tlc_does_not_have_says_how_often_kmc_has_it(tmp_path: Path) -> None:
    changes = [["Change", 0, 1, {"k": 1}], ["Change", 1, 1, {"k": 2}]]
    corpus = small_corpus(tmp_path, [(0, changes)], (1, 1, 0), (2, 2, 0))
    extra = the_difference(small_spec(tmp_path), corpus)
    assert (extra.label, extra.kind, extra.tlc_times, extra.kmc_times) == ("Reset", DifferenceKind.EXTRA, 0, 2)
    assert extra.parts == (Part("a", "1", "0"),)
    assert extra.against_source


def test_a_step_that_kmc_does_not_have_says_how_often_tlc_has_it(tmp_path: Path) -> None:
    changes = [["Change", 1, 1, {"k": 1}], ["Change", 2, 1, {"k": 2}], ["Reset", 3, 4, None]]
    corpus = small_corpus(tmp_path, [(0, changes)], (0, 0, 0), (1, 1, 0), (2, 2, 0), (0, 0, 3))
    missing = the_difference(small_spec(tmp_path), corpus)
    assert (missing.label, missing.kind, missing.tlc_times, missing.kmc_times) == (
        "Reset",
        DifferenceKind.MISSING,
        4,
        0,
    )
    assert missing.parts == (Part("c", "3", "0"),)
    assert missing.against_source


def compared_with(report: ConformanceReport) -> dict[str, tuple[Part, ...]]:
    """The places in which each step differs from the one that it is shown against."""
    return {f"{difference.kind.value} {difference.label}": difference.parts for difference in report.differences}


def test_a_step_is_compared_with_the_one_of_its_own_parameters(tmp_path: Path) -> None:
    # TLC's Change(k=1) equals kmc's Change(k=2) but for c, and differs more from kmc's Change(k=1).
    changes = [["Change", 1, 1, {"k": 1}], ["Change", 2, 1, {"k": 2}]]
    corpus = small_corpus(tmp_path, [(0, changes)], (0, 0, 0), (2, 2, 3), (1, 1, 3))
    one, two = Part("a", "1", "2"), Part("a", "2", "1")
    ones, twos = (two, Part("b", "2", "1"), Part("c", "3", "0")), (one, Part("b", "1", "2"), Part("c", "3", "0"))
    assert compared_with(conform(small_spec(tmp_path), corpus)) == {
        "missing Change(k=1)": ones,
        "missing Change(k=2)": twos,
        "extra Change(k=1)": ones,
        "extra Change(k=2)": twos,
    }


def test_a_step_of_other_parameters_is_compared_with_the_closest_one(tmp_path: Path) -> None:
    changes = [["Change", 1, 1, {"k": 3}]]
    corpus = small_corpus(tmp_path, [(0, changes)], (0, 0, 0), (2, 2, 1))
    found = compared_with(conform(small_spec(tmp_path), corpus))
    assert found["missing Change(k=3)"] == (Part("c", "1", "0"),)
