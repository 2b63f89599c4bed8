r"""Actions and initial predicates, enumerated as TLC does.

Conjuncts are done from the left over a state that is being assigned. TLC branches on every disjunction and `\E` that is
a conjunct, through IF, CASE, LET and operators, and each branch that completes yields a successor; so a guard with two
true disjuncts yields the same successor twice. Whatever is not listed here is evaluated as a formula.
"""

from __future__ import annotations

from dataclasses import replace

from kmc.tla.resolved.nodes import (
    AngleActionExpr,
    ApplyExpr,
    Argument,
    BoundExpr,
    BoxActionExpr,
    BuiltinExpr,
    CaseExpr,
    ConjunctionExpr,
    DisjunctionExpr,
    FunctionApplicationExpr,
    IfExpr,
    LetExpr,
    NameBinding,
    OperatorDefinition,
    OwnVariableExpr,
    PrimeExpr,
    QuantifiedExpr,
    TupleExpr,
    UnchangedExpr,
    VariableExpr,
)
from kmc.tla.run import applications
from kmc.tla.run.assignments import assign, assign_member, keep
from kmc.tla.run.compiling import NodeCompiler
from kmc.tla.run.formulas import Given, home_of, is_unchanged, resolved_operator
from kmc.tla.run.frames import (
    FIRST_SLOT,
    NEXT,
    Act,
    ActionItem,
    ConjunctionAct,
    Frame,
    Listing,
    PartialState,
    Rest,
    Test,
    TestAct,
    proceed,
)
from kmc.tla.run.function_acts import function_act
from kmc.tla.run.lazy import DEPTH_MAX
from kmc.tla.run.logic import binder, conjunction, slot_of, unchanged
from kmc.tla.run.scopes import FrameLayout, RunScope, Slot, Substitute, Unit
from kmc.tla.values.failures import endless_recursion, no_arm_holds


def act(compiler: NodeCompiler, node: Argument, scope: RunScope) -> Act:
    """Compile a formula to what enumerates the ways in which it can be true."""
    match node:
        case ConjunctionExpr(items=items):
            return _conjunction(compiler, items, scope)
        case DisjunctionExpr(items=items):
            return _disjunction(tuple(compiler.act(item, scope) for item in items))
        case QuantifiedExpr(kind="\\E"):
            return _exists(compiler, node, scope)
        case QuantifiedExpr():
            return _for_all(compiler, node, scope)
        case IfExpr(condition=condition, then=then, otherwise=otherwise):
            test = compiler.test(condition, scope, "IF")
            return _conditional(test, compiler.act(then, scope), compiler.act(otherwise, scope))
        case CaseExpr():
            return _case(compiler, node, scope)
        case LetExpr():
            inner, fill = applications.let(compiler, node, scope, in_action=True)
            return _prepared(fill, compiler.act(node.body, inner))
        case UnchangedExpr(body=body):
            return _unchanged(compiler, body, scope)
        case BoxActionExpr(action=action, subscript=subscript):
            return _disjunction((compiler.act(action, scope), _unchanged(compiler, subscript, scope)))
        case AngleActionExpr(action=action, subscript=subscript):
            stutters = unchanged(compiler, subscript, scope)
            changes = ActionItem(_tested(lambda frame: not stutters(frame)), lambda: lambda frame: not stutters(frame))
            return _followed(compiler.act(action, scope), changes)
        case ApplyExpr():
            return _applied(compiler, node, scope)
        case BoundExpr(binding=binding):
            meaning = scope.meanings[binding]
            if isinstance(meaning, Substitute):
                return compiler.act(meaning.argument, meaning.scope.on(scope))
        case FunctionApplicationExpr():
            branching = function_act(compiler, node, scope)
            if branching is not None:
                return branching
        case BuiltinExpr(operator="=>", arguments=(premise, conclusion)):
            return _conditional(compiler.test(premise, scope, "=>"), compiler.act(conclusion, scope), _pass_on)
        case BuiltinExpr(operator="=" | "\\in" | "\\subseteq" as operator, arguments=(left, right)):
            index = target(left, scope)
            if index is not None:
                return _assignment(compiler, operator, index, right, scope)
    return _tested(compiler.test(node, scope))


