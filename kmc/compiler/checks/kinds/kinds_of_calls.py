"""The kinds that calls give: helpers, records, functions of the language, methods of values."""

from __future__ import annotations

import ast
from typing import Any

from kmc.compiler.checks.kinds.kind import (
    ANYTHING,
    NOTHING,
    NUMBER,
    Kind,
    Kinds,
    any_of,
    elements,
    in_words,
    of_value,
    one,
)
from kmc.compiler.checks.kinds.kind_inference import YIELDED_FOR, Inference, LocalKinds
from kmc.compiler.checks.kinds.kind_mistakes import attempted, not_a_key, not_stored
from kmc.compiler.checks.kinds.kind_mixtures import never_held
from kmc.compiler.checks.kinds.kinds_of_words import WordCall, kinds_of_word
from kmc.compiler.values.scope import is_spec_function, syntax
from kmc.errors import DomainError, EvaluationError, did_you_mean
from kmc.lang.admission import TypedNetwork
from kmc.lang.domains import describe
from kmc.lang.maps import MapValue
from kmc.lang.records import Record
from kmc.lang.tree import yields
from kmc.lang.types import RecordMeta, shapes_of

_SENDING = ("send", "send_all", "add", "add_all")
_OF_ONE_MESSAGE = ("send", "add", "discard", "take", "count")


def call(inference: Inference, node: ast.Call, scope: LocalKinds) -> Kinds:
    """The kinds of a call's result."""
    match node.func:
        case ast.Attribute(value=value, attr=name):
            return _method(inference, node, name, inference.evaluate(value, scope), scope)
        case ast.Name(id=name) if name not in scope.names:
            callee = scope.frame.globals.get(name)
            if is_spec_function(callee):
                return _helper(inference, callee, node, scope)
            if isinstance(callee, RecordMeta):
                return _record(inference, callee, node, scope)
            return _word(inference, name, node, scope)
    _evaluate_arguments(inference, node, scope)
    return ANYTHING


def _evaluate_arguments(inference: Inference, node: ast.Call, scope: LocalKinds) -> list[Kinds]:
    """The kinds of the arguments by position; those by name are evaluated too."""
    for keyword in node.keywords:
        if not isinstance(keyword.value, ast.Lambda):
            inference.evaluate(keyword.value, scope)
    return [
        ANYTHING if isinstance(argument, ast.Lambda) else inference.evaluate(argument, scope) for argument in node.args
    ]


def _helper(inference: Inference, function: Any, node: ast.Call, scope: LocalKinds) -> Kinds:
    giving = scope.frame.giving if YIELDED_FOR in scope.names else None
    scope = LocalKinds(scope.frame, {name: kinds for name, kinds in scope.names.items() if name != YIELDED_FOR})
    written = syntax(function)
    names = [argument.arg for argument in written.args.args]
    given = dict(zip(names, [inference.evaluate(argument, scope) for argument in node.args], strict=False))
    given |= {keyword.arg: inference.evaluate(keyword.value, scope) for keyword in node.keywords if keyword.arg}
    result = inference.called(function, given, giving)
    if isinstance(written, ast.FunctionDef) and yields(written):
        return one("generator", result.yields)
    return result.returns


def _record(inference: Inference, cls: Any, node: ast.Call, scope: LocalKinds) -> Kinds:
    _store_fields(inference, one("record", of=cls), node, scope)
    return one("record", of=cls)


def _store_fields(inference: Inference, owners: Kinds, node: ast.Call, scope: LocalKinds) -> None:
    """Refuse a value that no record of these kinds accepts in its field."""
    for keyword in node.keywords:
        kinds = inference.evaluate(keyword.value, scope)
        errors: list[EvaluationError | Kind | None] = []
        for kind in owners or ():
            declared = kind.of.fields.get(keyword.arg) if kind.word == "record" else None
            if kind.word == "record" and declared is None:
                errors.append(kind)
            if declared is not None:
                owner = f"'{keyword.arg}' of {kind.of.__name__}"
                errors.append(not_stored(kinds, declared, owner, keyword.value))
        if errors and all(errors):
            first = errors[0]
            if isinstance(first, Kind):
                inference.refuse(_without_field(first, str(keyword.arg)), keyword, scope)
            else:
                inference.refuse(first, keyword.value, scope)


