"""The temporal problem of a model, or the reason why it cannot be checked: constructs that would make a verdict wrong
are refused.
"""

from __future__ import annotations

from collections.abc import Iterable

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
    if model.symmetry or model.view is not None:
        raise _reduced(model, names)
    problem = problem_of(model)
    for name in problem.tautologies:
        raise TautologyError(
            "KMC353",
            f"{name} is true of every behavior of this model, so checking it says nothing",
            _place(model.file.properties, name),
            "give constants under which it asks for something, or do not name it: it may speak of an empty set",
        )
    return problem


def _reduced(model: Model, names: str) -> ModelError:
    if model.view is not None:
        word = model.file.view
        reason = (
            f"the view {model.view.name} merges states that differ in what it drops, so a behavior among the merged "
            f"states may be none of the spec"
        )
    else:
        word = model.file.symmetry[0]
        reason = (
            f"the symmetry {model.symmetry[0].name} merges permuted states, so a cycle among the merged states may "
            f"take other processes each time around, and fairness of one process is lost"
        )
    return ModelError(
        "KMC352",
        f"a temporal property cannot be checked with {word.text if word else 'this'}: {names}",
        word.span if word else None,
        "remove it from this model, or check temporal properties in a model of their own",
        (reason,),
    )


def _place(words: Iterable[Word], name: str) -> Span | None:
    return next((word.span for word in words if word.text == name), None)
