"""Operators applied: on a frame of their own, in the caller's frame, or by substitution of their arguments.

An operator of a module runs on a new frame and is compiled once. Its arguments are evaluated when they are first used.
A small one whose arguments are values or constants is compiled in the frame of its caller.
It is compiled in place, too, with some arguments substituted, if these are operators, have primes, or are read in
another state than the caller's. Definitions of a LET are compiled in place, too, since they use what is bound around
them; recursive ones run on a copy of that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kmc.errors import Span
from kmc.tla.resolved.nodes import (
    ApplyExpr,
    Argument,
    BoundExpr,
    BuiltinExpr,
    LambdaExpr,
    LetExpr,
    ModelValueExpr,
    NameBinding,
    NumberExpr,
    OperatorDefinition,
    OperatorReferenceExpr,
    StringExpr,
    VariableExpr,
)
from kmc.tla.run.compiling import NodeCompiler
from kmc.tla.run.formulas import Given, branching_function, is_branching_formula, is_unchanged, resolved_operator
from kmc.tla.run.frames import FIRST_SLOT, NEXT, STATE, Code, Deferred, Frame
from kmc.tla.run.hidden_ways import refuse_changed_argument, refuse_function_argument, refuse_read_formula
from kmc.tla.run.lazy import DEPTH_MAX
from kmc.tla.run.scopes import FrameLayout, LocalDefinition, Mode, RunScope, Slot, Substitute, Unit
from kmc.tla.values.failures import endless_recursion

_INLINED_WEIGHT_MAX = 60
_AT_ONCE = (NumberExpr, StringExpr, ModelValueExpr)
Made = Callable[[Frame], Any]
"""Makes what a slot holds for an argument: a value, or a `Deferred` one."""


# Names


def bound(compiler: NodeCompiler, binding: NameBinding, scope: RunScope) -> Code:
    """Compile the value of a binding."""
    meaning = scope.meanings[binding]
    if isinstance(meaning, Substitute):
        return compiler.value(meaning.argument, meaning.scope.on(scope))
    index = meaning.index
    if not meaning.is_deferred:
        return lambda frame: frame[index]

    def force(frame: Frame) -> Any:
        held = frame[index]
        if type(held) is Deferred:
            return held.force() if held.value is None else held.value
        return held

    return force


def let(
    compiler: NodeCompiler, node: LetExpr, scope: RunScope, in_action: bool = False
) -> tuple[RunScope, Callable[[Frame], None]]:
    """Compile the definitions of a LET: the scope of its body, and what fills its slots.

    A definition without parameters has a slot, which is evaluated once. In an action, one that reads the state that is
    being assigned has none, since its value changes from branch to branch.
    """
    inner = RunScope(scope.layout, scope.mode, scope.meanings, dict(scope.locals), scope.units)
    fillings: list[tuple[int, Code]] = []
    for definition in node.definitions:
        level = compiler.level(definition.body, inner) if definition.body is not None else 0
        varies = level > (0 if scope.mode.primed else 1)
        if definition.parameters or definition.recursive or (in_action and varies):
            inner.locals[definition] = LocalDefinition(inner)
            continue
        assert definition.body is not None
        fillings.append((scope.layout.fresh(), compiler.value(definition.body, inner)))
        slot = Slot(fillings[-1][0], level, scope.mode, is_deferred=True)
        inner.locals[definition] = LocalDefinition(inner, slot)

    def fill(frame: Frame) -> None:
        for index, code in fillings:
            frame[index] = Deferred(code, frame)

    return inner, fill


# Applications


def applied(compiler: NodeCompiler, node: ApplyExpr, scope: RunScope) -> Code:
    """Compile an application for its value."""
    operator, arguments, scope = resolved_operator(node.operator, node.arguments, scope)
    if isinstance(operator, NameBinding):
        return bound(compiler, operator, scope)
    if isinstance(operator, OperatorDefinition):
        return _defined(compiler, operator, arguments, scope, node.place)
    if isinstance(operator, str):
        return compiler.value(BuiltinExpr(place=node.place, operator=operator, arguments=_written(arguments)), scope)
    lambda_node, lambda_scope = operator
    substituted = frozenset(lambda_node.parameters) if _is_shifting(compiler, *operator) else frozenset()
    inner, fill = in_place(compiler, lambda_node.parameters, arguments, lambda_scope.on(scope), scope, substituted)
    return _filled(fill, compiler.value(lambda_node.body, inner))


def _written(arguments: tuple[Given, ...]) -> tuple[Argument, ...]:
    return tuple(argument for argument, _ in arguments)


def _defined(
    compiler: NodeCompiler, definition: OperatorDefinition, arguments: tuple[Given, ...], scope: RunScope, place: Span
) -> Code:
    """Compile the application of a definition for its value."""
    local = scope.locals.get(definition)
    if local is not None and local.slot is not None and local.slot.is_valid_in(scope.mode):
        return _slot_of_let(local.slot.index)
    body = definition.body
    assert body is not None
    substituted = substituted_parameters(compiler, definition, arguments, scope, is_act=False)
    key = (definition, scope.mode, False)
    unit = scope.units.get(key)
    if unit is None and not substituted and local is None:
        inlined = inlined_scope(compiler, definition, arguments, scope)
        if inlined is not None:
            return compiler.value(body, inlined)
        return _called_globally(compiler, definition, arguments, scope, place)
    if unit is None and not definition.recursive:
        home = local.scope.on(scope) if local is not None else RunScope(scope.layout, scope.mode, {}, {}, scope.units)
        inner, fill = in_place(compiler, definition.parameters, arguments, home, scope, substituted)
        return _filled(fill, compiler.value(body, inner))
    if unit is None:
        unit, inner = open_unit(compiler, definition, arguments, scope, substituted, is_act=False)
        unit.code = compiler.value(body, inner)
    return call(compiler, unit, arguments, scope, place)


def _slot_of_let(index: int) -> Code:
    def force(frame: Frame) -> Any:
        held = frame[index]
        return held.force() if held.value is None else held.value

    return force


def substituted_parameters(
    compiler: NodeCompiler, definition: OperatorDefinition, arguments: tuple[Given, ...], scope: RunScope, is_act: bool
) -> frozenset[NameBinding]:
    """Return the parameters whose arguments are compiled where the parameters occur."""
    if not definition.parameters:
        return frozenset()
    facts = compiler.analysis.of_definition(definition)
    passes_on = _reads_shifted(compiler, facts.free, scope) or any(
        parameter.arity and _is_shifting(compiler, argument, where)
        for parameter, (argument, where) in zip(definition.parameters, arguments, strict=True)
    )
    shifted = frozenset(definition.parameters) if passes_on else facts.shifted
    formulas = compiler.analysis.formula_parameters(definition) if is_act else frozenset()
    applied = compiler.analysis.applied_parameters(definition) if is_act else frozenset()
    found = set()
    for parameter, (argument, where) in zip(definition.parameters, arguments, strict=True):
        level = compiler.level(argument, where)
        changes = level > (0 if scope.mode.primed else 1)
        is_enumerated = parameter in formulas and not isinstance(argument, _AT_ONCE) and not _is_value(argument, where)
        if parameter in applied and branching_function(compiler, argument, where):
            if definition.recursive or compiler.analysis.reads_whole(definition, parameter):
                refuse_function_argument(parameter.name, argument.place)
            is_enumerated = True
        elif (
            is_enumerated
            and compiler.analysis.reads_value(definition, parameter)
            and is_branching_formula(compiler, argument, where)
        ):
            refuse_read_formula(parameter.name, argument.place)
        if parameter.arity or (parameter in shifted and level) or (is_act and changes) or is_enumerated:
            found.add(parameter)
    return frozenset(found)


def _is_shifting(compiler: NodeCompiler, operator: Argument, scope: RunScope) -> bool:
    """Return whether an operator argument reads its own arguments in another state: LAMBDA w : w' = w."""
    if compiler.analysis.is_shifting(operator):
        return True
    match operator:
        case LambdaExpr(body=body):
            return _reads_shifted(compiler, compiler.analysis.facts(body).free, scope)
        case OperatorReferenceExpr(operator=NameBinding() as binding):
            return _reads_shifted(compiler, frozenset((binding,)), scope)
        case _:
            return False


