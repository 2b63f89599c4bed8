"""The temporal problem of a model, or the reason why it cannot be checked: constructs that would make a verdict wrong
are refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NoReturn

from kmc.errors import ModelError, Span, TautologyError
from kmc.frontend.model import Model
from kmc.frontend.temporal_problem import problem_of
from kmc.liveness.problem import TemporalProblem
from kmc.model_files.model_file import Word


def accepted_problem(model: Model) -> TemporalProblem | None:
    """The problem of a model's temporal properties; None where it has none.

    Raises ModelError for a view or a symmetry (KMC352), TautologyError for a property that nothing can refute (KMC353),
    and SpecError for a formula that has no meaning.
    """
    if not model.temporal:
        return None
    names = ", ".join(prop.name for prop in model.temporal)
    file, view, symmetry = model.file, model.view, model.symmetry
    refuse_reductions(
        names,
        Reduction(view.name, file.view.span if file.view is not None else None) if view is not None else None,
        Reduction(symmetry[0].name, file.symmetry[0].span) if symmetry else None,
    )
    problem = problem_of(model)
    for name in problem.tautologies:
        refuse_tautology(name, _place(model.file.properties, name))
    return problem


@dataclass(frozen=True, slots=True)
class Reduction:
    """A view or a symmetry by name, and its place in the model file."""

    name: str
    place: Span | None


def refuse_reductions(
    names: str, view: Reduction | None, symmetry: Reduction | None, *, is_level: bool = False
) -> None:
    """Raise ModelError KMC352 if the properties `names` are to be checked with a view or a symmetry.

    `is_level` says that the view leaves out the level of states, which a formula of the model reads.
    """
    if is_level:
        reason = "a state that a behavior comes back to has another level each time, and a search knows only the first"
    elif view is not None:
        reason = (
            f"the view {view.name} merges states that differ in what it drops, so a behavior among the merged states "
            f"may be none of the spec"
        )
    elif symmetry is not None:
        reason = (
            f"the symmetry {symmetry.name} merges permuted states, so a cycle among the merged states may take other "
            f"processes each time around, and fairness of one process is lost"
        )
    reduction = view or symmetry
    if reduction is not None:
        raise ModelError(
            "KMC352",
            f"a temporal property cannot be checked with {reduction.name}: {names}",
            reduction.place,
            "remove it from this model, or check temporal properties in a model of their own",
            (reason,),
        )


def refuse_tautology(name: str, place: Span | None) -> NoReturn:
    """Raise TautologyError KMC353 for a property that is true whatever a behavior does."""
    raise TautologyError(
        "KMC353",
        f"{name} is true of every behavior of this model, so checking it says nothing",
        place,
        "give constants under which it asks for something, or do not name it: it may speak of an empty set",
    )


def _place(words: Iterable[Word], name: str) -> Span | None:
    return next((word.span for word in words if word.text == name), None)
