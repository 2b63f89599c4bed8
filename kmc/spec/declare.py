"""The object `spec`, whose decorators and calls register the actions and properties of a spec package.

Specs are executed once per model; while that happens, `spec` collects into the builder of the spec being loaded.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from kmc.actions.abstraction import Abstraction
from kmc.actions.action import Action, Fairness, Parameter
from kmc.errors import AssumptionError, Span, SpecError, did_you_mean
from kmc.invariants.properties import (
    ActionConstraint,
    ActionProperty,
    Constraint,
    Invariant,
    Predicate,
    Reachable,
    Refinement,
    SymmetrySet,
    View,
)
from kmc.lang.constants import has_placeholders
from kmc.lang.domains import members
from kmc.lang.errors.blame import caller_span
from kmc.lang.guards import truth
from kmc.lang.maps import MapValue
from kmc.lang.naming import camel_case
from kmc.lang.records import Message
from kmc.lang.showing import shown
from kmc.lang.tree import definition_of
from kmc.lang.types import IdentMeta, RecordMeta, RecordType, UnionType, as_type
from kmc.liveness.formulas import Formula, Specification, TemporalProperty
from kmc.liveness.vocabulary import as_formula
from kmc.spec.places import span_of
from kmc.spec.variables import VariableTable, variable_table

F = TypeVar("F", bound=Callable[..., Any])
P = TypeVar("P", bound=Predicate)

Declared: TypeAlias = Predicate | TemporalProperty | View | SymmetrySet | Abstraction
"""The declarations of a spec that a model may choose by their names."""

WEAK = Fairness.WEAK
STRONG = Fairness.STRONG


@dataclass(slots=True)
class Declarations:
    """Everything that a spec has declared so far, in the order of declaration.

    `refined` are the declarations of the specs that it refines, by their names.
    """

    init: Callable[[], Iterator[Any]] | None = None
    actions: list[Action] = field(default_factory=list)
    properties: dict[str, Declared] = field(default_factory=dict)
    variables: VariableTable | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    columns_span: Span | None = None
    init_name: str = "Init"
    next_name: str = "Next"
    specification_names: tuple[str, ...] = ("Spec",)
    specifications: dict[str, Specification] = field(default_factory=dict)
    majorities: list[Callable[..., Any]] = field(default_factory=list)
    refined: dict[str, Declarations] = field(default_factory=dict)


_LOADING: ContextVar[Declarations] = ContextVar("kmc_declarations")


@contextmanager
def declarations() -> Iterator[Declarations]:
    """Collect the declarations of the imports in the body."""
    collected = Declarations()
    token = _LOADING.set(collected)
    try:
        yield collected
    finally:
        _LOADING.reset(token)


@contextmanager
def declared_in(collected: Declarations, abstract: str) -> Iterator[None]:
    """Collect the declarations of the body for the spec `abstract`, which `collected` refines; '' for that itself."""
    token = _LOADING.set(collected.refined.setdefault(abstract, Declarations()) if abstract else collected)
    try:
        yield
    finally:
        _LOADING.reset(token)


def _current() -> Declarations:
    spec_loading = _LOADING.get(None)
    if spec_loading is None:
        raise SpecError("KMC161", "a spec is loaded by kmc, not imported", help="run: kmc check <folder>")
    return spec_loading


def definition_span(function: Callable[..., Any]) -> Span:
    """The place of a function's `def name`."""
    code = getattr(function, "__code__", None)
    if code is None:
        advice = "write the decorator above a def"
        raise SpecError("KMC167", f"{shown(function)} is not a function", caller_span(), advice)
    start = Span(code.co_filename, code.co_firstlineno)
    try:
        lines = Path(code.co_filename).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return start
    for line_number, line in enumerate(lines[code.co_firstlineno - 1 :], start=code.co_firstlineno):
        column = line.find(f"def {code.co_name}")
        if column >= 0:
            name_column = column + 5
            return Span(code.co_filename, line_number, name_column, line_number, name_column + len(code.co_name))
    return start


