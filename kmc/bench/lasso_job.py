"""The search for lassos in one random graph: `python -m kmc.bench.lasso_job STATES ANSWER`, a file of JSON.

Every state has five steps to any states, so nearly all of them are one component and every access misses the caches:
a harder graph than that of any spec of this size. Times are CPU seconds of this process, which has one thread; memory
is the most that the process had beyond the graph. A small search comes first and is not measured.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from kmc.bench.machine import commit, load_average, machine
from kmc.engine.lassos.search import LassoSearch
from kmc.liveness.behaviour_graph import BehaviourGraph
from kmc.liveness.lasso_queries import (
    AndStates,
    AndSteps,
    AtomHolds,
    Changing,
    FairnessCondition,
    Labelled,
    LassoQuery,
    NotStates,
    Phase,
    Recurrence,
    Response,
    TemporalCheck,
)
from kmc.process import cpu_seconds, memory_bytes, peak_memory_bytes

DEGREE = 5
INSTANCES = 99
PROPERTIES = 10
_WARM_UP_STATES = 1000
_CLOCK_SECONDS = 1e-6
"""The least time: the clock of some kernels has ticks that a small search does not fill."""

NEVER = AndStates((AtomHolds(0), NotStates(AtomHolds(0))))


def random_graph(states: int, seed: int = 1) -> BehaviourGraph:
    """A graph with `DEGREE` steps a state, of `INSTANCES` action instances, and a bit for each property."""
    random = np.random.default_rng(seed)
    targets = np.sort(random.integers(0, states, (states, DEGREE), np.uint32), axis=1).reshape(-1)
    return BehaviourGraph(
        level_starts=np.array([0, 1, states], np.int64),
        expanded=states,
        offsets=np.arange(states + 1, dtype=np.int64) * DEGREE,
        targets=targets,
        labels=random.integers(0, INSTANCES, len(targets), np.uint16),
        state_bits=random.integers(0, 1 << PROPERTIES, (states, 1), np.uint16),
        step_bits=np.zeros((len(targets), 0), np.uint8),
    )


def weak_fairness(instances: int) -> tuple[FairnessCondition, ...]:
    """WF of each of some action instances."""
    sets = [AndSteps((Labelled(frozenset({label})), Changing())) for label in range(instances)]
    return tuple(FairnessCondition(f"WF({label})", "WF", False, steps) for label, steps in enumerate(sets))


def property_that_holds() -> TemporalCheck:
    """No fair cycle answers its query, and all of them are examined."""
    return TemporalCheck("holds", "", (LassoQuery((Phase(),), (Recurrence(NEVER),)),))


def another_that_holds(atom: int) -> TemporalCheck:
    """As `property_that_holds`, and its cycle is where P is true, in half of the states."""
    never = Response(NotStates(AtomHolds(atom)), Recurrence())
    return TemporalCheck(f"H{atom}", "", (LassoQuery((Phase(),), (Recurrence(NEVER),), (never,)),))


def always_eventually(atom: int) -> TemporalCheck:
    """[]<>P: the cycle is where P is false, in half of the states; there is one."""
    never = Response(AtomHolds(atom), Recurrence())
    return TemporalCheck(f"P{atom}", "", (LassoQuery((Phase(),), (), (never,)),))


def _measured(search: LassoSearch, checks: Sequence[TemporalCheck]) -> dict[str, Any]:
    """The verdicts, and the lasso of the first check that fails, which is the one for the person."""
    before = cpu_seconds()
    lasso = None
    violated = []
    for check in checks:
        if lasso is None:
            lasso = search.find(check)
            violated.append(lasso is not None)
        else:
            violated.append(any(map(search.has_lasso, check.queries)))
    seconds = cpu_seconds() - before
    return {
        "cpu_seconds": round(seconds, 3),
        "steps_per_second": round(len(search.graph.targets) / seconds),
        "violated": violated,
        "lasso": None if lasso is None else [len(lasso.stem), len(lasso.cycle)],
        "peak_memory_bytes": peak_memory_bytes(),
    }


def measure(states: int) -> dict[str, Any]:
    """The figures of a graph of so many states."""
    graph = random_graph(states)
    kept = memory_bytes()
    holding = [another_that_holds(atom) for atom in range(PROPERTIES)]
    every = [always_eventually(atom) for atom in range(PROPERTIES)]
    ways: dict[str, Callable[[], dict[str, Any]]] = {
        "one property that holds": lambda: _measured(LassoSearch(graph, fairness), [property_that_holds()]),
        "the same with one instance": lambda: _measured(LassoSearch(graph, fairness[:1]), [property_that_holds()]),
        "one property that is violated": lambda: _measured(LassoSearch(graph, fairness), every[:1]),
        "ten properties that hold": lambda: _measured(LassoSearch(graph, fairness), holding),
        "ten properties that are violated": lambda: _measured(LassoSearch(graph, fairness), every),
    }
    fairness = weak_fairness(INSTANCES)
    measured = {name: way() for name, way in ways.items()}
    most = max(way["peak_memory_bytes"] for way in measured.values())
    return {
        "states": states,
        "steps": len(graph.targets),
        "instances": INSTANCES,
        "graph_bytes": sum(getattr(graph, name).nbytes for name in ("offsets", "targets", "labels", "state_bits")),
        "bytes_per_state_beyond_the_graph": round((most - kept) / states, 1),
        "ways": measured,
    }


def main(words: Sequence[str]) -> None:
    """Measure a graph of so many states, and write the figures to a file."""
    states, answer = words
    measure(_WARM_UP_STATES)
    load = load_average()
    about = {"date": datetime.now(UTC).isoformat(timespec="seconds"), "machine": machine(), "commit": commit()}
    figures = {**about, "load_before": load, **measure(int(states))}
    Path(answer).write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