def item_of(compiler: NodeCompiler, node: Argument, scope: RunScope) -> ActionItem:
    """Compile a conjunct that others follow or precede."""
    return ActionItem(compiler.act(node, scope), lambda: _late_test(compiler, node, scope))


def _late_test(compiler: NodeCompiler, node: Argument, scope: RunScope) -> Test:
    """Compile the test of a conjunct when it is needed first, for frames that have no room for what it binds."""
    layout = FrameLayout(scope.layout.size)
    test = compiler.test(node, replace(scope, layout=layout))

    def run(frame: Frame) -> bool:
        own = frame[:]
        own += [None] * (layout.size - len(own))
        return test(own)

    return run


# Junctions and branches


def _pass_on(frame: Frame, rest: Rest) -> None:
    proceed(frame[NEXT], rest)


def _tested(test: Test) -> Act:
    return TestAct(test)


def _conjunction(compiler: NodeCompiler, items: tuple[Argument, ...], scope: RunScope) -> Act:
    """Compile a conjunction; the tests at its beginning run before the later conjuncts are prepared."""
    tests: list[Test] = []
    remaining = list(items)
    first: Act = compiler.act(remaining.pop(0), scope)
    while isinstance(first, TestAct) and remaining:
        tests.append(first.test)
        first = compiler.act(remaining.pop(0), scope)
    others = tuple(item_of(compiler, item, scope) for item in reversed(remaining))
    if isinstance(first, TestAct) and not others:
        return TestAct(conjunction((*tests, first.test)))
    if isinstance(first, ConjunctionAct):
        return ConjunctionAct((*tests, *first.tests), first.first, (*others, *first.others))
    return ConjunctionAct(tuple(tests), first, others)


def _followed(first: Act, item: ActionItem) -> Act:
    return lambda frame, rest: first(frame, (item, frame, rest))


def _disjunction(branches: tuple[Act, ...]) -> Act:
    def run(frame: Frame, rest: Rest) -> None:
        for branch in branches:
            branch(frame, rest)

    return run


def _conditional(test: applications.Made, then: Act, otherwise: Act) -> Act:
    return lambda frame, rest: then(frame, rest) if test(frame) else otherwise(frame, rest)


def _prepared(fill: applications.Made, body: Act) -> Act:
    def run(frame: Frame, rest: Rest) -> None:
        fill(frame)
        body(frame, rest)

    return run


def _case(compiler: NodeCompiler, node: CaseExpr, scope: RunScope) -> Act:
    arms = tuple((compiler.test(test, scope, "CASE"), compiler.act(value, scope)) for test, value in node.arms)
    other = compiler.act(node.other, scope) if node.other is not None else None
    place = node.place

    def run(frame: Frame, rest: Rest) -> None:
        for test, branch in arms:
            if test(frame):
                branch(frame, rest)
                return
        if other is None:
            raise no_arm_holds().at(place)
        other(frame, rest)

    return run


def _exists(compiler: NodeCompiler, node: QuantifiedExpr, scope: RunScope) -> Act:
    inner, choices, bind = binder(compiler, node.ranges, scope)
    body = compiler.act(node.body, inner)
    if len(node.ranges) == 1 and len(node.ranges[0].bindings) == 1 and not node.ranges[0].is_pattern:
        return _exists_one(choices, slot_of(inner, node.ranges[0]), body)

    def run(frame: Frame, rest: Rest) -> None:
        partial: PartialState = frame[NEXT]
        for choice in choices(frame):
            partial.ticks -= 1
            if not partial.ticks:
                partial.poll_now()
            bind(frame, choice)
            body(frame, rest)

    return run


def _exists_one(choices: Listing, slot: int, body: Act) -> Act:
    """Return the enumeration over one binding; tests at the beginning of the body are done in the loop."""
    tests: tuple[Test, ...] = ()
    if isinstance(body, ConjunctionAct):
        tests, body = body.tests, body.after_tests

    def run(frame: Frame, rest: Rest) -> None:
        partial: PartialState = frame[NEXT]
        for choice in choices(frame):
            partial.ticks -= 1
            if not partial.ticks:
                partial.poll_now()
            frame[slot] = choice
            for test in tests:
                if not test(frame):
                    break
            else:
                body(frame, rest)

    return run