class SpecFacade:
    """The decorators of a spec; see the documentation of each."""

    def init(self, function: F) -> F:
        """`@spec.init`: a generator of the initial states."""
        current = _current()
        if current.init is not None:
            advice = "keep one; it may yield several states"
            raise SpecError("KMC171", "the initial states are declared twice", definition_span(function), advice)
        _require_parameters(function, 0, "init()")
        current.init = function
        return function

    def action(
        self,
        function: F | None = None,
        *,
        fair: Fairness = Fairness.NONE,
        title: str | None = None,
        next: bool = True,
        in_tla: bool = True,
    ) -> Any:
        """`@spec.action` or `@spec.action(fair=WEAK)`: a generator `(state, parameter: Type, ...)` of successors.

        With `next=False` the action is not part of the next-state relation: only formulas and fairness name it. With
        `in_tla=False` the TLA+ spec has no such action, and `kmc conform` requires only that it takes no step there.
        """

        def register(function: F) -> F:
            _register_action(function, None, None, {}, fair, title, in_next=next, in_tla=in_tla)
            return function

        return register if function is None else register(function)

    def receive(
        self,
        message: Any,
        *,
        network: str | None = None,
        fair: Fairness = Fairness.NONE,
        title: str | None = None,
        in_tla: bool = True,
        **bindings: str,
    ) -> Callable[[F], F]:
        """`@spec.receive(VoteRequest, s="dest")`: a generator `(state, message, s)` for each deliverable message.

        `network` names the field of the state to receive from, by default the first network that holds the
        message; each binding makes a field of the message a parameter of the action. A parameter that has a type and
        no binding ranges over the type, as those of `@spec.action`. `in_tla` as for `@spec.action`.
        """

        def register(function: F) -> F:
            if not isinstance(message, RecordMeta) or not issubclass(message, Message):
                advice = "name a class that derives from Message"
                mistake = f"{getattr(message, '__name__', shown(message))} is not a message type"
                raise SpecError("KMC172", mistake, definition_span(function), advice)
            _register_action(function, message, network, bindings, fair, title, in_tla=in_tla)
            return function

        return register

    def invariant(self, function: F) -> F:
        """`@spec.invariant`: a Bool function of a state that must hold in all of them."""
        return _register(function, Invariant, 1)

    def action_property(self, function: F) -> F:
        """`@spec.action_property`: a Bool function of a state and its successor, TLA+'s [][A]_vars."""
        return _register(function, ActionProperty, 2)

    def constraint(self, function: F) -> F:
        """`@spec.constraint`: a Bool function of a state; states where it is false are checked but not explored."""
        return _register(function, Constraint, 1)

    def action_constraint(self, function: F) -> F:
        """`@spec.action_constraint`: a Bool function of a step; steps where it is false are not taken."""
        return _register(function, ActionConstraint, 2)

    def reachable(self, function: F) -> F:
        """`@spec.reachable`: a Bool function of a state that some reachable state must satisfy."""
        return _register(function, Reachable, 1)

    def abstraction(self, function: F) -> F:
        """`@spec.abstraction`: a function from a state to the state that stands for it, where a model chooses it.

        Its docstring says why no step and no property tells the two apart; `kmc check --verify-abstractions` checks it.
        """
        span = definition_span(function)
        if inspect.isgeneratorfunction(function):
            message = f"{function.__name__} yields; an abstraction returns one state"
            raise SpecError("KMC174", message, span, help="write return")
        _require_parameters(function, 1, f"{function.__name__}(st)")
        doc = inspect.getdoc(function)
        if not doc:
            message = f"{function.__name__} does not say why it loses nothing"
            advice = "write a docstring: why no step and no property tells a state from its image"
            raise SpecError("KMC166", message, span, advice)
        _add(Abstraction(function.__name__, function, span, doc), span)
        return function

    def refines(self, abstract: str) -> Callable[[F], F]:
        """`@spec.refines("voting")`: a function from a state to a state of the spec `../voting`, TLA+'s refinement.

        Each step must be a step of that spec or change nothing there, and each initial state one of its initial states.
        """
        _require_names(caller_span(), abstract)

        def register(function: F) -> F:
            span = definition_span(function)
            if inspect.isgeneratorfunction(function):
                message = f"{function.__name__} yields; a refinement mapping returns one state of {abstract}"
                raise SpecError("KMC720", message, span, help="write return")
            _require_parameters(function, 1, f"{function.__name__}(st)")
            doc = inspect.getdoc(function) or ""
            _add(Refinement(function.__name__, function, span, doc, abstract, function, function), span)
            return function

        return register

    def majority(self, function: F) -> F:
        """`@spec.majority`: a helper that defines a majority, so that traces show which members were one.

        Either a Bool function of the members that count and, if you like, of their ensemble; or the least number of
        members that are a majority of its one parameter, compared with a `count(... for member in ensemble)`. Checks
        do not depend on the decorator.
        """
        span = definition_span(function)
        if inspect.isgeneratorfunction(function):
            message = f"{function.__name__} yields; under @spec.majority it returns a Bool or a number"
            raise SpecError("KMC100", message, span, help="write return")
        if len(inspect.signature(function).parameters) not in (1, 2):
            message = f"{function.__name__} takes the members that count, and their ensemble if you like"
            usage = f"write def {function.__name__}(votes) or def {function.__name__}(votes, ensemble)"
            raise SpecError("KMC177", message, span, help=usage)
        _current().majorities.append(function)
        return function

    def liveness(self, function: F) -> F:
        """`@spec.liveness`: a function that returns a temporal formula."""
        span = definition_span(function)
        _require_parameters(function, 0, f"{function.__name__}()")
        formula = _formula_of(function, span)
        _add(TemporalProperty(function.__name__, formula, span, inspect.getdoc(function) or ""), span)
        return function

    def specification(self, function: F) -> F:
        """`@spec.specification`: a function that returns the fairness of a specification that a model may name."""
        span = definition_span(function)
        _require_parameters(function, 0, f"{function.__name__}()")
        known = _current().specifications
        if function.__name__ in known:
            raise SpecError("KMC175", f"'{function.__name__}' is declared twice", span, help="give each its own name")
        doc = inspect.getdoc(function) or ""
        known[function.__name__] = Specification(function.__name__, _formula_of(function, span), span, doc)
        return function

    def assume(self, condition: bool) -> None:
        """TLA+'s ASSUME: raises AssumptionError unless the constants of the model make `condition` true.

        Placeholders need not: a spec is described without a model too, and is never checked with them.
        """
        if not truth(condition) and not has_placeholders():
            raise AssumptionError(
                "KMC351",
                "this assumption of the spec is false in the model",
                caller_span(),
                help="change the constants that it names; `kmc specs` lists them with their meaning",
            )

    def view(self, name: str, drop: Iterable[str]) -> None:
        """Declare a view: states that differ only in the fields `drop` count as one."""
        span = caller_span()
        if isinstance(drop, str):
            raise SpecError("KMC170", "a view drops a list of fields", span, help=f'write drop=["{drop}"]')
        dropped = tuple(drop)
        _require_names(span, name, *dropped)
        _add(View(name, frozenset(dropped), span), span)

    def symmetry(self, name: str, *classes: Any) -> None:
        """Declare a symmetry set: all permutations of the members of each class."""
        span = caller_span()
        _require_names(span, name)
        for cls in classes:
            if not isinstance(cls, IdentMeta) or not cls.symmetric:
                message = f"{getattr(cls, '__name__', shown(cls))} is not a symmetric type of identifiers"
                raise SpecError("KMC173", message, span, help="declare it IdentSet(symmetric=True), and name the type")
        _add(SymmetrySet(name, classes, span), span)

    def names(self, *, init: str = "Init", next: str = "Next", specifications: Iterable[str] = ("Spec",)) -> None:
        """The names that a model file uses for the initial states, the next-state relation and their conjunction."""
        current = _current()
        _require_names(caller_span(), init, next, *specifications)
        current.init_name, current.next_name, current.specification_names = init, next, tuple(specifications)

    def variables(self, table: Any, *, fields: str = "snake_case", message_tag: str = "type") -> None:
        """The TLA+ variables: `{"currentEpoch": "servers[].current_epoch", "messages": "messages"}`.

        `map[].field` is the function from the keys of `map` to that field of its values. A path that ends in `?` is
        of a part that a model may switch off: where its integer has one value, there is no such variable. `fields`
        says how other record fields are written in TLA+ ("snake_case" or "camelCase"), `message_tag` which field names
        a message's type.
        """
        span = caller_span()
        if not isinstance(table, Mapping | MapValue):
            advice = 'write spec.variables({"tlaName": "field"})'
            raise SpecError("KMC169", "the variables are a map from names to fields", span, advice)
        pairs = dict(table.items())
        _require_names(span, *pairs, *pairs.values(), fields, message_tag)
        _current().variables = variable_table(pairs, fields, message_tag, span)

    def columns(self, table: Any) -> None:
        """The variables of each process that views of a trace show, title to TLA+ variable: `{"epoch":
        "currentEpoch"}`.

        A path leads into a record: `{"epoch": "node.epoch"}`. Of a sequence they show the length and the last element.
        Without this declaration, they show the first variables that are functions of the processes; of records, their
        first fields.
        """
        span = caller_span()
        if not isinstance(table, Mapping | MapValue):
            advice = 'write spec.columns({"epoch": "currentEpoch"})'
            raise SpecError("KMC169", "the columns are a map from titles to variables", span, advice)
        pairs = dict(table.items())
        _require_names(span, *pairs, *pairs.values())
        _current().columns, _current().columns_span = pairs, span