def _reads_shifted(compiler: NodeCompiler, names: frozenset[NameBinding], scope: RunScope) -> bool:
    """Return whether one of some names is an operator that reads its arguments in another state."""
    meanings = [scope.meanings.get(name) for name in names if name.arity]
    return any(
        isinstance(meaning, Substitute) and _is_shifting(compiler, meaning.argument, meaning.scope)
        for meaning in meanings
    )


def _is_value(argument: Argument, scope: RunScope) -> bool:
    """Return whether an argument is a value already, such as the choice of a quantifier."""
    return isinstance(argument, BoundExpr) and isinstance(scope.meanings.get(argument.binding), Slot)


def inlined_scope(
    compiler: NodeCompiler, definition: OperatorDefinition, arguments: tuple[Given, ...], scope: RunScope
) -> RunScope | None:
    """Return the scope of the body of a small operator in the frame of its caller; None where it needs its own frame.

    All arguments have values already or are constant, so the parameters need no slots.
    """
    if not arguments or definition.recursive or compiler.analysis.weight(definition) > _INLINED_WEIGHT_MAX:
        return None
    meanings: dict[NameBinding, Slot | Substitute] = {}
    for parameter, (argument, where) in zip(definition.parameters, arguments, strict=True):
        meaning = where.meanings.get(argument.binding) if isinstance(argument, BoundExpr) else None
        while isinstance(meaning, Substitute) and isinstance(meaning.argument, BoundExpr):
            argument, where = meaning.argument, meaning.scope
            meaning = where.meanings.get(argument.binding)
        if isinstance(meaning, Slot):
            meanings[parameter] = meaning
        elif compiler.is_constant(argument, where):
            meanings[parameter] = Substitute(argument, where)
        else:
            return None
    return RunScope(scope.layout, scope.mode, {}, {}, scope.units).binding(meanings)


