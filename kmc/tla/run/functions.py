"""Closures of functions, records and tuples: constructors, application, EXCEPT."""

from __future__ import annotations

from typing import Any, assert_never

from kmc.errors import EvaluationError
from kmc.tla.resolved.nodes import (
    BoundRange,
    ExceptExpr,
    ExceptUpdate,
    FieldAccessExpr,
    FunctionApplicationExpr,
    FunctionConstructorExpr,
    RecordExpr,
    RecursiveFunctionExpr,
    TupleExpr,
)
from kmc.tla.run.compiling import NodeCompiler
from kmc.tla.run.frames import Code, Frame
from kmc.tla.run.lazy import LazyFunction, stored_value
from kmc.tla.run.logic import Binder, binder, slot_of
from kmc.tla.run.scopes import RunScope, Slot
from kmc.tla.values import functions
from kmc.tla.values.failures import wrong_kind
from kmc.tla.values.functions import domain_of_keys, function_of, has_argument, replaced
from kmc.tla.values.kinds import FunctionValue, SymbolicSet, Value
from kmc.tla.values.sets import AnySet, Interval, ProductSet, as_set, is_finite

FunctionNode = (
    FunctionConstructorExpr
    | RecursiveFunctionExpr
    | FunctionApplicationExpr
    | ExceptExpr
    | RecordExpr
    | FieldAccessExpr
    | TupleExpr
)


def value(compiler: NodeCompiler, node: FunctionNode, scope: RunScope) -> Code:
    """Compile a function, a record or a tuple, or what is read from one."""
    match node:
        case FunctionConstructorExpr():
            return _constructor(compiler, node, scope)
        case RecursiveFunctionExpr():
            return _recursive(compiler, node, scope)
        case FunctionApplicationExpr():
            return _application(compiler, node, scope)
        case ExceptExpr():
            return _except(compiler, node, scope)
        case RecordExpr():
            return _record(compiler, node, scope)
        case FieldAccessExpr():
            return _field(compiler, node, scope)
        case TupleExpr(items=items):
            return _tuple(tuple(compiler.stored(item, scope) for item in items))
        case _:
            assert_never(node)


def _tuple(items: tuple[Code, ...]) -> Code:
    if len(items) == 2:
        first, second = items
        return lambda frame: (first(frame), second(frame))
    return lambda frame: tuple([item(frame) for item in items])


def _record(compiler: NodeCompiler, node: RecordExpr, scope: RunScope) -> Code:
    codes = {name: compiler.stored(field, scope) for name, field in node.fields}
    domain = domain_of_keys(frozenset(codes))
    in_order = tuple(codes[str(name)] for name in domain.keys)
    return lambda frame: FunctionValue(domain, tuple([code(frame) for code in in_order]))


def _field(compiler: NodeCompiler, node: FieldAccessExpr, scope: RunScope) -> Code:
    record, name, place = compiler.value(node.record, scope), node.field, node.place

    def run(frame: Frame) -> Any:
        held = record(frame)
        if type(held) is FunctionValue:
            position = held.domain.index.get(name)
            if position is not None:
                return held.values[position]
        return _applied(held, name, place)

    return run


def _applied(function: Any, argument: Any, place: Any) -> Any:
    try:
        if isinstance(function, LazyFunction):
            return function.result(argument)
        return functions.applied(function, argument)
    except EvaluationError as error:
        raise error.at(place) from None


def _application(compiler: NodeCompiler, node: FunctionApplicationExpr, scope: RunScope) -> Code:
    function, argument, place = compiler.value(node.function, scope), compiler.stored(node.argument, scope), node.place

    def run(frame: Frame) -> Any:
        held = function(frame)
        given = argument(frame)
        if type(held) is FunctionValue:
            position = held.domain.index.get(given)
            if position is not None:
                return held.values[position]
        elif type(held) is tuple and type(given) is int and 0 < given <= len(held):
            return held[given - 1]
        return _applied(held, given, place)

    return run


def domain_code(compiler: NodeCompiler, ranges: tuple[BoundRange, ...], scope: RunScope) -> Code:
    """Compile the domain of a constructor: a set, or a product for several bindings."""
    codes = [
        compiler.value(bound.domain, scope) for bound in ranges for _ in ([0] if bound.is_pattern else bound.bindings)
    ]
    place = ranges[0].domain.place

    def one(frame: Frame) -> AnySet:
        held = codes[0](frame)
        if isinstance(held, (frozenset, SymbolicSet)):
            return held
        raise wrong_kind("[x \\in S |-> e]", "a set S", stored_value(held)).at(place)

    if len(codes) == 1:
        return one
    return lambda frame: ProductSet(tuple(as_set(code(frame), "[x \\in S |-> e]") for code in codes))


