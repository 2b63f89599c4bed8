"""A temporal problem, which is what a model's specification and temporal properties amount to, and its answer: a lasso.

Predicates are those of the spec: functions of a state, or of a state and its successor. All else is numbers of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from kmc.liveness.formulas import Formula
from kmc.liveness.lasso_queries import FairnessCondition, LassoQuery, TemporalCheck

StateAtom: TypeAlias = Callable[[Any], bool]
StepAtom: TypeAlias = Callable[[Any, Any], bool]


@dataclass(frozen=True, slots=True)
class Premise:
    """The left side of an implication or a leads-to of the property `name`, for all its instances.

    A property whose premise never holds is vacuous: `queries` are those of the behaviours in which it holds, at some
    time, for some instance. `text` is the TLA+ form, of one instance if there are several.
    """

    name: str
    text: str
    instances: int
    queries: tuple[LassoQuery, ...]


@dataclass(frozen=True, slots=True)
class TemporalProblem:
    """The search problem: behaviours that are fair by all of `fairness` and answer a query of one of `checks`.

    `AtomHolds(n)` refers to atom n, `StepAtomHolds(n)` to step atom n. For the validation of a lasso by the definition,
    formula n is the formula of check n, and `assumed` holds the formulas of `fairness`, one each. `tautologies` names
    the properties that are TRUE by the constants of the model, such as those over an empty set. `is_realizable` means
    that every finite behaviour has a fair continuation, as long as no constraint drops a step: fairness concerns only
    steps of Next. `specification` is the name of the specification that the behaviours satisfy.
    `line` writes a state as people read it, unless it is written in the words of the spec. `whole_states` is the number
    of expanded states up to which a search goes on though a level refutes a property: its counts are those of TLC then.
    """

    atoms: tuple[StateAtom, ...]
    step_atoms: tuple[StepAtom, ...]
    fairness: tuple[FairnessCondition, ...]
    checks: tuple[TemporalCheck, ...]
    formulas: tuple[Formula, ...] = ()
    assumed: tuple[Formula, ...] = ()
    tautologies: tuple[str, ...] = ()
    premises: tuple[Premise, ...] = ()
    is_realizable: bool = True
    specification: str = "Spec"
    line: Callable[[Any], str] | None = None
    whole_states: int = 0


@dataclass(frozen=True, slots=True)
class Lasso:
    """A behaviour by numbers of states: `stem`, then `cycle` for ever. A cycle of one state stutters.

    Of all lassos that answer a query, the least is wanted (`kmc.liveness.lasso_order`).

    The stem does not repeat the first state of the cycle. `labels` name a step each, and the last one leads back to
    the cycle's first state; there is none where the cycle stutters. `query` is the one of its check that it answers.
    """

    stem: tuple[int, ...]
    cycle: tuple[int, ...]
    labels: tuple[int, ...]
    query: int

    @property
    def stutters(self) -> bool:
        """Whether nothing happens in the cycle."""
        return len(self.cycle) == 1