def _formula_of(function: Callable[[], Any], span: Span) -> Callable[[], Formula]:
    return lambda: as_formula(function(), span)


def _require_names(span: Span, *names: object) -> None:
    for name in names:
        if not isinstance(name, str):
            raise SpecError("KMC169", f"{shown(name)} is not a name", span, help="write names in quotes")


def _register(function: F, kind: type[P], states: int) -> F:
    span = definition_span(function)
    if inspect.isgeneratorfunction(function):
        raise SpecError("KMC174", f"{function.__name__} yields; a property returns a Bool", span, help="write return")
    _require_parameters(function, states, f"{function.__name__}({'st' if states == 1 else 'st, new'})")
    _add(kind(function.__name__, function, span, inspect.getdoc(function) or ""), span)
    return function


def _add(declared: Any, span: Span) -> None:
    known = _current().properties
    if declared.name in known:
        raise SpecError("KMC175", f"'{declared.name}' is declared twice", span, help="give each its own name")
    known[declared.name] = declared


def _require_parameters(function: Callable[..., Any], count: int, usage: str) -> None:
    if len(inspect.signature(function).parameters) != count:
        message = f"{function.__name__} takes {('no state', 'one state', 'a state and its successor')[count]}"
        raise SpecError("KMC177", message, definition_span(function), help=f"write def {usage}")


