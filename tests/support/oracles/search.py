"""A breadth-first search in a dozen obvious lines, over the same kernels: what the engine must find.

Records are keyed by fingerprint; of the states of one view that a level finds, the one of least rank stays.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from support.kernels.grid import Grid, point_of

from kmc.engine.layout.frontier import PackedState


@dataclass
class Explored:
    """What there is to know: points by level, edges between them, and points that were generated but not kept."""

    generated: int = 1
    by_action: Counter[int] = field(default_factory=Counter)
    levels: list[set[int]] = field(default_factory=list)
    edges: set[tuple[int, int]] = field(default_factory=set)
    outside: set[int] = field(default_factory=set)


def explore(grid: Grid, depth: int | None = None) -> Explored:
    """All that is reachable within the constraints, or down to level `depth`."""
    kernels, explored = grid.kernels, Explored()
    level = {record.fingerprint: record for record in grid.initial}
    known = set(level)
    while level:
        explored.levels.append({point_of(record) for record in level.values()})
        found: dict[int, PackedState] = {}
        for record in level.values():
            for successor in kernels.successors(record.row):
                explored.generated += 1
                explored.by_action[successor.action] += 1
                explored.edges.add((point_of(record), point_of(successor)))
                if not kernels.is_inside(record.row, successor.row):
                    explored.outside.add(point_of(successor))
                elif successor.fingerprint not in known:
                    rival = found.get(successor.fingerprint, successor)
                    found[successor.fingerprint] = min(rival, successor, key=lambda state: kernels.rank_of(state.row))
        if depth is not None and len(explored.levels) == depth:
            explored.outside |= {point_of(record) for record in found.values()}
            break
        known |= set(found)
        level = found
    return explored
