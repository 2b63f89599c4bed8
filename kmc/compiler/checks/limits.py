"""The limits of compiled code: a spec that exceeds one is refused at the author's line, before anything is compiled.

A set is a mask of a few words, as are the keys of a partial map, or a list of some members; a number stays within
2**62; a mask of properties is one word.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from math import prod
from typing import Any

from kmc.actions.action import Action
from kmc.compiler.lowering.arithmetic import NUMBER_MAX
from kmc.errors import Span, SpecError
from kmc.frontend.model import Model
from kmc.invariants.kinds import PROPERTIES_MAX, SHOWN
from kmc.lang.domains import UNCOUNTED, describe, members
from kmc.lang.tree import tree_of
from kmc.lang.types import (
    IntType,
    MapType,
    MessageBagType,
    MessageSetType,
    PairType,
    RecordType,
    SeqType,
    SetType,
    Type,
    UnboundedInt,
    UnionType,
    shapes_of,
)
from kmc.runtime.state_layout import (
    KEYS_MAX,
    MASK_MAX,
    WORD,
    is_listed,
    is_numbered,
    is_plain_key,
    key_count,
    layout_of,
    list_type,
    scalar_count,
)
from kmc.spec.places import span_of

INSTANCES_MAX = (1 << 16) - 1
"""The number of instances of actions, with the initial states, that a successor's 16 bits can distinguish."""


MEMBERS_MAX = 256
"""The members of a set that is stored as a list: code that inserts one has a step for each."""

LIST_WORDS_MAX = 512
"""The words of a set that is stored as a list."""

_SETS_OF_RECORDS = "an example: docs/language.md, Messages without a sender or a receiver, and sets of records"


def check_fits(model: Model) -> None:
    """Raise SpecError (KMC803 to KMC806) for the first limit of compiled code that a spec exceeds."""
    _check_record(model.spec.state_class, model.spec.files, set())
    for action in model.spec.actions:
        for parameter in action.parameters:
            problem = _problem(parameter.type) if isinstance(parameter.type, PairType) else None
            if problem is not None:
                raise SpecError(problem[0], problem[1], action.span, problem[2])
    for properties in map(model.of, SHOWN):
        if len(properties) > PROPERTIES_MAX:
            first = properties[PROPERTIES_MAX]
            message = f"{first.name} is one too many: compiled code tests at most {PROPERTIES_MAX} of a kind"
            raise SpecError("KMC806", message, first.span, "join some with and, or check them in two models")


def check_instances(actions: Iterable[Action]) -> None:
    """Raise SpecError (KMC807) if actions have more instances than a successor can distinguish."""
    count = 0
    for action in actions:
        count += prod(len(members(parameter.type)) for parameter in action.parameters)
        if count > INSTANCES_MAX:
            message = f"with {action.title}, actions have {count:,} instances: compiled code counts {INSTANCES_MAX:,}"
            advice = "narrow the domains of its parameters, or run with --engine python"
            raise SpecError("KMC807", message, action.span, advice)


def _check_record(cls: Any, files: Collection[str], seen: set[Any]) -> None:
    if cls in seen:
        return
    seen.add(cls)
    for name, declared in cls.fields.items():
        for inner in _parts(declared):
            problem = _problem(inner) or _inner_network(inner, cls, declared)
            if problem is not None:
                code, message, advice = problem
                is_record = isinstance(inner, SetType) and isinstance(inner.element, RecordType)
                notes = (_SETS_OF_RECORDS,) if is_record else ()
                raise SpecError(code, message, _field_span(cls, name, files), advice, notes)
            if isinstance(inner, RecordType):
                for shape in inner.cls.shapes:
                    _check_record(shape, files, seen)


def _parts(declared: Type) -> Iterator[Type]:
    """A type, and the types inside of it."""
    yield declared
    match declared:
        case SetType(inner) | SeqType(inner):
            yield from _parts(inner)
        case MapType(key, value):
            yield from _parts(key)
            yield from _parts(value)
        case UnionType(alternatives):
            for alternative in alternatives:
                yield from _parts(alternative)
        case MessageSetType(messages) | MessageBagType(messages):
            for shape in shapes_of(messages):
                yield RecordType(shape)