def _constructor(compiler: NodeCompiler, node: FunctionConstructorExpr, scope: RunScope) -> Code:
    r"""Compile `[x \in S |-> e]`; over a set without a list, it is lazy."""
    domain = domain_code(compiler, node.ranges, scope)
    inner, choices, bind = binder(compiler, node.ranges, scope)
    body = compiler.stored(node.body, inner)
    is_pattern = len(node.ranges) == 1 and node.ranges[0].is_pattern
    slot = slot_of(inner, node.ranges[0])
    is_simple = len(node.ranges) == 1 and len(node.ranges[0].bindings) == 1 and not is_pattern

    def simple(frame: Frame) -> Any:
        keys = domain(frame)
        images = []
        if type(keys) is frozenset:
            known = domain_of_keys(keys)
            for key in known.keys:
                frame[slot] = key
                images.append(body(frame))
            return tuple(images) if known.are_positions else FunctionValue(known, tuple(images))
        if type(keys) is Interval and (keys.low == 1 or keys.high < keys.low):
            for key in range(keys.low, keys.high + 1):
                frame[slot] = key
                images.append(body(frame))
            return tuple(images)
        return general(frame)

    def general(frame: Frame) -> Any:
        keys = domain(frame)
        if not is_finite(keys):
            return _lazy("[x \\in S |-> e]", keys, frame[:], bind, body, is_pattern)
        pairs: dict[Value, Value] = {}
        choice: Any
        for choice in choices(frame):
            bind(frame, choice)
            pairs[choice[0] if is_pattern else choice] = body(frame)
        return function_of(pairs)

    return simple if is_simple else general


def _lazy(name: str, keys: AnySet, frame: Frame, bind: Binder, body: Code, is_pattern: bool) -> LazyFunction:
    def evaluate(argument: Value) -> Value:
        own = frame[:]
        bind(own, (argument,) if is_pattern else argument)
        result: Value = body(own)
        return result

    return LazyFunction(name, keys, evaluate)


def _lazy_constructor(compiler: NodeCompiler, node: FunctionConstructorExpr, scope: RunScope, name: str) -> Code:
    r"""Compile `[y \in T |-> e]` as a lazy function: where it is `f[x]`, `e` may read other values of it, `f[x][y]`."""
    domain = domain_code(compiler, node.ranges, scope)
    inner, _, bind = binder(compiler, node.ranges, scope)
    body = compiler.stored(node.body, inner)
    is_pattern = len(node.ranges) == 1 and node.ranges[0].is_pattern
    return lambda frame: _lazy(name, domain(frame), frame[:], bind, body, is_pattern)


def _recursive(compiler: NodeCompiler, node: RecursiveFunctionExpr, scope: RunScope) -> Code:
    r"""Compile the function of `f[x \in S] == e`, in which `f` is the function itself."""
    domain = domain_code(compiler, node.ranges, scope)
    itself = scope.layout.fresh()
    scope = scope.binding({node.itself: Slot(itself, is_deferred=True)})
    inner, _, bind = binder(compiler, node.ranges, scope)
    if isinstance(node.body, FunctionConstructorExpr) and node.itself in compiler.analysis.facts(node.body.body).free:
        body = _lazy_constructor(compiler, node.body, inner, node.itself.name)
    else:
        body = compiler.stored(node.body, inner)
    is_pattern = len(node.ranges) == 1 and node.ranges[0].is_pattern
    name = node.itself.name

    def run(frame: Frame) -> LazyFunction:
        own = frame[:]
        function = own[itself] = _lazy(name, domain(frame), own, bind, body, is_pattern)
        return function

    return run


def _except(compiler: NodeCompiler, node: ExceptExpr, scope: RunScope) -> Code:
    """Compile EXCEPT; as in TLC, an update at an argument outside of the domain changes nothing."""
    function = compiler.stored(node.function, scope)
    updates = tuple(_update(compiler, update, scope) for update in node.updates)
    place = node.place

    def run(frame: Frame) -> Value:
        held: Value = function(frame)
        for path, slot, image in updates:
            arguments = [part(frame) for part in path]
            try:
                held = _updated(held, arguments, 0, frame, slot, image)
            except EvaluationError as error:
                raise error.at(place) from None
        return held

    return run


def _update(compiler: NodeCompiler, update: ExceptUpdate, scope: RunScope) -> tuple[tuple[Code, ...], int, Code]:
    path = tuple(compiler.stored(part, scope) for part in update.path)
    inner, slots = scope.slots((update.previous,))
    return path, slots[0], compiler.stored(update.value, inner)


def _updated(held: Value, arguments: list[Value], depth: int, frame: Frame, slot: int, image: Code) -> Value:
    argument = arguments[depth]
    if not has_argument(held, argument):
        return held
    before = functions.applied(held, argument)
    if depth + 1 < len(arguments):
        return replaced(held, argument, _updated(before, arguments, depth + 1, frame, slot, image))
    frame[slot] = before
    return replaced(held, argument, image(frame))