def _without_field(kind: Kind, name: str) -> EvaluationError:
    """The error of a record without a field; the search for a near word makes it expensive."""
    advice = did_you_mean(name, kind.of.fields)
    return EvaluationError("KMC212", f"{kind.of.__name__} has no field '{name}'", help=advice)


def _word(inference: Inference, name: str, node: ast.Call, scope: LocalKinds) -> Kinds:
    given = _evaluate_arguments(inference, node, scope)
    return kinds_of_word(WordCall(inference, name, node, given, scope))


def _method(inference: Inference, node: ast.Call, name: str, owners: Kinds, scope: LocalKinds) -> Kinds:
    if not owners:
        _evaluate_arguments(inference, node, scope)
        return ANYTHING
    assert isinstance(node.func, ast.Attribute)
    if name == "set":
        inference.refuse(attempted(lambda owner: _set(owner, node), owners), node, scope)
    if name == "set" and any(kind.word == "record" for kind in owners):
        _store_fields(inference, owners, node, scope)
        return frozenset(kind for kind in owners if kind.word == "record")
    if not all(kind.word == "symbols" for kind in owners):
        inference.evaluate(node.func, scope)
    owners = owners - {Kind("None")} or owners
    words = {kind.word for kind in owners}
    if words == {"network"}:
        return _of_network(inference, node, name, owners, scope)
    given = _evaluate_arguments(inference, node, scope)
    if words == {"map"}:
        return _of_map(inference, node, name, owners, given, scope)
    if words == {"seq"}:
        return _of_sequence(name, owners, given)
    if words == {"symbols"} and name in ("at", "fresh"):
        return any_of(one("symbol", of=kind.of) for kind in owners)
    return ANYTHING


def _set(owner: Any, node: ast.Call) -> None:
    """Fail as `set` does if it gets values where it needs names, or the other way round."""
    by_name = {str(keyword.arg): None for keyword in node.keywords}
    if isinstance(owner, Record) and node.args:
        owner.set(*node.args, **by_name)
    if isinstance(owner, MapValue) and not node.args:
        owner.set(**by_name)


def _of_map(
    inference: Inference, node: ast.Call, name: str, owners: frozenset[Kind], given: list[Kinds], scope: LocalKinds
) -> Kinds:
    keys, values = any_of(kind.parts[0] for kind in owners), any_of(kind.parts[1] for kind in owners)
    assert isinstance(node.func, ast.Attribute)
    owner = node.func.value
    match name, given:
        case "set" | "without", [key, *_]:
            inference.refuse(not_a_key(key, keys, node.args[0], owner), node.args[0], scope)
            return one("map", keys, any_of([values, *given[1:2]]))
        case "add", [key, value]:
            return one("map", any_of([keys, key]), any_of([values, value]))
        case "keys", []:
            return one("set", keys)
        case "values", []:
            return one("generator", values)
        case "items", []:
            return one("generator", one("tuple", keys, values))
        case _:
            return ANYTHING


def _of_sequence(name: str, owners: frozenset[Kind], given: list[Kinds]) -> Kinds:
    inner = any_of(kind.parts[0] for kind in owners)
    match name:
        case "at":
            return inner
        case "append":
            return one("seq", any_of([inner, *given[:1]]))
        case "upto":
            return one("seq", inner)
        case "offsets":
            return one("range")
        case _:
            return ANYTHING


