"""Verification finds what DropUnread of kip_996 must not drop: wrong drops are planted in a copy of the spec."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.oracles.bisimulation import follow
from support.specs.small import copied

from kmc.frontend.binding import bind
from kmc.frontend.bisimulation import StateDifference, difference_in
from kmc.frontend.model import Model
from kmc.model_files.cfg import parse_cfg
from kmc.reference.search import Search
from kmc.result import Limits

CFG = """
CONSTANTS
    Hosts = {{ h1, h2, h3 }}  Value = {{ v1 }}
    InitClusterSize = {servers}  MinClusterSize = {servers}  MaxClusterSize = {servers}  MaxSpawnedServers = {servers}
    MaxEpoch = 2  MaxDisruptiveElectionTriggers = {disruptions}  MaxValuesPerEpoch = {values}
    MaxPermCrashes = 0  MaxRestarts = {restarts}  MaxAddReconfigs = 0  MaxRemoveReconfigs = 0
    MaxConnectivityChanges = {changes}  TestLiveness = {liveness}
ABSTRACTION DropUnread
VERIFY_ABSTRACTIONS TRUE
INVARIANTS LogMatching LeaderCompleteness ElectionSafety Durability
CHECK_DEADLOCK FALSE
"""

KEPT = "aux_ctrs=st.aux_ctrs.set(prevote_ctr=0),\n"
RECEIVED = "        return (\n            m.correlation.replica_epoch >= receiver.current_epoch"
OTHERS = "    return True\n\n\n@spec.abstraction"

ELECTION = ("HandleVoteRequest(2, 1)", "HandleVoteResponse(1, 2)")
ELECTED = (
    "CheckQuorumResign(1)", "ResignedElectionTimeout(1)", "VoterElectionTimeout(1)", *ELECTION, "ConcludePreVote(1)",
    *ELECTION, "BecomeLeader(1)",
)  # fmt: skip


@dataclass(frozen=True)
class Fault:
    """A text of abstraction.py and what replaces it; the model and, for a rare difference, the way there."""

    old: str
    new: str
    steps: Sequence[str] = ()
    servers: int = 2
    disruptions: int = 1
    values: int = 0
    restarts: int = 1
    changes: int = 0
    liveness: str = "FALSE"


def cleared(field: str, value: str) -> str:
    """DropUnread with a variable of all servers cleared."""
    return f"{KEPT}        servers={{s: me.set({field}={value}) for s, me in st.servers.items()}},\n"


FAULTS = {
    "an answer to the awaited fetch": Fault(RECEIVED, "        return False and (\n            True", values=1),
    "vote requests": Fault(OTHERS, OTHERS.replace("True", "not isinstance(m, RequestVoteRequest)")),
    "vote answers": Fault(OTHERS, OTHERS.replace("True", "not isinstance(m, RequestVoteResponse)")),
    "fetches": Fault(OTHERS, OTHERS.replace("True", "not isinstance(m, FetchRequest)"), values=1),
    "restarts": Fault(KEPT, KEPT.replace("prevote_ctr=0", "prevote_ctr=0, restart_ctr=0")),
    "the awaited fetch": Fault(KEPT, cleared("fetch_state", "me.fetch_state.set(pending_fetch=None)"), values=1),
    "votes received": Fault(KEPT, cleared("votes_recv", "set()")),
    "acknowledged values": Fault(KEPT, f"{KEPT}        inv_pos_acked=set(),\n", values=1, restarts=0),
    "the leader": Fault(KEPT, cleared("leader", "None"), values=1),
    "a begin-quorum of this epoch": Fault(
        "return m.replica_epoch >= receiver.current_epoch or tells",
        "return m.replica_epoch > receiver.current_epoch and tells",
        ELECTED,
        disruptions=2,
        liveness="TRUE",
    ),
    "a begin-quorum that was processed": Fault(
        "        return tells_of_present_leader(st, m)\n    if isinstance(m, RequestVoteResponse)",
        "        return False\n    if isinstance(m, RequestVoteResponse)",
        (*ELECTED, "AcceptBeginQuorumRequest(2, 1)", "VoterFetchTimeout(2)"),
        disruptions=2,
        liveness="TRUE",
    ),
}  # fmt: skip


def planted(fault: Fault, folder: Path, *, right: bool = False) -> Model:
    """The model that verifies DropUnread, wrong or right, in a copy of the spec."""
    root = copied("kip_996", folder)
    file = root / "abstraction.py"
    text = file.read_text(encoding="utf-8")
    assert text.count(fault.old) == 1
    file.write_text(text if right else text.replace(fault.old, fault.new), encoding="utf-8")
    names = ("servers", "disruptions", "values", "restarts", "changes", "liveness")
    return bind(root, parse_cfg(CFG.format(**{name: getattr(fault, name) for name in names}), "model.cfg"))


def difference_of(model: Model, fault: Fault) -> StateDifference | None:
    """The first difference on the way of a fault, or in the first levels of its model."""
    if fault.steps:
        states = follow(model, fault.steps)
        return next((found for state in states if (found := difference_in(model, state)) is not None), None)
    violation = Search(model, Limits(states=400)).run().violation
    return None if violation is None else difference_in(model, violation.trace.steps[-1].state)


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_a_wrong_drop_is_found(name: str, copies: Path) -> None:
    fault = FAULTS[name]
    assert difference_of(planted(fault, copies), fault) is not None
    if fault.steps:
        assert difference_of(planted(fault, copies, right=True), fault) is None


@pytest.mark.slow
@pytest.mark.parametrize("values", [0, 1])
def test_the_right_one_has_no_difference(values: int, copies: Path) -> None:
    fault = Fault(KEPT, KEPT, values=values)
    assert difference_of(planted(fault, copies, right=True), fault) is None
