r"""A recursion that goes through a set in any order and adds up a value of each element: a sum, a union, a function.

`F(S)`, which is `b` for an empty S and else `e(m) + F(S \ {m})` for any element m of S, is `b` and the sum of `e(m)`
over S, in whatever order CHOOSE takes the elements; `F(S \ {m}, n + e(m))`, which ends with n, is the same sum. Neither
`e` nor `b` depends on S. `\union` takes the place of `+` in a union. `(m :> e(m)) @@ F(S \ {m})`, which is `<<>>` for
an empty S, is a function on S. The text has no chain, so S may be of any size.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kmc.errors import SpecError
from kmc.tla.resolved.nodes import (
    ApplyExpr,
    Argument,
    BooleanExpr,
    BoundExpr,
    BuiltinExpr,
    ChooseExpr,
    Expression,
    FunctionApplicationExpr,
    IfExpr,
    LetExpr,
    NameBinding,
    NumberExpr,
    OperatorDefinition,
    OperatorReferenceExpr,
    SetEnumerationExpr,
)
from kmc.tla.shapes.shape import NOTHING, NUMBER, MapShape, NumberShape, SetShape, Shape, join
from kmc.tla.translate.alike import alike
from kmc.tla.translate.facts import children, definitions_of
from kmc.tla.translate.iteration import choose, iterable
from kmc.tla.translate.literals import wanted
from kmc.tla.translate.narrowing import guard, operand
from kmc.tla.translate.scope import (
    Delayed,
    LetScope,
    Name,
    SpecLocal,
    TranslationScope,
    TypedSource,
    applied,
    expression_of,
    head,
    local_of,
)
from kmc.tla.translate.translation import Translation

_SIGNS = {"+": "+", "\\union": "|"}
_NOTHING_ADDED = {"+": "0", "\\union": "set()"}


@dataclass(frozen=True, slots=True)
class SetRecursion:
    """A recursive operator or function: its name, parameters, body, and the scope around it."""

    itself: OperatorDefinition | NameBinding
    parameters: tuple[NameBinding, ...]
    body: Expression
    around: TranslationScope


@dataclass(frozen=True, slots=True)
class _Added:
    """The contribution of an element to the sum: a sign and the code of a value; no sign where there is none."""

    sign: str = ""
    source: str = ""
    shape: Shape = NOTHING

    def code(self, sign: str) -> str:
        """Return the code of the value."""
        return self.source if self.sign else _NOTHING_ADDED[sign]


def summed(
    t: Translation,
    recursion: SetRecursion,
    arguments: Sequence[Argument],
    scope: TranslationScope,
    want: Shape = NOTHING,
) -> TypedSource | None:
    """Translate the application of such a recursion; None for another one."""
    given = {name: Delayed(one, scope) for name, one in zip(recursion.parameters, arguments, strict=True)}
    values = [parameter for parameter in recursion.parameters if not parameter.arity]
    for rest in values:
        for kept in (None, *(one for one in values if one is not rest)):
            passed = {name: one for name, one in given.items() if name not in (rest, kept)}
            if _divided(_Parts(recursion, rest, kept), passed, _ANY) is None:
                continue
            try:
                code = _translated(t, _Parts(recursion, rest, kept), given, want)
            except SpecError:
                code = None
            if code is not None:
                return code
    return None


@dataclass(frozen=True, slots=True)
class _Parts:
    """A recursion: `rest` is the set that it goes through, `kept` the parameter that has the sum so far, if any."""

    recursion: SetRecursion
    rest: NameBinding
    kept: NameBinding | None


@dataclass(frozen=True, slots=True)
class _Division:
    """The two cases of a recursion: its value for an empty set, and its step for an element that CHOOSE takes."""

    parts: _Parts
    element: SpecLocal
    base: Delayed
    step: Delayed


_ANY = SpecLocal(TypedSource("element", NOTHING))


def _divided(parts: _Parts, passed: Mapping[NameBinding, Delayed], element: SpecLocal) -> _Division | None:
    """Divide the body of a recursion, None where it is not one that goes through a set."""
    recursion, rest, kept = parts.recursion, parts.rest, parts.kept
    node, scope = _opened(recursion.body, recursion.around.bind(passed.items()), rest, element)
    if not isinstance(node, IfExpr):
        return None
    is_end = _is_empty_test(node.condition, scope, rest)
    if is_end is None:
        return None
    base, step = (node.then, node.otherwise) if is_end else (node.otherwise, node.then)
    if kept is not None and not _is(base, scope, kept):
        return None
    opened = Delayed(*_opened(step, scope, rest, element))
    if not any(entry is element for entry in opened.scope.entries.values()):
        return None
    return _Division(parts, element, Delayed(base, scope), opened)


def _opened(
    node: Expression, scope: TranslationScope, rest: NameBinding, element: SpecLocal
) -> tuple[Expression, TranslationScope]:
    """Return the body of LETs, in which the definition that CHOOSE takes an element by is a local."""
    while isinstance(node, LetExpr):
        for one in node.definitions:
            is_chosen = not one.parameters and not one.recursive and _is_any_element(one.body, scope, rest)
            scope = scope.bind(((one, element if is_chosen else LetScope(scope)),))
        node = node.body
    return node, scope


def _is_any_element(node: Expression | None, scope: TranslationScope, rest: NameBinding) -> bool:
    r"""Return whether an expression is `CHOOSE m \in S : TRUE`."""
    if node is None or isinstance(node, BoundExpr):
        return False
    inner, scope = head(node, scope)
    if not isinstance(inner, ChooseExpr) or inner.range is None or inner.range.is_pattern:
        return False
    is_any = isinstance(inner.body, BooleanExpr) and inner.body.value
    return is_any and _is(inner.range.domain, scope, rest)


def _is(node: Argument, scope: TranslationScope, name: NameBinding) -> bool:
    """Return whether an expression is a name, also by an operator or a definition of LET that is equal to it."""
    while True:
        match node:
            case BoundExpr(binding=binding) if binding is name:
                return True
            case BoundExpr():
                entry = scope.entries.get(node.binding)
                if not isinstance(entry, Delayed):
                    return False
                node, scope = entry.expression, entry.scope
            case ApplyExpr(operator=OperatorDefinition(recursive=False)):
                target = applied(node, scope)
                if isinstance(target, SpecLocal):
                    return False
                node, scope = target.expression, target.scope
            case _:
                return False


def _is_empty_test(node: Expression, scope: TranslationScope, rest: NameBinding) -> bool | None:
    """Return whether a condition is `S = {}` or `Cardinality(S) = 0`, False for its negation, None for another one."""
    inner, scope = head(node, scope)
    if not isinstance(inner, BuiltinExpr) or inner.operator not in ("=", "#"):
        return None
    for one, other in ((0, 1), (1, 0)):
        end, _ = head(operand(inner, other), scope)
        tested, tested_scope = operand(inner, one), scope
        if isinstance(end, NumberExpr) and end.value == 0:
            counted, tested_scope = head(tested, scope)
            if not isinstance(counted, BuiltinExpr) or counted.operator != "Cardinality":
                continue
            tested = operand(counted, 0)
        elif not isinstance(end, SetEnumerationExpr) or end.items:
            continue
        if _is(tested, tested_scope, rest):
            return inner.operator == "="
    return None


def _translated(t: Translation, parts: _Parts, given: Mapping[NameBinding, Delayed], want: Shape) -> TypedSource | None:
    """Translate the recursion for the set that it is given."""
    passed = {name: one for name, one in given.items() if name not in (parts.rest, parts.kept)}
    chosen = _chosen(t, given[parts.rest])
    division = _divided(parts, passed, _ANY if chosen is None else chosen[0])
    assert division is not None
    additions = _Additions(t, division, want)
    base = division.base if parts.kept is None else given[parts.kept]
    if parts.kept is None and additions.depends(base.expression, base.scope):
        return None
    if chosen is None:
        return t.value(base.expression, base.scope, want)
    added = additions.of(expression_of(division.step), division.step.scope)
    if added is None or not added.sign:
        return None
    if added.sign == "@@":
        return _function(t, base, given[parts.rest], added, chosen)
    first = t.value(base.expression, base.scope)
    if added.sign == "+":
        total = f"sum({added.source} {chosen[1]})"
        code = TypedSource(total if first.source == "0" else f"({first.source} + {total})", NUMBER)
        return code if isinstance(first.shape, NumberShape) else None
    if first.is_network or not isinstance(first.shape, SetShape) or not isinstance(added.shape, SetShape):
        return None
    item = t.names.fresh("item")
    every = f"{{{item} {chosen[1]} for {item} in {added.source}}}"
    first, other = alike(t, first, TypedSource(every, added.shape), base.expression.place)
    return TypedSource(f"({first.source} | {other.source})", join(first.shape, other.shape))


def _function(
    t: Translation, base: Delayed, keys: Delayed, added: _Added, chosen: tuple[SpecLocal, str]
) -> TypedSource | None:
    """Return the function with a value for each element, None where the recursion begins with another than `<<>>`."""
    if t.constant(expression_of(base), base.scope) != ():
        return None
    key = chosen[0].code
    shape = MapShape(key.shape, added.shape, t.listed(keys.expression, keys.scope))
    return TypedSource(f"{{{key.source}: {added.source} {chosen[1]}}}", shape)


def _chosen(t: Translation, argument: Delayed) -> tuple[SpecLocal, str] | None:
    """Return an element of a set and the clauses that go through the set; None if it is always empty."""
    domain = expression_of(argument)
    choice = choose(t, domain, argument.scope, "element")
    if choice is None:
        return None
    if isinstance(choice.entry, SpecLocal):
        return choice.entry, " ".join(clause.text for clause in choice.clauses)
    elements, shape = iterable(t, domain, argument.scope)
    local = t.names.fresh("element")
    return SpecLocal(TypedSource(local, shape)), f"for {local} in {elements}"


@dataclass(frozen=True, slots=True)
class _Additions:
    """The values that the elements add, found in the step of a recursion."""

    t: Translation
    division: _Division
    want: Shape

    @property
    def _parts(self) -> _Parts:
        return self.division.parts

    def of(self, node: Expression, scope: TranslationScope, *, is_in_call: bool = False) -> _Added | None:
        """Return what an element adds to the rest; `is_in_call` is for the sum so far, which the call hands on."""
        if not self.depends(node, scope):
            return None
        node, scope = _opened(*head(node, scope), self._parts.rest, self.division.element)
        if is_in_call and isinstance(node, BoundExpr):
            return _Added() if node.binding is self._parts.kept else None
        match node:
            case IfExpr() if not self.depends(node.condition, scope):
                return self._of_branches(node, scope, is_in_call=is_in_call)
            case BuiltinExpr(operator="+" | "\\union" | "@@") if is_in_call or self._parts.kept is None:
                return self._of_operands(node, scope, is_in_call=is_in_call)
        call = None if is_in_call else self._call(node, scope)
        if call is None:
            return None
        if self._parts.kept is None:
            return _Added()
        return self.of(expression_of(Delayed(call[self._parts.kept], scope)), scope, is_in_call=True)

    def _of_branches(self, node: IfExpr, scope: TranslationScope, *, is_in_call: bool) -> _Added | None:
        test, classes = guard(self.t, node.condition, scope)
        with self.t.narrowed(classes):
            then = self.of(node.then, scope, is_in_call=is_in_call)
        otherwise = self.of(node.otherwise, scope, is_in_call=is_in_call)
        if (
            then is None
            or otherwise is None
            or "@@" in (then.sign, otherwise.sign)
            or (then.sign and otherwise.sign and then.sign != otherwise.sign)
        ):
            return None
        sign = then.sign or otherwise.sign
        if not sign:
            return _Added()
        source = f"({then.code(sign)} if {test} else {otherwise.code(sign)})"
        return _Added(sign, source, join(then.shape, otherwise.shape))

    def _of_operands(self, node: BuiltinExpr, scope: TranslationScope, *, is_in_call: bool) -> _Added | None:
        left, right = operand(node, 0), operand(node, 1)
        before, alone = (left, right) if self.depends(left, scope) else (right, left)
        inner = self.of(before, scope, is_in_call=is_in_call)
        if inner is None or inner.sign not in ("", node.operator) or self.depends(alone, scope):
            return None
        if node.operator == "@@":
            return self._of_pair(*head(alone, scope)) if not inner.sign else None
        code = self.t.value(alone, scope)
        if code.is_network or not isinstance(code.shape, NumberShape if node.operator == "+" else SetShape):
            return None
        if not inner.sign:
            return _Added(node.operator, code.source, code.shape)
        source = f"({inner.source} {_SIGNS[node.operator]} {code.source})"
        return _Added(node.operator, source, join(inner.shape, code.shape))

    def _of_pair(self, node: Expression, scope: TranslationScope) -> _Added | None:
        """Return the value of a function for the element."""
        if not isinstance(node, BuiltinExpr) or node.operator != ":>":
            return None
        if local_of(*head(operand(node, 0), scope)) is not self.division.element:
            return None
        known = wanted(self.want, MapShape)
        code = self.t.value(operand(node, 1), scope, known.value if isinstance(known, MapShape) else NOTHING)
        return None if code.is_network else _Added("@@", code.source, code.shape)

    def _call(self, node: Expression, scope: TranslationScope) -> dict[NameBinding, Argument] | None:
        """Return what the recursion is called with for the rest of the set, None if that is not what it is."""
        recursion, arguments = self._parts.recursion, tuple[Argument, ...]()
        match node:
            case ApplyExpr(operator=operator) if operator is recursion.itself:
                arguments = node.arguments
            case FunctionApplicationExpr(function=BoundExpr(binding=binding)) if binding is recursion.itself:
                arguments = (node.argument,)
            case _:
                return None
        given = dict(zip(recursion.parameters, arguments, strict=True))
        others = [name for name in given if name not in (self._parts.rest, self._parts.kept)]
        is_same = all(_is_handed_on(given[name], scope, name) for name in others)
        return given if is_same and self._is_rest(given[self._parts.rest], scope) else None

    def _is_rest(self, node: Argument, scope: TranslationScope) -> bool:
        r"""Return whether a set is `S \ {m}`."""
        less, scope = head(node, scope)
        if not isinstance(less, BuiltinExpr) or less.operator != "\\":
            return False
        single, inner = head(operand(less, 1), scope)
        return (
            _is(operand(less, 0), scope, self._parts.rest)
            and isinstance(single, SetEnumerationExpr)
            and len(single.items) == 1
            and local_of(*head(single.items[0], inner)) is self.division.element
        )

    def depends(self, node: Argument, scope: TranslationScope) -> bool:
        """Return whether an expression reads the set, the sum so far, or the recursion itself."""
        division = self.division
        names = {self._parts.rest, self._parts.kept, self._parts.recursion.itself}
        passed = set(self._parts.recursion.parameters) - names
        seen: set[tuple[int, int]] = set()
        waiting: list[tuple[Argument, TranslationScope]] = [(node, scope)]
        while waiting:
            one, around = waiting.pop()
            if (id(one), id(around)) in seen:
                continue
            seen.add((id(one), id(around)))
            waiting.extend((child, around) for child in children(one))
            for name in _names_in(one):
                if name in names:
                    return True
                entry = around.entries.get(name)
                if isinstance(entry, Delayed) and name not in passed:
                    waiting.append((entry.expression, entry.scope))
                elif isinstance(name, OperatorDefinition) and name.body is not None and entry is not division.element:
                    waiting.append((name.body, entry.scope if isinstance(entry, LetScope) else around))
        return False


def _names_in(node: Argument) -> Iterator[Name]:
    """Enumerate the names that a node itself reads or applies, and the definitions of a LET."""
    yield from definitions_of(node)
    match node:
        case BoundExpr(binding=binding):
            yield binding
        case ApplyExpr(operator=NameBinding() as operator) | OperatorReferenceExpr(operator=NameBinding() as operator):
            yield operator


def _is_handed_on(node: Argument, scope: TranslationScope, name: NameBinding) -> bool:
    """Return whether a parameter is given to the recursion again."""
    if name.arity:
        return isinstance(node, OperatorReferenceExpr) and node.operator is name
    return _is(node, scope, name)