def in_place(
    compiler: NodeCompiler,
    parameters: tuple[NameBinding, ...],
    arguments: tuple[Given, ...],
    home: RunScope,
    scope: RunScope,
    substituted: frozenset[NameBinding],
) -> tuple[RunScope, list[tuple[int, Made]]]:
    """Bind parameters in the caller's frame: the scope of the body, and what fills the slots of the parameters."""
    meanings: dict[NameBinding, Slot | Substitute] = {}
    fill: list[tuple[int, Made]] = []
    for parameter, (argument, where) in zip(parameters, arguments, strict=True):
        if parameter in substituted or parameter.arity:
            meanings[parameter] = Substitute(argument, where)
        else:
            slot = Slot(scope.layout.fresh(), 0, scope.mode, is_deferred=True)
            meanings[parameter] = slot
            fill.append((slot.index, made(compiler, argument, where.on(scope))))
    return home.binding(dict(meanings)), fill


def _filled(fill: list[tuple[int, Made]], body: Code) -> Code:
    """Return a body that runs after its parameters have been filled in."""
    if not fill:
        return body
    if len(fill) == 1:
        index, make = fill[0]

        def run_one(frame: Frame) -> Any:
            frame[index] = make(frame)
            return body(frame)

        return run_one

    def run(frame: Frame) -> Any:
        for index, make in fill:
            frame[index] = make(frame)
        return body(frame)

    return run


def made(compiler: NodeCompiler, argument: Argument, scope: RunScope) -> Made:
    """Compile what a slot holds for an argument; what cannot fail is evaluated at once."""
    if isinstance(argument, BoundExpr):
        meaning = scope.meanings[argument.binding]
        if isinstance(meaning, Slot):
            index = meaning.index
            return lambda frame: frame[index]
        return made(compiler, meaning.argument, meaning.scope.on(scope))
    code = compiler.value(argument, scope)
    if isinstance(argument, _AT_ONCE) or (isinstance(argument, VariableExpr) and not scope.mode.primed):
        return code
    facts = compiler.analysis.facts(argument)
    return _made_once(code) if facts.level == 0 and not facts.free else lambda frame: Deferred(code, frame)


def _made_once(code: Code) -> Made:
    """Return what makes the slot of a constant argument: one deferred value for all frames, then the value."""
    known: list[Deferred] = []

    def make(frame: Frame) -> Any:
        if not known:
            known.append(Deferred(code, frame[:]))
        deferred = known[0]
        return deferred if deferred.value is None else deferred.value

    return make


# Frames of their own


def _called_globally(
    compiler: NodeCompiler, definition: OperatorDefinition, arguments: tuple[Given, ...], scope: RunScope, place: Span
) -> Code:
    unit, is_new = compiler.units.of(definition, scope.mode, is_act=False)
    if is_new:
        inner = RunScope(unit.layout, scope.mode).binding(_parameter_slots(definition, unit, scope.mode, frozenset()))
        assert definition.body is not None
        unit.code = compiler.value(definition.body, inner)
    if not definition.parameters:
        return _remembered(compiler, unit, scope)
    return call(compiler, unit, arguments, scope, place)


def _remembered(compiler: NodeCompiler, unit: Unit, scope: RunScope) -> Code:
    """Return the code of a definition without parameters: a constant is kept, the value of a state until the next."""
    facts = compiler.analysis.of_definition(unit.definition)
    if facts.level == 0:
        known: list[Any] = []

        def constant(frame: Frame) -> Any:
            if not known:
                known.append(_run(unit, frame))
            return known[0]

        return constant
    if facts.level > 1 or scope.mode.primed:
        return lambda frame: _run(unit, frame)
    held: list[Any] = [None, None]

    def of_state(frame: Frame) -> Any:
        state = frame[STATE]
        if held[0] is not state:
            held[1] = _run(unit, frame)
            held[0] = state
        return held[1]

    return of_state


def _run(unit: Unit, frame: Frame) -> Any:
    new = [frame[STATE], frame[NEXT]]
    new += [None] * (unit.layout.size - FIRST_SLOT)
    return unit.code(new)