def _for_all(compiler: NodeCompiler, node: QuantifiedExpr, scope: RunScope) -> Act:
    r"""Compile `\A`: a conjunction of its instances, each on a frame of its own."""
    inner, choices, bind = binder(compiler, node.ranges, scope)
    item = item_of(compiler, node.body, inner)

    def run(frame: Frame, rest: Rest) -> None:
        frames = []
        for choice in choices(frame):
            own = frame[:]
            bind(own, choice)
            frames.append(own)
        if not frames:
            proceed(frame[NEXT], rest)
            return
        for own in reversed(frames[1:]):
            rest = (item, own, rest)
        item.act(frames[0], rest)

    return run


# Assignments


def target(node: Argument, scope: RunScope) -> int | None:
    """Return the variable that `node = e` assigns: a primed one, or any one of an initial predicate."""
    if isinstance(node, PrimeExpr) and not scope.mode.primed:
        return variable(node.body, scope)
    if isinstance(node, BoundExpr):
        meaning = scope.meanings.get(node.binding)
        return target(meaning.argument, meaning.scope.on(scope)) if isinstance(meaning, Substitute) else None
    inside = _meaning(node, scope)
    if inside is not None:
        return target(*inside)
    return variable(node, scope) if scope.mode.primed else None


def variable(node: Argument, scope: RunScope) -> int | None:
    """Return the variable that an expression is, through parameters and definitions."""
    if isinstance(node, VariableExpr | OwnVariableExpr):
        return node.index
    if isinstance(node, BoundExpr):
        meaning = scope.meanings.get(node.binding)
        return variable(meaning.argument, meaning.scope.on(scope)) if isinstance(meaning, Substitute) else None
    inside = _meaning(node, scope)
    return variable(*inside) if inside is not None else None


def _meaning(node: Argument, scope: RunScope) -> tuple[Argument, RunScope] | None:
    """Return the body of a definition without arguments of its own, and the scope of that body.

    In an instance with parameters, `M(v) == INSTANCE N`, every definition has the parameters `v` of the instance, which
    the definitions pass on to each other.
    """
    if not isinstance(node, ApplyExpr) or not isinstance(node.operator, OperatorDefinition):
        return None
    definition = node.operator
    if definition.body is None or not all(map(is_unchanged, node.arguments, definition.parameters)):
        return None
    given = {name: Substitute(part, scope) for name, part in zip(definition.parameters, node.arguments, strict=True)}
    home = home_of(definition, scope)
    return definition.body, home.binding(dict(given)) if given else home


def _assignment(compiler: NodeCompiler, operator: str, index: int, right: Argument, scope: RunScope) -> Act:
    if operator == "=":
        return assign(index, compiler.stored(right, scope), right)
    return assign_member(index, compiler.value(right, scope), right, is_subset=operator == "\\subseteq")


def _unchanged(compiler: NodeCompiler, body: Argument, scope: RunScope) -> Act:
    """Compile UNCHANGED: variables, through tuples and definitions, are assigned, and anything else is tested."""
    indices: list[int] = []
    others: list[ActionItem] = []
    for part, home in _unchanged_parts(body, scope):
        index = variable(part, home)
        if index is None:
            others.append(_unchanged_test(compiler, part, home))
        elif index < len(compiler.variables):
            indices.append(index)
        else:  # a variable of an instance, whose value is an expression
            others.append(_unchanged_own(compiler, index, part, home))
    kept = keep(tuple(indices))
    if not others:
        return kept

    def run(frame: Frame, rest: Rest) -> None:
        for item in others:
            rest = (item, frame, rest)
        kept(frame, rest)

    return run


def _unchanged_test(compiler: NodeCompiler, part: Argument, home: RunScope) -> ActionItem:
    test = unchanged(compiler, part, home)
    return ActionItem(_tested(test), lambda: test)


def _unchanged_own(compiler: NodeCompiler, index: int, part: Argument, home: RunScope) -> ActionItem:
    return ActionItem(assign(index, compiler.stored(part, home), part), lambda: unchanged(compiler, part, home))


