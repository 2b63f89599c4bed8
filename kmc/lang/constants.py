"""Constants of a spec: declared once with type and meaning, given by a model. A value may be of any type but a network.

`MaxElections = constant("MaxElections", Int(0, 9), "How many elections may start")` evaluates to the value that the
model gives. Specs are executed once per model, inside `constants_of(...)`; a constant without a value there gets a
placeholder, so that all missing constants are reported together.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, TypeAlias, TypeGuard

from kmc.errors import DomainError, ModelError, Span, SpecError, did_you_mean
from kmc.lang.admission import admitter
from kmc.lang.constant_values import placeholder, value_of
from kmc.lang.domains import describe
from kmc.lang.idents import Ident, ident_class
from kmc.lang.naming import snake_case
from kmc.lang.showing import shown
from kmc.lang.tla import shortened
from kmc.lang.types import (
    BoolType,
    EnumType,
    IdentMeta,
    IdentType,
    IntType,
    MessageBagType,
    MessageSetType,
    Type,
    as_type,
)
from kmc.model_files.model_file import Assignment
from kmc.model_files.raw_values import ModelValue, Raw, RawOperator, RawSet, render_raw

Share: TypeAlias = Callable[[str], float]
"""The position of a constant's placeholder in its domain, from 0 (the least value) to 1."""

_UNSET = object()
_STAND_IN_IDENTS_MAX = 3


@dataclass(frozen=True, slots=True)
class IdentSet:
    """The type of a constant that is a set of identifiers: `Server = {n1, n2, n3}`."""

    symmetric: bool = False
    at_most: int = 16


@dataclass(frozen=True, slots=True)
class Operator:
    """The type of a constant that is an operator with `arity` parameters: `Better(_, _)`, `Better <- Longer`."""

    arity: int


@dataclass(frozen=True, slots=True)
class Constant:
    """A declared constant: its type and bounds in words, its meaning, its value in this model."""

    name: str
    domain: str
    meaning: str
    value: Any
    raw: Raw | None
    has_default: bool


@dataclass(slots=True)
class ConstantTable:
    """The constants of one model while its spec is being executed.

    Specs of which one refines the other share the constants that both declare; `owners` are the specs that declared
    one.
    """

    given: Mapping[str, Assignment]
    share: Share | None = None
    declared: dict[str, Constant] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    owner: str = ""
    owners: dict[str, set[str]] = field(default_factory=dict)

    @contextmanager
    def declared_in(self, owner: str) -> Iterator[None]:
        """Let the body declare constants for the spec `owner` that the spec of the model refines; '' for that spec."""
        before, self.owner = self.owner, owner
        try:
            yield
        finally:
            self.owner = before


_TABLE: ContextVar[ConstantTable] = ContextVar("kmc_constants")


@contextmanager
def constants_of(given: Mapping[str, Assignment], share: Share | None = None) -> Iterator[ConstantTable]:
    """Make `given` the values of the constants that the body declares; `share` chooses placeholders for the others."""
    table = ConstantTable(given, share)
    token = _TABLE.set(table)
    try:
        yield table
    finally:
        _TABLE.reset(token)


def constant(name: str, domain: Any, meaning: str, default: Any = _UNSET) -> Any:
    """Declare a constant and get its value in this model.

    `domain` is `IdentSet(...)`, or a type: `Bool`, `Int(low, high)`, `Set[Set[Server]]`, `Map[Server, Int(0, 3)]`, a
    record class. With a `default`, models may leave it out. `Name <- definition` in a model calls a function without
    parameters above the constant. With `Operator(2)` the value is itself a function above the constant, one with two
    parameters, and a model names it: `Name <- definition`. Raises ModelError when the model's value is outside the
    domain.
    """
    table = _TABLE.get(None)
    if table is None:
        raise SpecError("KMC161", "a spec is loaded by kmc, not imported", help="run: kmc check <folder>")
    if not (type(name) is str and name.isidentifier() and type(meaning) is str):
        advice = 'write constant("Name", Int(1, 9), "what it means")'
        raise SpecError("KMC166", "a constant needs a name and a meaning, both in quotes", help=advice)
    if table.owner in table.owners.setdefault(name, set()):
        raise SpecError("KMC162", f"constant '{name}' is declared twice", help="give each its own name")
    table.owners[name].add(table.owner)
    _check_domain(name, domain)
    assignment = table.given.get(name)
    raw = assignment.value if assignment else None
    known_names = sys._getframe(1).f_globals
    if isinstance(domain, Operator):
        value = _operator(table, name, domain, assignment, default, known_names)
    elif assignment is not None and isinstance(assignment.value, RawOperator):
        value = _defined(table, name, domain, assignment, known_names)
    elif assignment is not None:
        value = _convert(name, domain, assignment.value, assignment.span)
    elif default is not _UNSET:
        value = _default_value(table, name, domain, default)
    else:
        table.missing.extend({name}.difference(table.missing))
        value = _stand_in(table, name, domain)
    known = table.declared.get(name)
    if known is not None:
        value = _shared(known, domain, value)
    if known is None or not table.owner:
        table.declared[name] = Constant(name, _in_words(domain), meaning, value, raw, default is not _UNSET)
    return value


