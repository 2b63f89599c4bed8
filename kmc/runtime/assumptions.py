"""The specs whose compiled code assumes something: the range of integers, the number of members of listed sets, or the
levels of helpers that call themselves.
"""

from __future__ import annotations

from kmc.errors import SpecError
from kmc.frontend.loader import Spec
from kmc.frontend.unbounded_integers import has_type, has_unbounded_integers
from kmc.lang.assumed_range import WIDEST
from kmc.lang.recursion import result_type
from kmc.lang.types import SetType, Type
from kmc.runtime.state_layout import is_listed


def has_assumptions(spec: Spec) -> bool:
    """Return whether compiled code may leave what it assumes, so that a search starts again with more."""
    return has_unbounded_integers(spec) or has_listed_sets(spec) or has_recursion(spec)


def has_recursion(spec: Spec) -> bool:
    """Return whether a spec, or one that it refines, has a helper that calls itself."""
    declared = (value for names in spec.modules.values() for value in names.values())
    return any(result_type(value) is not None for value in declared) or any(map(has_recursion, spec.refined.values()))


def has_listed_sets(spec: Spec) -> bool:
    """Return whether a record of a spec has a set that is stored as a list; one of `int` is, in a wide range."""
    return has_type(spec, _is_listed)


def too_many_members(place: str = "") -> SpecError:
    """The error of a model with a view in which a set has more members than a list has room for.

    Which of the states of one view is expanded depends on the layout, so that no search starts again with longer lists.
    """
    message = f"a set has more than {WIDEST.members} members, the most that are stored of one in a model with a view"
    where = f"{place}: " if place else ""
    return SpecError("KMC808", where + message, help="narrow the domain of its elements, or check without the view")


def _is_listed(declared: Type) -> bool:
    return isinstance(declared, SetType) and is_listed(declared)
