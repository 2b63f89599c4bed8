"""Corpus files with a planted fault, for tests of `kmc conform`."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from support.commands.cli_runner import DATA

EDGES = DATA.parent / "edges" / "kraft-a.json.gz"


@cache
def one_source() -> str:
    """The corpus cut down to one source with more than two successors, as JSON."""
    corpus = json.loads(gzip.decompress(EDGES.read_bytes()))
    source = next(source for source in corpus["sources"] if len(source["successors"]) > 2)
    kept = sorted({source["state"], *(successor[1] for successor in source["successors"])})
    for successor in source["successors"]:
        successor[1] = kept.index(successor[1])
    source["state"] = kept.index(source["state"])
    return json.dumps({**corpus, "states": [corpus["states"][number] for number in kept], "sources": [source]})


def corpus_with(change: Callable[[Any], None]) -> str:
    """The path of a corpus of one source of kraft, after a change to its JSON."""
    corpus = json.loads(one_source())
    change(corpus)
    Path("changed.json").write_text(json.dumps(corpus), encoding="utf-8")
    return "changed.json"


def change_a_successor(corpus: Any) -> None:
    """One of TLC's successors has another election counter."""
    source = corpus["sources"][0]
    state = dict(corpus["states"][source["successors"][0][1]])
    state["electionCtr"] = 0 if state["electionCtr"] else 1
    corpus["states"].append(state)
    source["successors"][0][1] = len(corpus["states"]) - 1