def spawned(name: str, count: int, *, started: str | None = None) -> type[Ident]:
    """A type of identifiers 1..`count` that come into use while the model runs: `ServerId.fresh(st.servers.keys())`.

    With `started`, the field of State whose keys are those in use, the type is symmetric: a model may permute them
    among themselves. Members that are not yet in use keep their places, so that the next one is the same in all
    permuted states.
    """
    if type(count) is not int or count < 1:
        message = f"spawned needs a positive number of identifiers, not {shown(count)}"
        raise SpecError("KMC163", message, help=f'write {name} = spawned("{name}", 4)')
    if started is not None and not (type(started) is str and started.isidentifier()):
        advice = f'write {name} = spawned("{name}", 4, started="servers")'
        raise SpecError("KMC163", "started is the name of a field of State", help=advice)
    titles = tuple(str(ordinal) for ordinal in range(1, count + 1))
    return ident_class(name, titles, symmetric=started is not None, spawned=True, started=started)


def _shared(known: Constant, domain: Any, value: Any) -> Any:
    """The value of a constant that another spec has declared too: its identifiers are the same in both.

    SpecError KMC721 if the other spec declares something that cannot be the same.
    """
    are_identifiers = isinstance(value, IdentMeta), isinstance(known.value, IdentMeta)
    if not any(are_identifiers):
        return value
    if not all(are_identifiers) or value.symmetric != known.value.symmetric:
        message = f"constant '{known.name}' is {_in_words(domain)} here, and {known.domain} in the other spec"
        raise SpecError("KMC721", message, help="declare it alike in the spec and in the one that it refines")
    return known.value


def _check_domain(name: str, domain: Any) -> None:
    if isinstance(domain, IdentSet):
        return
    if isinstance(domain, Operator):
        if type(domain.arity) is not int or domain.arity < 1:
            message = f"constant '{name}' is an operator with {shown(domain.arity)} parameters"
            raise SpecError(
                "KMC165", message, help="write Operator(2); without parameters, write the type of its value"
            )
        return
    if isinstance(as_type(domain, f"constant '{name}'"), MessageSetType | MessageBagType):
        message = f"constant '{name}' cannot have this domain: a network is a field of State"
        raise SpecError("KMC165", message, help="write Set[...] for a set of records")


def _check_arity(name: str, domain: Operator) -> None:
    if type(domain.arity) is not int or domain.arity < 1:
        message = f"constant '{name}' is an operator with {shown(domain.arity)} parameters"
        raise SpecError("KMC165", message, help="write Operator(2); without parameters, write the type of its value")


def _default_value(table: ConstantTable, name: str, domain: Any, default: Any) -> Any:
    try:
        return _checked_default(name, domain, default)
    except SpecError:
        if table.share is None or not table.missing:
            raise
        return _stand_in(table, name, domain)  # it may be made of placeholders


def _checked_default(name: str, domain: Any, default: Any) -> Any:
    if isinstance(domain, IdentSet):
        raise SpecError("KMC164", f"constant '{name}' cannot have a default", help="a model gives its identifiers")
    try:
        return admitter(as_type(domain, f"constant '{name}'"))(default)
    except DomainError as error:
        message = f"the default of constant '{name}': {error.message}"
        raise SpecError("KMC164", message, help="widen the bounds, or choose another default") from None


def _operator(
    table: ConstantTable,
    name: str,
    domain: Operator,
    given: Assignment | None,
    default: Any,
    known: Mapping[str, Any],
) -> FunctionType:
    """The function that a model gives a constant, or its default, among the names that its file knows by now."""
    fitting = {word: found for word, found in known.items() if _has_parameters(found, domain.arity)}
    if given is not None:
        return _named_operator(name, domain, given, fitting)
    if default is not _UNSET:
        return _default_operator(name, domain, default)
    if not fitting:
        message = f"constant '{name}' is {_in_words(domain)}, and no function above it has so many"
        raise SpecError("KMC165", message, help="write the functions that a model may name above the constant")
    table.missing.extend({name}.difference(table.missing))
    return next(iter(fitting.values()))


def _named_operator(
    name: str, domain: Operator, given: Assignment, fitting: Mapping[str, FunctionType]
) -> FunctionType:
    """The function that a model names, which may be named as in TLA+."""
    target = render_raw(given.value)
    found = next((fitting[word] for word in (target, snake_case(target)) if word in fitting), None)
    if found is not None and isinstance(given.value, RawOperator):
        return found
    message = f"constant '{name}' is {_in_words(domain)}, and {target} names none above it"
    advice = f"write {name} <- {next(iter(fitting), 'definition')}"
    if isinstance(given.value, RawOperator):
        advice = did_you_mean(target, [*fitting]) or advice
    elif _is_manifest(given.span):
        advice = f'write {name} = {{ definition = "{next(iter(fitting), "definition")}" }}'
    raise ModelError("KMC358", message, given.span, help=advice)