def _parameter_slots(
    definition: OperatorDefinition, unit: Unit, mode: Mode, substituted: frozenset[NameBinding]
) -> dict[NameBinding, Slot | Substitute]:
    own = [parameter for parameter in definition.parameters if parameter not in substituted]
    return {parameter: Slot(unit.layout.fresh(), 0, mode, is_deferred=True) for parameter in own}


def open_unit(
    compiler: NodeCompiler,
    definition: OperatorDefinition,
    arguments: tuple[Given, ...],
    scope: RunScope,
    substituted: frozenset[NameBinding],
    is_act: bool,
) -> tuple[Unit, RunScope]:
    """Make the unit of a recursive definition that uses bindings around it; return it and the scope of its body."""
    local = scope.locals.get(definition)
    base = scope.layout.size
    given = {parameter: argument for parameter, (argument, _) in zip(definition.parameters, arguments, strict=True)}
    unit = Unit(definition, base, FrameLayout(base), substituted, given)
    home = local.scope if local is not None else RunScope(unit.layout, scope.mode)
    meanings = _parameter_slots(definition, unit, scope.mode, substituted)
    for parameter, (argument, where) in zip(definition.parameters, arguments, strict=True):
        if parameter in substituted:
            meanings[parameter] = Substitute(argument, where)
    units = {**home.units, **scope.units, (definition, scope.mode, is_act): unit}
    inner = RunScope(unit.layout, scope.mode, home.meanings, home.locals, units).binding(dict(meanings))
    return unit, inner


def call(compiler: NodeCompiler, unit: Unit, arguments: tuple[Given, ...], scope: RunScope, place: Span) -> Code:
    """Return the code that runs a unit on a new frame."""
    makes = argument_makers(compiler, unit, arguments, scope)
    base = unit.base
    layout = unit.layout
    if unit.definition.recursive:
        return _counted_call(unit, makes, place)
    if base == FIRST_SLOT and len(makes) == 1:
        make = makes[0]

        def call_one(frame: Frame) -> Any:
            new = [frame[STATE], frame[NEXT], make(frame)]
            new += [None] * (layout.size - FIRST_SLOT - 1)
            return unit.code(new)

        return call_one

    def run(frame: Frame) -> Any:
        return unit.code(new_frame(unit, makes, frame))

    return run


def argument_makers(compiler: NodeCompiler, unit: Unit, arguments: tuple[Given, ...], scope: RunScope) -> list[Made]:
    """Compile the arguments of a unit that are not substituted; SpecError where a recursive call changes others."""
    for name, (argument, _) in zip(unit.definition.parameters, arguments, strict=True):
        if name in unit.substituted and not (argument is unit.given[name] or is_unchanged(argument, name)):
            refuse_changed_argument(unit.definition.name, name.name, argument.place)
    pairs = zip(unit.definition.parameters, arguments, strict=True)
    return [made(compiler, given[0], given[1].on(scope)) for name, given in pairs if name not in unit.substituted]


def new_frame(unit: Unit, makes: list[Made], frame: Frame) -> Frame:
    """Return the frame of a unit: what is bound around it, its arguments, and room for what it binds."""
    new = frame[: unit.base]
    for make in makes:
        new.append(make(frame))
    return new + unit.room(len(new))


def _counted_call(unit: Unit, makes: list[Made], place: Span) -> Code:
    """Return a call that counts the depth of the recursion."""
    depth = 0
    name = unit.definition.name

    def run(frame: Frame) -> Any:
        nonlocal depth
        if depth >= DEPTH_MAX:
            raise endless_recursion(name).at(place)
        depth += 1
        try:
            return unit.code(new_frame(unit, makes, frame))
        finally:
            depth -= 1

    return run


def operator_code(
    compiler: NodeCompiler, argument: Argument, count: int, scope: RunScope
) -> tuple[tuple[int, ...], Code]:
    """Compile an operator argument of a built-in: the slots of its own arguments, and the code of its value."""
    names = tuple(NameBinding(f"_{position}", argument.place) for position in range(count))
    inner, slots = scope.slots(names)
    arguments = tuple(BoundExpr(place=argument.place, binding=name) for name in names)
    if isinstance(argument, LambdaExpr):
        given = tuple((item, inner) for item in arguments)
        body_scope, fill = in_place(compiler, argument.parameters, given, inner, inner, frozenset())
        return slots, _filled(fill, compiler.value(argument.body, body_scope))
    assert isinstance(argument, OperatorReferenceExpr)
    if isinstance(argument.operator, str):
        node: Argument = BuiltinExpr(place=argument.place, operator=argument.operator, arguments=arguments)
    else:
        node = ApplyExpr(place=argument.place, operator=argument.operator, arguments=arguments)
    return slots, compiler.value(node, inner)
