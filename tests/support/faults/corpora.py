"""Excerpts of edge corpora, planted faults in them, and what a comparison finds."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.specs.small import copied

from kmc.frontend.shipped import find_spec_root
from kmc.reference.conformance.edges import ConformanceReport

EDGES = Path(__file__).parents[2] / "data" / "edges"
KRAFT = find_spec_root("kraft")


KIP_996 = find_spec_root("kip_996")


# Sources, edges and generated steps of each corpus, from the table of its makers.
CORPORA = {"kraft-a": (553, 2159, 2194), "kraft-b": (374, 1476, 1531), "kraft-c": (537, 2026, 2068)}


KIP_996_CORPORA = {
    "kip996-a": (481, 4322, 4377),
    "kip996-b": (624, 4212, 5438),
    "kip996-c": (462, 4385, 4424),
    "kip996-d": (630, 4330, 4381),
    "kip996-e": (452, 4009, 5509),
}


Document = dict[str, Any]


def excerpt(document: Document, wanted: Callable[[list[Any]], bool], count: int = 8) -> Document:
    """The first sources with a successor that is wanted, and only the states that they need."""
    sources = [source for source in document["sources"] if any(map(wanted, source["successors"]))][:count]
    assert sources, "no source has such a successor"
    needed = sorted(
        {number for source in sources for number in (source["state"], *(s[1] for s in source["successors"]))}
    )
    place = {number: at for at, number in enumerate(needed)}
    return document | {
        "states": [document["states"][number] for number in needed],
        "sources": [
            {"state": place[s["state"]], "successors": [[a, place[n], t, p] for a, n, t, p in s["successors"]]}
            for s in sources
        ],
    }


def fires(action: str) -> Callable[[list[Any]], bool]:
    """Is a successor one of this action?"""
    return lambda successor: bool(successor[0] == action)


def written(folder: Path, document: Document) -> Path:
    """The document as a plain JSON file."""
    path = folder / "corpus.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def mutant(folder: Path, file: str, old: str, new: str) -> Path:
    """A copy of the KRaft spec in which one piece of text is replaced."""
    root = copied("kraft", folder)
    text = (root / file).read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{old!r} no longer stands once in {file}"
    (root / file).write_text(text.replace(old, new), encoding="utf-8")
    return root


def found(report: ConformanceReport) -> set[tuple[str, str]]:
    """The actions that differ and how."""
    return {(difference.action, difference.kind.value) for difference in report.differences}


@dataclass(frozen=True)
class Mutation:
    """A change of the spec, the action whose steps show it, and the difference that must be among them."""

    file: str
    old: str
    new: str
    action: str
    expected: tuple[str, str]


WAYS = "ways(fetches_from_start(m), fetches_known_position(me.log, m))"
REFUSAL = "        yield settled(st.set(messages=reply(st.messages, refusal, m)))\n"
MUTATIONS = {
    "a guard that is too weak": Mutation(
        "actions.py",
        "or (not elects(me.votes_granted, voters(st)) and not OwnVoteElects)",
        "",
        "RequestVote",
        ("BecomeLeader", "extra"),
    ),
    "a guard that is too strong": Mutation(
        "../consensus/quorums.py", "// 2 + 1", "// 2 + 2", "BecomeLeader", ("BecomeLeader", "missing")
    ),
    "a comparison off by one": Mutation(
        "../consensus/pull_raft/rules.py",
        "new_end_offset[k] >= offset",
        "new_end_offset[k] > offset",
        "AcceptFetchRequest",
        ("AcceptFetchRequest", "missing"),
    ),
    "ways of a guard counted once": Mutation(
        "actions.py",
        WAYS,
        "ways(valid_fetch_position(me.log, m))",
        "AcceptFetchRequest",
        ("AcceptFetchRequest", "times"),
    ),
    "a counter that is not counted": Mutation(
        "actions.py", "election_ctr=st.election_ctr + 1,", "", "RequestVote", ("RequestVote", "extra")
    ),
    "a successor that is dropped": Mutation(
        "actions.py",
        REFUSAL + "        return\n    state0",
        "        return\n    state0",
        "HandleRequestVoteRequest",
        ("HandleRequestVoteRequest", "missing"),
    ),
    "a message that is never sent": Mutation(
        "../consensus/pull_raft/network.py",
        "return messages.add(response)",
        "return messages",
        "HandleBeginQuorumRequest",
        ("HandleBeginQuorumRequest", "missing"),
    ),
    "a step beyond the TLA+ spec": Mutation(
        "end_quorum.py",
        "        return\n    resigned",
        "        yield st\n        return\n    resigned",
        "HandleBeginQuorumRequest",
        ("EndQuorumEpoch", "extra"),
    ),
}