def _default_operator(name: str, domain: Operator, default: Any) -> FunctionType:
    if not _has_parameters(default, domain.arity):
        message = f"the default of constant '{name}' is {shown(default)}, not {_in_words(domain)}"
        raise SpecError("KMC164", message, help="give a function above the constant, without quotes")
    return default


def _has_parameters(value: Any, arity: int) -> TypeGuard[FunctionType]:
    """Return whether a value is a function of the spec with `arity` parameters."""
    if not isinstance(value, FunctionType) or value.__module__.startswith("kmc."):
        return False
    return value.__code__.co_argcount == arity


def _in_words(domain: Any) -> str:
    if isinstance(domain, Operator):
        return "an operator with one parameter" if domain.arity == 1 else f"an operator with {domain.arity} parameters"
    if isinstance(domain, IdentSet):
        return f"a set of 1 to {domain.at_most} identifiers" + (", symmetric" if domain.symmetric else "")
    return describe(as_type(domain, "a constant"))


def _stand_in(table: ConstantTable, name: str, domain: Any) -> Any:
    share = table.share(name) if table.share is not None else 0
    if isinstance(domain, IdentSet):
        size = 1 + round(share * (min(domain.at_most, _STAND_IN_IDENTS_MAX) - 1))
        titles = tuple(f"{name}_{ordinal}" for ordinal in range(1, size + 1))
        return ident_class(name, titles, symmetric=domain.symmetric)
    return placeholder(as_type(domain, f"constant '{name}'"), share)


def has_placeholders() -> bool:
    """Return whether the spec that is being executed uses placeholders, because its model lacks constants."""
    table = _TABLE.get(None)
    return table is not None and bool(table.missing)


def _defined(table: ConstantTable, name: str, domain: Any, given: Assignment, known: Mapping[str, Any]) -> Any:
    """The value of the definition that a model gives a constant, among the names that its file knows by now."""
    target = render_raw(given.value)
    found = next((known[word] for word in (target, snake_case(target)) if word in known), _UNSET)
    if isinstance(domain, IdentSet):
        message = f"constant '{name}' is a set of identifiers, which no definition gives"
        raise ModelError("KMC358", message, given.span, help=f"write {name} = {{a, b, c}}")
    if found is _UNSET or (isinstance(found, FunctionType) and found.__code__.co_argcount):
        message = f"constant '{name}' has no definition '{target}' without parameters above it"
        advice = f"write def {snake_case(target)}(): return ... above the constant, or import it there"
        raise ModelError("KMC358", message, given.span, help=advice)
    try:
        return admitter(as_type(domain, ""))(found() if isinstance(found, FunctionType) else found)
    except DomainError as error:
        if table.missing:
            return _stand_in(table, name, domain)  # the definition may be made of placeholders
        message = f"constant '{name}' is given '{target}': {error.message}"
        raise ModelError("KMC341", message, given.span, help=error.help) from None


def _convert(name: str, domain: Any, raw: Raw, span: Span) -> Any:
    if isinstance(domain, IdentSet):
        return _identifiers(name, domain, raw, span)
    declared: Type = as_type(domain, f"constant '{name}'")
    try:
        return value_of(raw, declared)
    except DomainError as error:
        message = f"constant '{name}' is {shortened(_raw_text(raw))}, which is not in {describe(declared)}"
        is_scalar = isinstance(declared, BoolType | IntType | EnumType | IdentType)
        notes = () if is_scalar else (error.message,)
        raise ModelError("KMC341", message, span, help=_advice_on(raw, declared, span), notes=notes) from None


def _advice_on(raw: Raw, declared: Type, span: Span) -> str:
    """The advice for a value that a constant cannot have."""
    match declared:
        case BoolType():
            return "write true or false" if _is_manifest(span) else "write TRUE or FALSE"
        case EnumType(cls) | IdentType(cls) if isinstance(raw, ModelValue):
            return did_you_mean(raw.name, [member.title for member in cls.members])
        case _:
            return "the spec declares this domain; `kmc specs` lists the constants with their meaning"


def _is_manifest(span: Span) -> bool:
    return span.path.endswith(".toml")


def _identifiers(name: str, domain: IdentSet, raw: Raw, span: Span) -> type[Ident]:
    members = raw.members if isinstance(raw, RawSet) else ()
    titles = tuple(member.name for member in members if isinstance(member, ModelValue))
    if not titles or len(titles) != len(members) or len(titles) > domain.at_most:
        advice = f'write {name} = ["a", "b", "c"]' if _is_manifest(span) else f"write {name} = {{a, b, c}}"
        if isinstance(raw, RawSet) and not members:
            advice += "; for none, let a constant of type Bool say whether the only one does anything"
        message = f"constant '{name}' is {_raw_text(raw)}, not {_in_words(domain)}"
        raise ModelError("KMC342", message, span, help=advice)
    return ident_class(name, titles, symmetric=domain.symmetric)


def _raw_text(raw: Raw) -> str:
    match raw:
        case bool():
            return "TRUE" if raw else "FALSE"
        case ModelValue(name):
            return name
        case RawSet(members):
            return "{" + ", ".join(map(_raw_text, members)) + "}"
        case str():
            return f'"{raw}"'
        case _:
            return render_raw(raw)
