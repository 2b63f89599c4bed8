"""Abstractions of states beside the concrete next-state relation: do they keep the steps, with labels and numbers?"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, TypeAlias

from kmc.actions.relation import NextStateRelation
from kmc.frontend.model import Model
from kmc.lang.order import sort_key
from kmc.reference.states.initial import initial_states

Abstraction: TypeAlias = Callable[[Any], Any]


def relation_of(model: Model) -> NextStateRelation:
    """The next-state relation of a model."""
    return NextStateRelation(model.spec.actions, model.spec.state_class, model.spec.files)


def first_levels(model: Model, levels: int) -> list[Any]:
    """The states of the first levels, each once."""
    relation, found = relation_of(model), dict.fromkeys(initial_states(model))
    level = list(found)
    for _ in range(levels - 1):
        level = list(dict.fromkeys(t for s in level for _, _, t in relation.steps(s) if t not in found))
        found.update(dict.fromkeys(level))
    return list(found)


def walk(model: Model, seed: int, steps: int, rare: Collection[str] = ()) -> Iterator[Any]:
    """The states of a random walk. One action is as likely as another, but `rare` ones are mostly passed over."""
    rng, relation = random.Random(seed), relation_of(model)
    state = next(iter(initial_states(model)))
    for _ in range(steps):
        yield state
        by_action: dict[str, list[Any]] = {}
        for action, _, successor in relation.steps(state):
            if successor != state:
                by_action.setdefault(action.title, []).append(successor)
        if not by_action:
            return
        often = sorted(title for title in by_action if title not in rare)
        titles = often if often and rng.random() < 0.9 else sorted(by_action)
        # Sets have another order in another process.
        state = rng.choice(sorted(by_action[rng.choice(titles)], key=sort_key))


def steps_differ(relation: NextStateRelation, abstraction: Abstraction, states: Iterable[Any]) -> str | None:
    """Where a state and its abstraction have other steps up to the abstraction, or a step that it hides; or None.

    Steps are counted: each (label, abstract successor) as often. A step that changes the state and not its
    abstraction would be stuttering, and fairness would count it no more.
    """
    for state in states:
        here: Counter[tuple[str, Any]] = Counter()
        for action, arguments, successor in relation.steps(state):
            image = abstraction(successor)
            here[action.label(arguments), image] += 1
            if (successor == state) != (image == abstraction(state)):
                return f"{action.label(arguments)} changes the state or its abstraction, not both: {state!r}"
        there = Counter((a.label(args), abstraction(t)) for a, args, t in relation.steps(abstraction(state)))
        if here != there:
            only = sorted({label for label, _ in (here - there) + (there - here)})
            return f"{', '.join(only)} differ: {state!r}"
    return None


def follow(model: Model, labels: Iterable[str], wanted: Callable[[Any], bool] = lambda state: True) -> list[Any]:
    """The states of a behaviour that takes these steps. Of several successors, one that is `wanted`."""
    relation, states = relation_of(model), [next(iter(initial_states(model)))]
    for label in labels:
        successors = [t for a, args, t in relation.steps(states[-1]) if a.label(args) == label]
        assert successors, f"{label} is not enabled in {states[-1]!r}"
        states.append(next((t for t in successors if wanted(t)), successors[0]))
    return states
