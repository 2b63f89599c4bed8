"""The warnings before a check runs: fields that a view forgets, comparisons without a meaning, members of one name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import combinations

from kmc.compiler.checks.kinds.spec_kinds import check_kinds
from kmc.compiler.checks.view_reads import view_warnings
from kmc.frontend.loader import Spec
from kmc.frontend.model import Model
from kmc.lang.enums import Enum, EnumMeta
from kmc.lang.types import EnumType, MapType, RecordMeta, SeqType, SetType, Type, UnionType

_ShownPath = Callable[[str], str]


def model_warnings(model: Model, shown_path: _ShownPath) -> tuple[str, ...]:
    """The warnings about a model, apart from its result; `shown_path` words a file's path."""
    return (*view_warnings(model, shown_path), *spec_warnings(model.spec, shown_path))


def spec_warnings(spec: Spec, shown_path: _ShownPath) -> tuple[str, ...]:
    """The warnings about a spec, whatever the model. Raises SpecError for a mistake of kind."""
    comparisons = [f"{why} ({shown_path(path)}:{line})." for path, line, why in check_kinds(spec)]
    return (*comparisons, *_told_apart(spec))


def shared_members(spec: Spec) -> Iterator[str]:
    """A warning for each name that members of several enumerations share."""
    owners: dict[str, list[str]] = defaultdict(list)
    for cls in _enums(spec):
        for member in cls.members:
            owners[member.title].append(cls.__name__)
    for title, names in owners.items():
        if len(names) > 1:
            owners_of_it = " and of ".join(names)
            yield f"{title} is a member of {owners_of_it}: different values here, and one model value in TLA+."


def _enums(spec: Spec) -> list[EnumMeta]:
    """The enumerations of a spec in the order of its files."""
    values = [value for names in spec.modules.values() for value in names.values()]
    return list(dict.fromkeys(filter(_is_enum, values)))


def _is_enum(value: object) -> bool:
    return isinstance(value, EnumMeta) and value is not Enum


def _told_apart(spec: Spec) -> Iterator[str]:
    """A warning for each field that holds members of two enumerations of one name: a trace shows them alike."""
    records = [value for names in spec.modules.values() for value in names.values() if isinstance(value, RecordMeta)]
    for cls in dict.fromkeys(records):
        for name, declared in cls.fields.items():
            for title, first, second in _alike(declared):
                yield (
                    f"'{name}' of {cls.__name__} may be {title} of {first} and {title} of {second}: they are never "
                    "equal, and a trace shows them alike."
                )


def _alike(declared: Type) -> Iterator[tuple[str, str, str]]:
    match declared:
        case UnionType(alternatives, _):
            enums = [kind.cls for kind in alternatives if isinstance(kind, EnumType)]
            for first, second in combinations(enums, 2):
                titles = {member.title for member in second.members}
                for member in first.members:
                    if member.title in titles:
                        yield member.title, first.__name__, second.__name__
        case SetType(element) | SeqType(element, _):
            yield from _alike(element)
        case MapType(_, value, _):
            yield from _alike(value)