def _problem(declared: Type) -> tuple[str, str, str] | None:
    match declared:
        case SetType() if is_listed(declared):
            return _problem_of_list(declared)
        case PairType(element) if scalar_count(element) > WORD:
            message = f"a pair is of at most {WORD} possible identifiers; {_has_more(element)}"
            return "KMC804", message, "write a record of two fields"
        case MapType(UnboundedInt(), _, True):
            return "KMC804", "a map has a value for each key, and int has no bounds", "write Int(least, greatest)"
        case MapType(key) if not is_numbered(key):
            message = f"{describe(key)} has more values than compiled code numbers as keys"
            return "KMC804", message, "narrow the domain of its keys, or run with --engine python"
        case MapType(key, _, True) if key_count(key) > KEYS_MAX:
            message = f"a map has at most {KEYS_MAX:,} possible keys; {_has_more(key)}"
            return "KMC804", message, "narrow the domain of its keys, or run with --engine python"
        case MapType(key, _, total) if not total and key_count(key) > MASK_MAX:
            message = f"a partial map has at most {MASK_MAX:,} possible keys; {_has_more(key)}"
            return "KMC804", message, "narrow the domain of its keys, or use Map with Opt values"
        case IntType(low, high) if max(abs(low), abs(high)) > NUMBER_MAX:
            return "KMC805", f"{describe(declared)} goes beyond 2**62", "narrow the domain, or run with --engine python"
    return None


def _problem_of_list(declared: SetType) -> tuple[str, str, str] | None:
    """The problem of a set that is stored as a list, which is as long as a search needs it."""
    members = list_type(declared).capacity
    try:
        words = layout_of(declared).words
    except SpecError:
        return None  # a problem of its elements, which are looked at, too
    if members <= MEMBERS_MAX and words <= LIST_WORDS_MAX:
        return None
    message = (
        f"a set of elements with more than {MASK_MAX:,} possible values is stored as a list of at most "
        f"{MEMBERS_MAX} members and {LIST_WORDS_MAX} words; {describe(declared)} needs {members} and {words:,}"
    )
    return "KMC804", message, _set_advice(declared.element)


def _has_more(declared: Type) -> str:
    count = key_count(declared)
    return f"{describe(declared)} has {f'{count:,}' if count < UNCOUNTED else 'more than can be counted'}"


def _set_advice(element: Type) -> str:
    """The type that compiled code stores in the place of a set, with the same states and steps."""
    if is_plain_key(element):
        return "narrow the domain of its elements, or run with --engine python"
    if isinstance(element, RecordType):
        network = f"MessageSet[{describe(element)}, capacity]"
        return f"narrow its fields, or as a field of State write {network}, with the same states: send(x), discard(x)"
    return "narrow the domain of its elements, or in State write a MessageSet of records that hold each of them"


def _inner_network(inner: Type, cls: Any, declared: Type) -> tuple[str, str, str] | None:
    """The problem of a network that is not itself a field of the state."""
    if not isinstance(inner, MessageSetType | MessageBagType) or (inner is declared and cls.__name__ == "State"):
        return None
    owner = cls.__name__
    if owner == "State":
        key = declared.key if isinstance(declared, MapType) else None
        owner = getattr(getattr(key, "cls", None), "__name__", "owner")
    advice = f"declare one network in State, of records that also name their {owner}: the states are the same"
    return "KMC803", "compiled code stores a network only as a field of State", advice


def _field_span(cls: Any, name: str, files: Collection[str]) -> Span | None:
    """The span of a field's declaration."""
    for path in files:
        tree = tree_of(path)
        for node in tree.body if tree is not None else ():
            if isinstance(node, ast.ClassDef) and node.name == cls.__name__:
                for statement in node.body:
                    if isinstance(statement, ast.AnnAssign) and ast.unparse(statement.target) == name:
                        return span_of(statement.annotation, path)
    return None