def _unchanged_parts(body: Argument, scope: RunScope) -> list[tuple[Argument, RunScope]]:
    if isinstance(body, TupleExpr):
        return [part for item in body.items for part in _unchanged_parts(item, scope)]
    if isinstance(body, BoundExpr):
        meaning = scope.meanings.get(body.binding)
        if isinstance(meaning, Substitute):
            return _unchanged_parts(meaning.argument, meaning.scope.on(scope))
    if not isinstance(body, ApplyExpr) or not isinstance(body.operator, OperatorDefinition) or body.operator.recursive:
        return [(body, scope)]
    if body.operator.body is None or variable(body, scope) is not None:
        return [(body, scope)]
    # An instance with parameters has given its definitions these parameters.
    given = {name: Substitute(part, scope) for name, part in zip(body.operator.parameters, body.arguments, strict=True)}
    return _unchanged_parts(body.operator.body, home_of(body.operator, scope).binding(dict(given)))


# Operators


def _applied(compiler: NodeCompiler, node: ApplyExpr, scope: RunScope) -> Act:
    operator, arguments, scope = resolved_operator(node.operator, node.arguments, scope)
    if isinstance(operator, OperatorDefinition):
        return _defined(compiler, operator, arguments, scope, node)
    if isinstance(operator, (str, NameBinding)):
        return _tested(compiler.test(node, scope))
    lambda_node, lambda_scope = operator
    substituted = frozenset(lambda_node.parameters)
    inner, _ = applications.in_place(
        compiler, lambda_node.parameters, arguments, lambda_scope.on(scope), scope, substituted
    )
    return compiler.act(lambda_node.body, inner)


def _defined(
    compiler: NodeCompiler,
    definition: OperatorDefinition,
    arguments: tuple[Given, ...],
    scope: RunScope,
    node: ApplyExpr,
) -> Act:
    """Compile the application of a definition; its body is enumerated."""
    body = definition.body
    assert body is not None
    local = scope.locals.get(definition)
    substituted = applications.substituted_parameters(compiler, definition, arguments, scope, is_act=True)
    unit = scope.units.get((definition, scope.mode, True))
    inlined = None
    if unit is None and not substituted and local is None:
        inlined = applications.inlined_scope(compiler, definition, arguments, scope)
    if inlined is not None:
        return compiler.act(body, inlined)
    if unit is None and not substituted and local is None:
        unit, is_new = compiler.units.of(definition, scope.mode, is_act=True)
        if is_new:
            slots = {name: Slot(unit.layout.fresh(), 0, scope.mode, is_deferred=True) for name in definition.parameters}
            unit.act = compiler.act(body, RunScope(unit.layout, scope.mode).binding(dict(slots)))
    elif unit is None and not definition.recursive:
        home = local.scope.on(scope) if local is not None else RunScope(scope.layout, scope.mode, {}, {}, scope.units)
        inner, fill = applications.in_place(compiler, definition.parameters, arguments, home, scope, substituted)
        run = compiler.act(body, inner)
        return _prepared(_filling(fill), run) if fill else run
    elif unit is None:
        unit, inner = applications.open_unit(compiler, definition, arguments, scope, substituted, is_act=True)
        unit.act = compiler.act(body, inner)
    return _called(applications.argument_makers(compiler, unit, arguments, scope), unit, node)


def _filling(fill: list[tuple[int, applications.Made]]) -> applications.Made:
    def run(frame: Frame) -> None:
        for index, make in fill:
            frame[index] = make(frame)

    return run


def _called(makes: list[applications.Made], unit: Unit, node: ApplyExpr) -> Act:
    depth = 0
    if not unit.definition.recursive and unit.base == FIRST_SLOT:
        return lambda frame, rest: unit.act(applications.new_frame(unit, makes, frame), rest)

    def run(frame: Frame, rest: Rest) -> None:
        nonlocal depth
        if depth >= DEPTH_MAX:
            raise endless_recursion(unit.definition.name).at(node.place)
        depth += 1
        try:
            unit.act(applications.new_frame(unit, makes, frame), rest)
        finally:
            depth -= 1

    return run
