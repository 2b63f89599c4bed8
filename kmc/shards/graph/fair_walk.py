"""A fair closed walk through a component that does not fit into memory, by rounds of breadth-first search.

It meets each condition that the component meets, one after another, at the nearest place. So the steps among its states
have a fair component, which fits.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from kmc.engine.behaviour_graph.sets import Bytes
from kmc.liveness.lasso_queries import AndSteps, Recurrence, StepSet
from kmc.shards.graph.graph_rows import RowSets
from kmc.shards.graph.stored_components import StoredComponents


def fair_walk(where: StoredComponents, start: int, component: Bytes) -> list[int]:
    """The states of a closed walk through a fair component that meets all conditions."""
    walk = _Walk(where, component, [start])
    for condition in where.conditions:
        answer = condition if isinstance(condition, Recurrence) else condition.answer
        meeting = where.meeting(answer, component)
        # A response without an answer in a fair component has no trigger there either.
        if not meeting.any() or walk.meets(answer):
            continue
        walk.go_to(meeting)
        if not where.rounds.set_of(answer.states)[walk.states[-1]]:
            walk.step(AndSteps((where.steps, answer.steps)))
    if len(walk.states) == 1:
        walk.step(where.steps)
    walk.go_to(walk.only(start))
    return sorted(set(walk.states))


@dataclass(slots=True)
class _Walk:
    """A walk, so far."""

    where: StoredComponents
    component: Bytes
    states: list[int]

    def meets(self, answer: Recurrence) -> bool:
        """Whether it meets a condition already."""
        if self.where.rounds.set_of(answer.states)[self.states].any():
            return True
        rounds = self.where.rounds
        rows = rounds.load(self.only(*self.states))
        taken = RowSets(rows, rounds.known()).steps(answer.steps)
        pairs = zip(rows.sources[taken].tolist(), rows.part.targets[taken].tolist(), strict=True)
        return not set(pairwise(self.states)).isdisjoint(pairs)

    def go_to(self, goal: Bytes) -> None:
        """Take a shortest way to one of some states; stay if this is one."""
        levels = [self.only(self.states[-1])]
        reached = levels[0]
        while not (goal & levels[-1]).any():
            following = self._after(levels[-1], self.where.steps) & ~reached
            assert following.any(), "a component is strongly connected"
            reached = reached | following
            levels.append(following)
        way = [int((goal & levels.pop()).argmax())]
        for level in reversed(levels):
            before = self.where.rounds.sources(level | self.only(way[-1]), self.where.steps, self.only(way[-1]))
            way.append(int((before & level).argmax()))
        self.states += way[-2::-1]

    def step(self, steps: StepSet) -> None:
        """Take a step of a set."""
        self.states.append(int(self._after(self.only(self.states[-1]), steps).argmax()))

    def only(self, *states: int) -> Bytes:
        """These states."""
        out = np.zeros_like(self.component)
        out[list(states)] = True
        return out

    def _after(self, states: Bytes, steps: StepSet) -> Bytes:
        return self.where.rounds.targets(states, self.component, steps)
