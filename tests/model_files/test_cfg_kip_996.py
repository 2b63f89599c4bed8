"""Model files as they stand beside the KIP-996 specs: many model values, lists, VIEW and a SPECIFICATION."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kmc.frontend.binding import bind
from kmc.frontend.model import Model
from kmc.frontend.shipped import find_model, find_spec_root
from kmc.model_files.cfg import read_cfg
from kmc.reference.search import Search
from kmc.result import Verdict

# Names that those files give themselves as values, whether or not the spec still has them.
MODEL_VALUES = """
    Voter Observer Unattached Voted Follower Prospective Candidate Leader Resigned DeadNoState Nil Ok NotOk Diverging
    AppendCommand InitClusterCommand AddVoterCommand RemoveVoterCommand LeaderChangeRecord
    RequestVoteRequest RequestVoteResponse BeginQuorumEpochRequest FetchRequest FetchResponse
    UnknownMember AlreadyMember ReconfigInProgress LeaderNotReady FencedLeaderEpoch NotLeader UnknownLeader
    IllegalState EqualEpoch AnyEpoch
"""

INVARIANTS = {
    "kip_996_draft": "LeaderHasAllAckedValues AckedValueNotLost NoLogDivergence NeverTwoLeadersInSameEpoch "
    "NoIllegalState StatesMatchRoles",
    "kip_996": "LogMatching LeaderCompleteness ElectionSafety Durability NoIllegalState ValidRolesAndStates",
}
PROPERTIES = "ValuesEventuallyAcked ReconfigurationNotStuck EventuallyLeaderElected NotStuckInProspective"
OWN_CONSTANTS = {
    "kip_996_draft": "MaxCrashes = 1\n    MaxDisconnectedPairs = 2",
    "kip_996": "MaxPermCrashes = 1\n    MaxDisruptiveElectionTriggers = 2\n    InvalidRequest = InvalidRequest",
}


def written(folder: Path, spec: str, tail: str, liveness: str = "FALSE") -> Path:
    """A model file in the manner of those specs."""
    lines = [f"    {name} = {name}" for name in ("h1", "h2", "h3", "h4", "v1", "v2", *MODEL_VALUES.split())]
    path = folder / "model.cfg"
    path.write_text(f"""\\* One of several models
CONSTANTS
{chr(10).join(lines)}

    TestLiveness = {liveness}
    MaxEpoch = 2
    MaxRestarts = 1
    MaxValuesPerEpoch = 1
    MaxAddReconfigs = 1
    MaxRemoveReconfigs = 1
    MaxSpawnedServers = 4
    MaxConnectivityChanges = 1
    InitClusterSize = 3
    MinClusterSize = 3
    MaxClusterSize = 4
    {OWN_CONSTANTS[spec]}
    Value = {{ v1, v2 }}
    Hosts = {{ h1, h2, h3, h4}}

{tail}

INVARIANT
{INVARIANTS[spec].replace(" ", chr(10))}""")
    return path


def model_of(spec: str, path: Path) -> Model:
    """The model as `kmc check SPEC FILE.cfg` binds it."""
    root = find_spec_root(spec)
    file = find_model(root, str(path))
    assert file is not None
    assert file == read_cfg(path)
    return bind(root, file)


@pytest.mark.slow
@pytest.mark.parametrize("spec", INVARIANTS)
def test_a_safety_model_with_a_view_is_accepted(spec: str, tmp_path: Path) -> None:
    tail = "SPECIFICATION Spec\n\nVIEW view\n\\* SYMMETRY symmHostsAndValues"
    model = model_of(spec, written(tmp_path, spec, tail))
    assert [p.name for p in model.invariants] == INVARIANTS[spec].split()
    assert model.view is not None
    assert model.view.name == "view"


@pytest.mark.slow
@pytest.mark.parametrize("spec", INVARIANTS)
def test_a_liveness_model_runs_and_says_what_it_did_not_check(spec: str, tmp_path: Path) -> None:
    tail = f"SPECIFICATION LivenessSpec\n\nPROPERTY {PROPERTIES.replace(' ', chr(10))}"
    model = model_of(spec, written(tmp_path, spec, tail, liveness="TRUE"))
    assert [p.name for p in model.temporal] == PROPERTIES.split()
    result = Search(replace(model, max_depth=3)).run()
    assert (result.verdict, result.counters.depth) == (Verdict.BOUND_REACHED, 3)
