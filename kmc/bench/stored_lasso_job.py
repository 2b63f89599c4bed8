"""The search for lassos in a random graph in files: `python -m kmc.bench.stored_lasso_job STATES MEMORY ANSWER`.

The graph is that of `lasso_job`, made part by part in a folder beside the answer, and never in memory. MEMORY is the
number of bytes of it that may come to the host. Every cycle is weakly fair to 99 instances and to all steps together,
so none stutters. One property holds for a reason that no single state shows: the component of nearly all states is
found, the states that trigger a response without an answer are removed from it, and the rest misses a recurrence. The
other property is violated. Times are CPU seconds of this process, which has one thread and runs all tasks.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from kmc.bench.lasso_job import DEGREE, INSTANCES, PROPERTIES, always_eventually, weak_fairness
from kmc.bench.machine import commit, load_average, machine
from kmc.engine.files.durable_folder import DurableFolder
from kmc.liveness.lasso_queries import (
    AndSteps,
    AtomHolds,
    Changing,
    FairnessCondition,
    Labelled,
    LassoQuery,
    Phase,
    Recurrence,
    Response,
    TemporalCheck,
)
from kmc.process import cpu_seconds, memory_bytes, peak_memory_bytes
from kmc.shards.files.store import FolderStore, ShardStore, new_name
from kmc.shards.graph.graph_files import BitRows, GraphFile, GraphFormat, PartArrays, StoredGraph, write_part
from kmc.shards.graph.graph_rounds import GraphRounds
from kmc.shards.graph.stored_lassos import StoredLassoSearch

PART_STATES = 1 << 16
_WARM_UP_STATES = 1000


def random_parts(store: ShardStore, states: int, seed: int = 1) -> StoredGraph:
    """A graph in files with `DEGREE` steps a state, of `INSTANCES` action instances, and a bit for each property."""
    random = np.random.default_rng(seed)
    files = []
    for first in range(0, states, PART_STATES):
        count = min(PART_STATES, states - first)
        files.append(_written(store, first, count, states, random))
    bits = GraphFormat(BitRows(1, np.dtype(np.uint16).itemsize), BitRows(0, 1))
    return StoredGraph((0, 1, states), states, tuple(files), bits)


def _written(store: ShardStore, first: int, count: int, states: int, random: np.random.Generator) -> GraphFile:
    targets = np.sort(random.integers(0, states, (count, DEGREE), np.uint32), axis=1).reshape(-1)
    part = PartArrays(
        offsets=np.arange(count + 1, dtype=np.int64) * DEGREE,
        targets=targets,
        labels=random.integers(0, INSTANCES, len(targets), np.uint16),
        state_bits=random.integers(0, 1 << PROPERTIES, (count, 1), np.uint16),
        step_bits=np.zeros((len(targets), 0), np.uint8),
    )
    return write_part(store, new_name("graph", 0, first), first, part)


def property_that_holds() -> TemporalCheck:
    """A cycle would visit states of P, and answer them by a step that no state has."""
    unanswered = Recurrence(steps=AndSteps((Labelled(frozenset({INSTANCES})), Changing())))
    query = LassoQuery((Phase(),), (Recurrence(AtomHolds(0)),), (Response(AtomHolds(0), unanswered),))
    return TemporalCheck("holds", "", (query,))


@contextmanager
def _store_beside(answer: Path) -> Iterator[ShardStore]:
    with TemporaryDirectory(dir=answer.parent) as folder:
        yield FolderStore(DurableFolder(Path(folder)))


def measure(store: ShardStore, states: int, memory: int) -> dict[str, Any]:
    """The figures of a graph of so many states."""
    stored = random_parts(store, states)
    rounds = GraphRounds(lambda tasks: [task.run(store) for task in tasks], store, stored)
    fairness = (*weak_fairness(INSTANCES), FairnessCondition("WF(Next)", "WF", False, Changing()))
    search = StoredLassoSearch(rounds, fairness, memory)
    kept = memory_bytes()
    ways = {}
    for name, check in (
        ("one property that holds", property_that_holds()),
        ("one property that is violated", always_eventually(0)),
    ):
        before = cpu_seconds()
        answer = search.find(check)
        lasso = None if answer is None else [len(answer.stem), len(answer.cycle)]
        ways[name] = {"cpu_seconds": round(cpu_seconds() - before, 3), "lasso": lasso}
    rounds.close()
    return {
        "states": states,
        "steps": stored.steps,
        "instances": INSTANCES,
        "graph_bytes": stored.bytes_in_memory,
        "host_bytes_max": memory,
        "bytes_per_state_beyond_the_files": round((peak_memory_bytes() - kept) / states, 1),
        "ways": ways,
    }


def main(words: Sequence[str]) -> None:
    """Measure a graph of so many states with room for so many bytes of it, and write the figures to a file."""
    states, memory, answer = int(words[0]), int(words[1]), Path(words[2])
    with _store_beside(answer) as store:
        measure(store, _WARM_UP_STATES, memory)
    load = load_average()
    about = {"date": datetime.now(UTC).isoformat(timespec="seconds"), "machine": machine(), "commit": commit()}
    with _store_beside(answer) as store:
        figures = {**about, "load_before": load, **measure(store, states, memory)}
    answer.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