def _register_action(
    function: Callable[..., Any],
    message: RecordMeta | None,
    network: str | None,
    bindings: Mapping[str, str],
    fair: Fairness,
    title: str | None,
    *,
    in_next: bool = True,
    in_tla: bool = True,
) -> None:
    span = definition_span(function)
    names = list(inspect.signature(function).parameters)
    first = 1 if message is None else 2
    if len(names) < first:
        needed = "a state" if message is None else "a state and a message"
        usage = f"write def {function.__name__}({'st' if message is None else 'st, m'})"
        raise SpecError("KMC177", f"{function.__name__} takes {needed}", span, help=usage)
    if message is not None and not _may_be_message(function.__annotations__.get(names[1], message)):
        advice = f"the message comes after the state: def {function.__name__}({names[0]}, m, ...)"
        raise SpecError("KMC177", f"{function.__name__} takes a state and a message", span, help=advice)
    _require_names(span, *bindings.values(), *(name for name in (title, network) if name is not None))
    if not isinstance(fair, Fairness):
        raise SpecError("KMC168", f"fairness is not {shown(fair)}", span, help="write fair=WEAK or fair=STRONG")
    parameters = tuple(_parameter(function, name, message, bindings, span) for name in names[first:])
    unused = [name for name in bindings if name not in names[first:]]
    if unused:
        advice = f"write def {function.__name__}({', '.join([*names, unused[0]])})"
        unused_span = _binding_span(function, unused[0]) or span
        raise SpecError("KMC178", f"{function.__name__} has no parameter '{unused[0]}'", unused_span, advice)
    title = title or camel_case(function.__name__)
    current = _current()
    if any(action.title == title for action in current.actions):
        raise SpecError("KMC175", f"action '{title}' is declared twice", span, help="give each action its own name")
    doc = inspect.getdoc(function) or ""
    current.actions.append(
        Action(function.__name__, title, function, parameters, message, network, fair, span, doc, in_next, in_tla)
    )


