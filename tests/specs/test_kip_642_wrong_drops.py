"""Verification finds what DropStale of kip_642 must not drop: wrong drops are planted in a copy of the spec."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from support.specs.small import copied

from kmc.checking.model_choice import AbstractionChoice, choose_bound
from kmc.engine.check_model import check_native
from kmc.frontend.bisimulation import difference_in
from kmc.frontend.model import Model
from kmc.frontend.shipped import find_spec_root
from kmc.model_files.value_text import parse_set
from kmc.reference.search import Search
from kmc.result import Limits, Result, Verdict

VERIFIED = AbstractionChoice(("DropStale",), verifies=True)
DROPS, RULES = "kip_642/abstraction.py", "consensus/pull_raft/network.py"

FEW = ("Server={n1, n2}", "LastTarget=2", "ClientsWrite=FALSE")
GROW = ("grow", *FEW, "MaxElections=1")
"""(1) to (1, 2)."""

ALIKE = (*FEW, "InitialVoters=2", "MaxRequests=0")
VOTERS = ("grow", *ALIKE, "MaxElections=2")
"""Two voters, nothing to reassign."""

ELECTIONS = ("grow", *ALIKE, "MaxElections=4")
RESTART = ("grow_restart", *ALIKE, "MaxElections=2")
RESTARTED_VOTER = (*RESTART, "RestartedLeaderResigns=FALSE")
LEADER_LEAVES = ("grow", *ALIKE, "MaxElections=1", "FirstTarget=2", "StartsReassigning=TRUE")
BLANK = ("blank_voter", "Server={n1, n2}", "InitialVoters=2")


@dataclass(frozen=True)
class Fault:
    """A text of a file of the spec and what replaces it; the model, and the step that tells a state from its image."""

    file: str
    old: str
    new: str
    model: tuple[str, ...]
    step: str


FAULTS = {
    "a BeginQuorumEpoch of the present epoch": Fault(
        RULES,
        "return m.mepoch < to.current_epoch\n\n\ndef vote",
        "return m.mepoch <= to.current_epoch\n\n\ndef vote",
        VOTERS,
        "HandleBeginQuorumRequest",
    ),
    "an EndQuorumEpoch of the present epoch": Fault(
        DROPS,
        "    if isinstance(m, BeginQuorumRequest) or",
        "    if isinstance(m, EndQuorumRequest):\n        return True\n    if isinstance(m, BeginQuorumRequest) or",
        LEADER_LEAVES,
        "HandleEndQuorumRequest",
    ),
    "a vote of this epoch for a candidate": Fault(
        RULES, " and to.state != ServerState.CANDIDATE", "", VOTERS, "HandleRequestVoteResponse"
    ),
    "a vote answer of a newer epoch": Fault(
        RULES,
        "return m.mepoch < to.current_epoch or (",
        "return m.mepoch != to.current_epoch or (",
        ELECTIONS,
        "HandleRequestVoteRequest",
    ),
    "a vote request of an older epoch": Fault(
        DROPS, "    return False\n", "    return is_of_older_epoch(to, m)\n", VOTERS, "HandleRequestVoteRequest"
    ),
    "an awaited fetch of the present epoch": Fault(
        RULES,
        "m.mepoch < to.current_epoch and sender.pending_fetch != m",
        "m.mepoch <= to.current_epoch",
        VOTERS,
        "AcceptFetchRequest",
    ),
    "an awaited fetch of an older epoch": Fault(
        RULES, " and sender.pending_fetch != m", "", RESTART, "RejectFetchRequest"
    ),
    "a fetch of the present epoch that no server awaits": Fault(
        RULES, "m.mepoch < to.current_epoch and sender", "m.mepoch <= to.current_epoch and sender", GROW,
        "AcceptFetchRequest",
    ),
    "an answer that its receiver awaits": Fault(
        RULES,
        "return m.correlation != to.pending_fetch",
        "return m.mepoch <= to.current_epoch",
        VOTERS,
        "HandleSuccessFetchResponse",
    ),
    "the votes of a candidate": Fault(
        RULES, "me.votes_granted if me.state == ServerState.CANDIDATE else set()", "set()", VOTERS, "BecomeLeader(n2)"
    ),
    "the end offsets of a leader": Fault(
        RULES, "me.end_offset if me.state == ServerState.LEADER else {j", "{j", GROW, "AddVoter(n1, n2)"
    ),
    "the fetch that a server awaits": Fault(
        RULES, "        voted_for=", "        pending_fetch=None,\n        voted_for=", GROW, "AcceptFetchRequest"
    ),
    "the votes of others only": Fault(RULES, " and me.voted_for != i else", " else", RESTARTED_VOTER, "Restart(n2)"),
    "what is stale while a disk may be lost": Fault(DROPS, " or epochs_may_fall(st)", "", BLANK, "LoseDisk(n1)"),
    "what is stale while another disk may be lost": Fault(
        DROPS, " or epochs_may_fall(st)", "", (*BLANK, "MaxDiskLosses=2"), "LoseDisk(n1)"
    ),
}  # fmt: skip

NATIVE = {
    "a BeginQuorumEpoch of the present epoch",
    "an awaited fetch of the present epoch",
    "the votes of others only",
    "what is stale while a disk may be lost",
}


def verification(root: Path, model: tuple[str, ...]) -> Model:
    """The model with these constants: its one invariant is that DropStale loses nothing."""
    return choose_bound(root, model[0], [parse_set(text) for text in model[1:]], VERIFIED).model


def planted(fault: Fault, folder: Path) -> Model:
    """The model that verifies DropStale, in a copy of the spec with the fault."""
    root = copied("kip_642", folder)
    file = folder / fault.file
    text = file.read_text(encoding="utf-8")
    assert text.count(fault.old) == 1
    file.write_text(text.replace(fault.old, fault.new), encoding="utf-8")
    return verification(root, fault.model)


def why(model: Model, result: Result) -> str:
    """How the last state of the trace differs from its image."""
    assert result.violation is not None
    difference = difference_in(model, result.violation.trace.steps[-1].state)
    assert difference is not None
    return difference.why


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_a_wrong_drop_is_found(name: str, copies: Path) -> None:
    model = planted(FAULTS[name], copies)
    found = why(model, Search(model, Limits(states=2_000)).run())
    assert f" has the step {FAULTS[name].step}, " in found


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(NATIVE))
def test_a_wrong_drop_is_found_natively(name: str, copies: Path) -> None:
    model = planted(FAULTS[name], copies)
    assert f" has the step {FAULTS[name].step}, " in why(model, check_native(model, Limits()))


@pytest.mark.slow
@pytest.mark.parametrize("model", sorted({fault.model for fault in FAULTS.values()}))
def test_the_right_one_has_no_difference(model: tuple[str, ...]) -> None:
    right = verification(find_spec_root("kip_642"), model)
    assert Search(right, Limits(states=600)).run().verdict in (Verdict.OK, Verdict.BOUND_REACHED)
