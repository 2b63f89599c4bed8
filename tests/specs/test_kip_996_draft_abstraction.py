"""DropUnread of kip_996_draft loses nothing, and verification notices each of these wrong drops.

A fault is a change of one piece of text in a copy of the spec, with a behaviour to the state in which it shows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.oracles.bisimulation import follow
from support.specs.small import copied

from kmc.checking.model_choice import AbstractionChoice, choose_bound
from kmc.engine.check_model import check_native
from kmc.frontend.bisimulation import difference_in
from kmc.frontend.model import Model
from kmc.frontend.shipped import find_spec_root
from kmc.model_files.value_text import parse_set
from kmc.result import Limits, Verdict

VERIFIED = AbstractionChoice(("DropUnread",), verifies=True)

PROCESSED = "net_messages_processed=st.net_messages_processed.keep(lambda m: is_read_again(st, m)),"
"""The last line of DropUnread, after which a fault may clear more."""

EACH_SERVER = "\n        servers={s: me.set(%s) for s, me in st.servers.items()},"

ASKED = ("VoterElectionTimeout(2)", "HandlePreVoteRequest(1, 2)")
"""Server 2 asks server 1 for a pre-vote, and has its answer on the way."""

CANDIDATE = (*ASKED, "HandlePreVoteResponse(2, 1)", "RequestVote(2)")
ELECTED = (*CANDIDATE, "HandleStandardVoteRequest(1, 2)", "HandleStandardVoteResponse(2, 1)", "BecomeLeader(2)")

LEADER_ASKED = (
    "CheckQuorumResign(1)",
    "VoterElectionTimeout(1)",
    "HandlePreVoteRequest(2, 1)",
    "HandlePreVoteResponse(1, 2)",
)
"""Server 1 resigns, and has the pre-vote of server 2."""

FETCHED = ("SendFetchRequest(2, 1)", "AcceptFetchRequestFromVoter(1, 2)", "HandleFetchResponse(2, 1)")

CUT_OFF = ("SendFetchRequest(2, 1)", "ChangeNetworkConnectivity", "VoterElectionTimeout(2)")
"""Server 2 loses its fetch, and with it its leader."""

IN_LIVENESS_MODE = ("TestLiveness=TRUE", "MaxConnectivityChanges=4", "MaxDisconnectedPairs=1")


@dataclass(frozen=True)
class Fault:
    """A text of `abstraction.py`, what stands there instead, the behaviour, the difference, and constants."""

    old: str
    new: str
    behaviour: tuple[str, ...]
    why: str
    settings: tuple[str, ...] = ()


FAULTS = {
    "a BeginQuorumEpoch of the present epoch": Fault(
        "m.epoch >= lowest_epoch(receiver) or is_sent_once",
        "m.epoch > lowest_epoch(receiver) or is_sent_once",
        ELECTED,
        "the state has the step AcceptBeginQuorumRequest(1, 2)",
    ),
    "a pre-vote that was granted": Fault(
        "m.vote_granted and (m.pre_vote or is_candidate)",
        "m.vote_granted and is_candidate",
        ASKED,
        "the state has the step HandlePreVoteResponse(2, 1)",
    ),
    "a vote that was granted in this epoch": Fault(
        "m.vote_granted and (m.pre_vote or is_candidate)",
        "m.vote_granted and m.pre_vote",
        (*CANDIDATE, "HandleStandardVoteRequest(1, 2)"),
        "the state has the step HandleStandardVoteResponse(2, 1)",
    ),
    "a refusal that names the leader": Fault(
        "m.leader is not None or ",
        "",
        ("ClientRequest(1, v1)", *ASKED),
        "a_pre_vote_is_refused is TRUE in the state and FALSE in its image",
    ),
    "an answer of a newer epoch": Fault(
        "return m.epoch > lowest_epoch(me)",
        "return False",
        ("VoterElectionTimeout(2)", *LEADER_ASKED, "RequestVote(1)", "HandlePreVoteRequest(1, 2)"),
        "the state has the step HandlePreVoteResponse(2, 1)",
    ),
    "a request for a pre-vote of an old epoch": Fault(
        "    return True\n\n\ndef is_read_again",
        "    return m.epoch >= lowest_epoch(receiver)\n\n\ndef is_read_again",
        (*CANDIDATE[:3], "CheckQuorumResign(1)", "VoterElectionTimeout(1)", "RequestVote(2)"),
        "the state has the step HandlePreVoteRequest(2, 1)",
    ),
    "the answer to a fetch that may be sent again": Fault(
        "me.fetch_state.pending_fetch == fetch or fetch.epoch >= lowest_epoch(me)",
        "me.fetch_state.pending_fetch == fetch",
        (*FETCHED[:2], "ClientRequest(1, v1)", *ASKED, "HandlePreVoteResponse(2, 1)"),
        "the image has the step SendFetchRequest(2, 1)",
    ),
    "the answer to a pending fetch of an old epoch": Fault(
        "me.fetch_state.pending_fetch == fetch or fetch.epoch >= lowest_epoch(me)",
        "fetch.epoch >= lowest_epoch(me)",
        (
            *("ClientRequest(1, v1)", *ASKED, "HandlePreVoteResponse(2, 1)", *LEADER_ASKED),
            *("SendFetchRequest(2, 1)", "RejectFetchRequest(1, 2)", "RequestVote(1)", "VoterElectionTimeout(1)"),
            "HandlePreVoteRequest(2, 1)",
        ),
        "the state has the step HandleFetchResponse(2, 1)",
    ),
    "a fetch that its leader still takes": Fault(
        "may_lead(receiver, m.epoch) or ",
        "",
        ("ClientRequest(1, v1)", *FETCHED, "SendFetchRequest(2, 1)", *CANDIDATE),
        "the state has the step AcceptFetchRequestFromVoter(1, 2)",
    ),
    "a fetch that is rejected": Fault(
        " or may_wait_for(st.servers[m.source], m)",
        "",
        ("CheckQuorumResign(1)", "SendFetchRequest(2, 1)"),
        "the state has the step RejectFetchRequest(1, 2)",
    ),
    "an answer that a timeout waits for": Fault(
        "    if TestLiveness:\n        return True\n",
        "",
        (
            *("ClientRequest(1, v1)", *CUT_OFF, "CheckQuorumResign(1)", "VoterElectionTimeout(1)"),
            *("ChangeNetworkConnectivity", *ASKED),
        ),
        "the image has the step VoterElectionTimeout(2)",
        IN_LIVENESS_MODE,
    ),
    "a BeginQuorumEpoch that is not sent twice": Fault(
        "(TestLiveness or m.epoch > lowest_epoch(sender))",
        "m.epoch > lowest_epoch(sender)",
        (
            *(*CUT_OFF, "ChangeNetworkConnectivity", "ResendBeginQuorumEpochRequest(1, 2)"),
            *("AcceptBeginQuorumRequest(2, 1)", *CUT_OFF, "ChangeNetworkConnectivity"),
        ),
        "the image has the step ResendBeginQuorumEpochRequest(1, 2)",
        IN_LIVENESS_MODE,
    ),
    "what a server that falls back still reads": Fault(
        "if LargestEpoch <= LOWEST_ELECTION or StaleVoteIsNotGiven:",
        "if LargestEpoch > 0:",
        (
            *(*CANDIDATE, "VoterElectionTimeout(2)", "HandlePreVoteRequest(1, 2)", "HandlePreVoteResponse(2, 1)"),
            *("VoterElectionTimeout(1)", "HandlePreVoteRequest(2, 1)", "RequestVote(2)", "VoterElectionTimeout(2)"),
            "HandlePreVoteRequest(1, 2)",
        ),
        "the image has the step HandleStandardVoteRequest(1, 2)",
        ("MaxEpoch=3",),
    ),
    "a BeginQuorumEpoch of a dead server, until it dies": Fault(
        "sender.state != ServerState.DEAD_NO_STATE and ",
        "",
        (*ELECTED, "AcceptBeginQuorumRequest(1, 2)"),
        "the image has the step CrashLoseState(2)",
        ("MaxCrashes=1", "MaxDisconnectedPairs=1"),
    ),
    "the votes that a server has": Fault(
        PROCESSED,
        PROCESSED + EACH_SERVER % "votes_recv=set()",
        CANDIDATE[:3],
        "the state has the step RequestVote(2)",
    ),
    "a counter that a guard reads": Fault(
        PROCESSED,
        PROCESSED + "\n        aux_ctrs=st.aux_ctrs.set(restart_ctr=0),",
        ("RestartWithState(1)",),
        "the image has the step RestartWithState(2)",
        ("MaxRestarts=1",),
    ),
}


def _verification(root: Path, settings: Iterable[str]) -> Model:
    """The model `standard`, two voters, with these constants: its one invariant is that DropUnread loses nothing."""
    return choose_bound(root, "standard", [parse_set(text) for text in settings], VERIFIED).model


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_a_wrong_drop_is_noticed(name: str, copies: Path) -> None:
    fault, root = FAULTS[name], copied("kip_996_draft", copies)
    path = root / "abstraction.py"
    text = path.read_text(encoding="utf-8")
    assert text.count(fault.old) == 1, f"{fault.old!r} no longer stands once in abstraction.py"
    path.write_text(text.replace(fault.old, fault.new), encoding="utf-8")
    wrong = _verification(root, fault.settings)
    difference = difference_in(wrong, follow(wrong, fault.behaviour)[-1])
    assert difference is not None
    assert difference.why.startswith(fault.why)


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_nothing_is_noticed_without_the_fault(name: str) -> None:
    right = _verification(find_spec_root("kip_996_draft"), FAULTS[name].settings)
    assert [difference_in(right, state) for state in follow(right, FAULTS[name].behaviour)] == [None] * (
        len(FAULTS[name].behaviour) + 1
    )


@pytest.mark.slow
def test_the_drops_lose_nothing_in_a_whole_graph() -> None:
    root = find_spec_root("kip_996_draft")
    result = check_native(choose_bound(root, "verify_connections", (), VERIFIED).model, Limits())
    assert (result.verdict, result.counters.distinct) == (Verdict.OK, 24_501)