def _may_be_message(annotation: Any) -> bool:
    declared = as_type(annotation, "the message")
    return isinstance(declared, RecordType | UnionType)


def _binding_span(function: Callable[..., Any], name: str) -> Span | None:
    """The place where the decorator `@spec.receive(...)` binds a parameter: the value behind `name=`."""
    code, definition = function.__code__, definition_of(function)
    for decorator in definition.decorator_list if definition is not None else ():
        if decorator.lineno == code.co_firstlineno and isinstance(decorator, ast.Call):
            return next((span_of(k.value, code.co_filename) for k in decorator.keywords if k.arg == name), None)
    return None


def _parameter(
    function: Callable[..., Any], name: str, message: RecordMeta | None, bindings: Mapping[str, str], span: Span
) -> Parameter:
    if message is not None and (name in bindings or name not in function.__annotations__):
        return _bound_parameter(function, name, message, bindings, span)
    if name not in function.__annotations__:
        advice = f"write {name}: TYPE, where TYPE says what it ranges over, such as a constant that is a set"
        raise SpecError("KMC180", f"parameter '{name}' of {function.__name__} has no type", span, advice)
    declared = as_type(function.__annotations__[name], f"parameter '{name}'")
    try:
        members(declared)
    except SpecError as error:
        raise error.at(span).noting(f"parameter '{name}' of {function.__name__}") from None
    return Parameter(name, declared)


def _bound_parameter(
    function: Callable[..., Any], name: str, message: RecordMeta, bindings: Mapping[str, str], span: Span
) -> Parameter:
    """The parameter of a receiving action that is a field of its message."""
    bound = bindings.get(name)
    if bound is None:
        ends = (getattr(message, "dest_field", None), getattr(message, "source_field", None))
        field = next((field for field in (*ends, *message.fields) if field is not None), "FIELD")
        advice = f'write @spec.receive({message.__name__}, {name}="{field}"), or {name}: TYPE for any value of a type'
        state, *others = function.__code__.co_varnames[: function.__code__.co_argcount]
        if others[0] in {*bindings, *function.__annotations__}:
            names = ", ".join([state, name, *(other for other in others if other != name)])
            advice = f"the message comes after the state: def {function.__name__}({names})"
        raise SpecError("KMC179", f"parameter '{name}' is bound to no field of the message", span, advice)
    if bound not in message.fields:
        message_text = f"{message.__name__} has no field '{bound}'"
        raise SpecError(
            "KMC179", message_text, _binding_span(function, name) or span, did_you_mean(bound, message.fields)
        )
    return Parameter(name, message.fields[bound], bound)


spec = SpecFacade()
"""The one that spec packages import."""