def _of_network(inference: Inference, node: ast.Call, name: str, owners: frozenset[Kind], scope: LocalKinds) -> Kinds:
    messages = elements(owners)
    if name == "keep" and node.args and isinstance(node.args[0], ast.Lambda):
        wanted = node.args[0]
        inner = scope.child(**{argument.arg: messages for argument in wanted.args.args})
        inference.condition(wanted.body, inner)
        return owners
    given = _evaluate_arguments(inference, node, scope)
    if name.endswith("_all") and given:
        inference.refuse(_not_a_set(name, given[0]), node, scope)
    if name == "of":
        inference.refuse(_not_a_message_type(node.args[0], scope), node.args[0], scope)
        if _shapes(node.args[0], messages, scope) == NOTHING and messages:
            assert isinstance(node.func, ast.Attribute)
            inference.refuse(never_held(messages, node.func.value, node.args[0]), node.args[0], scope)
    for kind in owners if len(owners) == 1 and given else ():
        if name in _OF_ONE_MESSAGE:
            inference.refuse(_not_a_message(kind.of, given[0], node.func), node.args[0], scope)
        if name in _SENDING:
            sent = elements(given[0]) if name.endswith("_all") else given[0]
            inference.refuse(_not_sent(kind.of, sent, node.func), node.args[0], scope)
    match name:
        case "count":
            return NUMBER
        case "counts":
            return one("generator", one("tuple", messages, NUMBER))
        case "of":
            return one("set", _shapes(node.args[0], messages, scope) if node.args else messages)
        case _:
            return owners


def _shapes(named: ast.expr, messages: Kinds, scope: LocalKinds) -> Kinds:
    cls = scope.frame.globals.get(named.id) if isinstance(named, ast.Name) and named.id not in scope.names else None
    if not isinstance(cls, RecordMeta):
        return messages
    return frozenset(kind for kind in messages or () if kind.of in cls.shapes)


def _not_a_set(name: str, given: Kinds) -> EvaluationError | None:
    """The error of `send_all` where a single message is given."""
    error = attempted(iter, given)
    if error is None or not given or not all(kind.word == "record" for kind in given):
        return error
    single = name.removesuffix("_all")
    message = f"'{name}' takes a set of messages, not {in_words(given)}"
    return EvaluationError(error.code, message, help=f"write {single}(...) for one message")


def _not_a_message_type(named: ast.expr, scope: LocalKinds) -> EvaluationError | None:
    """The error of `of` where a type is given that is not one of records."""
    cls = scope.frame.globals.get(named.id) if isinstance(named, ast.Name) and named.id not in scope.names else None
    if isinstance(cls, RecordMeta) or not isinstance(cls, type):
        return None
    message = f"'of' takes a type of messages, not {in_words(of_value(cls))}"
    return EvaluationError("KMC248", message, help="write network.of(VoteRequest)")


def _not_a_message(declared: Any, given: Kinds, method: ast.expr) -> EvaluationError | None:
    """The error of a sent or received value that is not a record, so never a message."""
    if not given or any(kind.word == "record" for kind in given):
        return None
    assert isinstance(method, ast.Attribute)
    holds = " | ".join(describe(message) for message in declared.messages)
    message = f"'{ast.unparse(method.value)}' holds {holds}, not {in_words(given)}"
    every = f"write {method.attr}_all(...) for a set of messages" if f"{method.attr}_all" in _SENDING else None
    sets = all(kind.word == "set" for kind in given)
    return EvaluationError("KMC206", message, help=every if sets and every else f"'{method.attr}' takes a message")


def _not_sent(declared: Any, sent: Kinds, method: ast.expr) -> EvaluationError | None:
    """The error of messages that a network never holds."""
    classes = set(shapes_of(declared.messages))
    if not sent or any(kind.of in classes for kind in sent):
        return None

    def send(message: Any) -> None:
        try:
            TypedNetwork(declared).refuse(message, 0, 0)
        except DomainError as error:
            assert isinstance(method, ast.Attribute)
            message = error.message.replace("this network", f"'{ast.unparse(method.value)}'")
            raise EvaluationError(error.code, message, None, error.help) from None

    return attempted(send, sent)
