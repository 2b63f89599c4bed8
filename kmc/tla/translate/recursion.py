"""Recursive operators and functions as chains of helpers: `sum_3` calls `sum_2`, and the last one of a chain fails.

A chain needs no declared type of its results, as a helper that calls itself in a spec does, and its levels have types
of their own. It is as long as the shapes of the arguments need; where a value needs a longer one, the assertion of its
last helper fails, and a search starts again with longer chains. The shapes of parameters and of the result grow until
they cover the recursive calls, as those of variables do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace

from kmc.errors import Span, SpecError
from kmc.lang.naming import snake_case
from kmc.tla.resolved.nodes import (
    ApplyExpr,
    Argument,
    BoundExpr,
    BuiltinExpr,
    CaseExpr,
    Expression,
    FunctionApplicationExpr,
    IfExpr,
    LambdaExpr,
    NameBinding,
    OperatorDefinition,
    OperatorReferenceExpr,
    RecursiveFunctionExpr,
    TupleExpr,
)
from kmc.tla.shapes.as_sequences import with_tuples_as_sequences
from kmc.tla.shapes.refusal import refusal
from kmc.tla.shapes.shape import (
    BOOLEAN,
    NOTHING,
    NUMBER,
    AtomShape,
    NumberShape,
    SequenceShape,
    SetShape,
    Shape,
    alternatives_of,
    join,
    join_all,
)
from kmc.tla.translate.decomposition import reads_state
from kmc.tla.translate.defaults import default_of
from kmc.tla.translate.folded_recursion import folded_recursion
from kmc.tla.translate.gathering import gathered
from kmc.tla.translate.lazy import is_total
from kmc.tla.translate.membership import in_domain
from kmc.tla.translate.mutual_recursion import calls_back, is_written_out
from kmc.tla.translate.names import identifier, unique
from kmc.tla.translate.scope import ROOT, Delayed, Entry, LetScope, Name, SpecLocal, TranslationScope, TypedSource, head
from kmc.tla.translate.shared_calls import shared_call
from kmc.tla.translate.summing import SetRecursion, summed
from kmc.tla.translate.tables import tabulated
from kmc.tla.translate.translation import StateReading, Translation, WrittenLine

_DEPTH_LEAST, _DEPTH_MAX, _ROUNDS_MAX = 4, 24, 12
_INLINED_MAX = 64
_LEVEL = "<level>"  # no identifier has this text


class _LongChain(Exception):
    """The end of a translation to a chain: each level calls the next one several times, so the code doubles."""


@dataclass(slots=True)
class Recursion:
    """A recursive operator or function at work: the name of its helpers, and the shapes found so far.

    `extra` are the values of locals around it, which are parameters of the helpers too.
    """

    name: str
    shapes: list[Shape]
    extra: list[tuple[str, TypedSource]]
    reads_state: bool
    result: Shape = NOTHING
    state: str = "st"
    """The state that the outer call reads: `st`, or `nxt` in a step."""
    counts_ways: bool = False
    """Do the helpers return the number of ways in which a formula is true?"""

    def call(self, level: str, arguments: Sequence[str], *, is_inner: bool) -> str:
        """Return a call of the helper of a level; an inner one hands on what the helper was given."""
        more = [name if is_inner else code.source for name, code in self.extra]
        given = [*(["st" if is_inner else self.state] if self.reads_state else []), *arguments, *more]
        return f"{self.name}_level_{level}({', '.join(given)})"

    def lines(self, parameters: Sequence[str], body: str, last: str, depth: int, place: Span) -> list[WrittenLine]:
        """Return the helpers, the last one of the chain first."""
        given = [*(["st"] if self.reads_state else []), *parameters, *(name for name, _ in self.extra)]
        found: list[WrittenLine] = []
        callee = f"{self.name}_level_{_LEVEL}"
        shared = shared_call(body, _LEVEL, callee, f"{callee}_given", given)
        body = body if shared is None else shared.outer
        for level in range(depth + 1):
            if level and shared is not None:
                signature = f"({', '.join([*given, shared.value])}):"
                found.append(WrittenLine(0, f"def {self.name}_level_{level - 1}_given{signature}", place))
                found.append(WrittenLine(1, f"return {shared.inner.replace(_LEVEL, str(level - 1))}", place))
            value = body.replace(_LEVEL, str(level - 1)) if level else last
            found.append(WrittenLine(0, f"def {self.name}_level_{level}({', '.join(given)}):", place))
            found.append(WrittenLine(1, f"return {value}", place))
        return found


def is_recursive(node: Expression, scope: TranslationScope) -> bool:
    """Return whether an expression applies a recursive operator."""
    return (
        isinstance(node, ApplyExpr)
        and isinstance(node.operator, OperatorDefinition)
        and node.operator.recursive
        and not isinstance(scope.entries.get(node.operator), SpecLocal)
    )


def recursive_application(t: Translation, node: ApplyExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    """Translate the application of a recursive operator."""
    operator = node.operator
    assert isinstance(operator, OperatorDefinition)
    assert operator.body is not None, "the model is resolved"
    entry = scope.entries.get(operator)
    around = entry.scope if isinstance(entry, LetScope) else scope if operator.is_local else ROOT
    if operator.is_local:
        around = around.bind(((operator, LetScope(around)),))
    if operator not in t.recursions and is_written_out(operator, t.recursions):
        given = (Delayed(argument, scope) for argument in node.arguments)
        return t.value(operator.body, around.bind(zip(operator.parameters, given, strict=True)), want)
    if operator not in t.recursions and calls_back(operator, t.recursions):
        raise refusal(f"the recursive {operator.name}, which calls back a recursion that calls it,", node.place)
    passed = [parameter for parameter in operator.parameters if parameter.arity]
    if not passed and operator not in t.recursions and (filtered := gathered(t, node, scope, want)) is not None:
        return filtered
    if operator not in t.recursions:
        going = SetRecursion(operator, operator.parameters, operator.body, around)
        if (total := summed(t, going, node.arguments, scope, want)) is not None:
            return total
    pairs = list(zip(operator.parameters, node.arguments, strict=True))
    if operator not in t.recursions:
        around = around.bind((parameter, Delayed(given, scope)) for parameter, given in pairs if parameter.arity)
    elif not all(_is_same_operator(parameter, given) for parameter, given in pairs if parameter.arity):
        raise refusal(f"the recursive {operator.name}, which hands on another operator than it was given,", node.place)
    values = [parameter for parameter in operator.parameters if not parameter.arity]
    given_values = [given for parameter, given in pairs if not parameter.arity]
    source = _Source(operator, operator.name, tuple(values), operator.body, around)

    def applied(reads: tuple[Expression, ...]) -> Expression:
        read = iter(reads)
        return replace(node, arguments=tuple(given if name.arity else next(read) for name, given in pairs))

    return _chain_or_table(t, source, given_values, scope, _with_arguments(given_values, scope, scope, applied))


def _is_same_operator(parameter: NameBinding, given: Argument) -> bool:
    return isinstance(given, OperatorReferenceExpr) and given.operator is parameter


def recursive_function(
    t: Translation, node: RecursiveFunctionExpr, around: TranslationScope, argument: Argument, scope: TranslationScope
) -> TypedSource:
    r"""Translate the application of `f[x \in S] == ...`."""
    bound = node.ranges[0]
    if len(node.ranges) > 1 or bound.is_pattern or len(bound.bindings) > 1:
        raise refusal("a recursive function of several arguments", node.place)
    folded = folded_recursion(t, node, around, argument, scope)
    if folded is not None:
        return folded
    total = _summed_function(t, node, around, argument, scope)
    if total is not None:
        return total
    source = _Source(node.itself, node.itself.name, bound.bindings, node.body, around, bound.domain)

    def applied(reads: tuple[Expression, ...]) -> Expression:
        return FunctionApplicationExpr(place=node.place, function=node, argument=reads[0])

    return _chain_or_table(t, source, (argument,), scope, _with_arguments((argument,), scope, around, applied))


def _summed_function(
    t: Translation, node: RecursiveFunctionExpr, around: TranslationScope, argument: Argument, scope: TranslationScope
) -> TypedSource | None:
    """Translate the application of a recursive function that goes through a set, None for another one."""
    bound = node.ranges[0]
    domain, _ = head(bound.domain, around)
    if not isinstance(domain, BuiltinExpr) or domain.operator != "SUBSET":
        return None
    total = summed(t, SetRecursion(node.itself, bound.bindings, node.body, around), (argument,), scope)
    if total is None:
        return None
    inside = in_domain(t, argument, scope, bound.domain, around)
    return total if inside == "True" else replace(total, source=f"checked({total.source}, {inside})")


def _with_arguments(
    arguments: Sequence[Argument],
    scope: TranslationScope,
    around: TranslationScope,
    build: Callable[[tuple[Expression, ...]], Expression],
) -> tuple[Expression, TranslationScope]:
    """Return an application in which names stand for the arguments, and the scope with these names."""
    names = [NameBinding(f"argument{index}", one.place) for index, one in enumerate(arguments, start=1)]
    pairs = [(name, Delayed(one, scope)) for name, one in zip(names, arguments, strict=True)]
    return build(tuple(BoundExpr(place=name.place, binding=name) for name in names)), around.bind(pairs)


def _chain_or_table(
    t: Translation,
    source: _Source,
    arguments: Sequence[Argument],
    scope: TranslationScope,
    whole: tuple[Expression, TranslationScope],
) -> TypedSource:
    """Translate a recursion to a chain of helpers or, where these cannot say it, to a table."""
    try:
        return _called(t, source, arguments, scope, whole[0].place, inlined_max=_INLINED_MAX)
    except (SpecError, _LongChain) as error:
        table = tabulated(t, source.name, *whole)
        if table is not None:
            return table
        if isinstance(error, _LongChain):
            return _called(t, source, arguments, scope, whole[0].place)
        if source.key in t.recursions or not any(isinstance(head(one, scope)[0], TupleExpr) for one in arguments):
            raise
    # A tuple that is gone through item by item is a sequence.
    return _called(t, source, arguments, scope, whole[0].place, SequenceShape(NOTHING))


def inner_call(t: Translation, itself: NameBinding, argument: Argument, scope: TranslationScope) -> TypedSource | None:
    """Translate `f[e]` inside of the definition of f; None for another function."""
    recursion = t.recursions.get(itself)
    if recursion is None:
        return None
    code = _inner(t, recursion, (argument,), scope)
    return TypedSource(f"({code.source} > 0)", BOOLEAN) if recursion.counts_ways else code


def ways_of_call(
    t: Translation,
    node: FunctionApplicationExpr,
    function: tuple[Expression, TranslationScope],
    scope: TranslationScope,
    write: Callable[[Expression, TranslationScope], str],
) -> TypedSource | None:
    """Return the number of ways in which `f[e]` is true for a recursive f, None for another function.

    `write` writes the number of ways in which the body of f is true.
    """
    read, around = function
    if isinstance(read, BoundExpr) and getattr(t.recursions.get(read.binding), "counts_ways", False):
        return _inner(t, t.recursions[read.binding], (node.argument,), scope)
    if not isinstance(read, RecursiveFunctionExpr) or len(read.ranges) > 1 or len(read.ranges[0].bindings) > 1:
        return None
    bound = read.ranges[0]

    def body(inside: TranslationScope) -> TypedSource:
        return TypedSource(write(read.body, inside), NUMBER)

    source = _Source(read.itself, f"ways of {read.itself.name}", bound.bindings, read.body, around, bound.domain, body)
    return _called(t, source, (node.argument,), scope, node.place)


@dataclass(frozen=True, slots=True)
class _Source:
    """The definition of a recursion: its key, name, parameters, body, the scope around it, the domain of a function.

    `ways` writes the number of ways in which the body is true, where that is what the helpers have.
    """

    key: OperatorDefinition | NameBinding
    name: str
    parameters: tuple[NameBinding, ...]
    body: Expression
    around: TranslationScope
    domain: Expression | None = None
    ways: Callable[[TranslationScope], TypedSource] | None = None

    @property
    def parts(self) -> tuple[Expression, ...]:
        """Return the expressions that a helper is written of."""
        return (self.body,) if self.domain is None else (self.body, self.domain)


def _inner(t: Translation, recursion: Recursion, arguments: Sequence[Argument], scope: TranslationScope) -> TypedSource:
    codes = [t.value(argument, scope, shape) for argument, shape in zip(arguments, recursion.shapes, strict=True)]
    joined = [join(shape, code.shape) for shape, code in zip(recursion.shapes, codes, strict=True)]
    recursion.shapes = [with_tuples_as_sequences(shape, t.records) for shape in joined]
    return TypedSource(recursion.call(_LEVEL, [code.source for code in codes], is_inner=True), recursion.result)


def _called(
    t: Translation,
    source: _Source,
    arguments: Sequence[Argument],
    scope: TranslationScope,
    place: Span,
    tuples: Shape = NOTHING,
    inlined_max: int | None = None,
) -> TypedSource:
    """Translate a call; `tuples` is the shape of arguments that are written as tuples.

    Raises _LongChain for a chain whose compiled code has more than `inlined_max` copies of the body.
    """
    known = t.recursions.get(source.key)
    if known is not None:
        return _inner(t, known, arguments, scope)
    reads = any(reads_state(t, part, source.around) for part in source.parts)
    is_next = reads and t.is_primed and t.reading is StateReading.STEP
    if reads and (t.is_primed or t.reading is StateReading.INITIAL) and not is_next:
        raise refusal(f"the recursive {source.name} of a new state", place)
    wants = [tuples if isinstance(head(one, scope)[0], TupleExpr) else NOTHING for one in arguments]
    codes = [t.value(argument, scope, want) for argument, want in zip(arguments, wants, strict=True)]
    around, extra = _captured(t, source, place)
    name = unique(snake_case(identifier(source.name)), t.helpers)
    state, counts_ways = "nxt" if is_next else "st", source.ways is not None
    recursion = Recursion(name, [code.shape for code in codes], extra, reads, state=state, counts_ways=counts_ways)
    parameters = [f"{snake_case(identifier(one.name))}_{index}" for index, one in enumerate(source.parameters, 1)]
    with t.reading_state() if is_next else nullcontext():
        body = _body(t, source, recursion, parameters, around)
    if any(
        isinstance(plain, SetShape) and _has_sequences(plain.element) for plain in alternatives_of(recursion.result)
    ):
        # Compiling a chain of these takes minutes: each level has a word for every possible sequence.
        raise refusal(f"the recursive {source.name}, whose value is a set of sequences,", place)
    codes = [t.value(argument, scope, shape) for argument, shape in zip(arguments, recursion.shapes, strict=True)]
    depth = min(_DEPTH_MAX, max(_DEPTH_LEAST, *map(_depth, recursion.shapes)) + 4 * t.universe.bounds.widening)
    calls = len(re.findall(re.escape(f"{name}_level_{_LEVEL}("), body))
    if inlined_max is not None and calls > 1 and calls**depth > inlined_max:
        raise _LongChain
    last = f"checked({default_of(t.names, t.records, recursion.result, place)}, False)"
    with t.reading_state() if is_next else nullcontext():
        test = _domain_test(t, source, recursion, parameters, around)
    body = body if test == "True" else f"({body} if {test} else {last})"
    lines = recursion.lines(parameters, body, last, depth, source.body.place)
    recursion.name = next((known for known, other in t.helpers.items() if _are_same(name, lines, known, other)), name)
    if recursion.name == name:
        t.helpers[name] = lines
    return TypedSource(
        recursion.call(str(depth), [code.source for code in codes], is_inner=False),
        recursion.result,
    )


def _are_same(name: str, lines: list[WrittenLine], other: str, others: list[WrittenLine]) -> bool:
    """Return whether two chains of helpers differ in their names only."""
    return [line.text.replace(f"{name}_level", "_level") for line in lines] == [
        line.text.replace(f"{other}_level", "_level") for line in others
    ]


def _body(
    t: Translation, source: _Source, recursion: Recursion, parameters: list[str], around: TranslationScope
) -> str:
    """Translate the body until the shapes of parameters and result cover the recursive calls."""
    t.recursions[source.key] = recursion
    try:
        if source.ways is None:
            recursion.result = _result_seen(t, source.body, _inside(source, recursion, parameters, around))
        else:
            recursion.result = NUMBER
        for _ in range(_ROUNDS_MAX):
            before = (list(recursion.shapes), recursion.result)
            with t.inside_helper():
                inside = _inside(source, recursion, parameters, around)
                code = source.ways(inside) if source.ways else t.value(source.body, inside, recursion.result)
            recursion.result = join(recursion.result, code.shape)
            if (recursion.shapes, recursion.result) == before:
                return code.source
    finally:
        del t.recursions[source.key]
    raise refusal(f"the recursive {source.name}, whose values keep growing", source.body.place)


def _domain_test(
    t: Translation, source: _Source, recursion: Recursion, parameters: list[str], around: TranslationScope
) -> str:
    """Return the test that the argument of a recursive function is in its domain."""
    if source.domain is None:
        return "True"
    read = BoundExpr(place=source.domain.place, binding=source.parameters[0])
    with t.inside_helper():
        return in_domain(t, read, _inside(source, recursion, parameters, around), source.domain, around)


def _inside(source: _Source, recursion: Recursion, parameters: list[str], around: TranslationScope) -> TranslationScope:
    """Return the scope of the body, with the parameters of a helper."""
    codes = [TypedSource(*pair) for pair in zip(parameters, recursion.shapes, strict=True)]
    return around.bind(zip(source.parameters, map(SpecLocal, codes), strict=True))


def _result_seen(t: Translation, node: Expression, scope: TranslationScope) -> Shape:
    """Return the shape of those branches of a body that can be translated before the shape of the result is known."""
    node, scope = head(node, scope)
    match node:
        case IfExpr():
            return join(_result_seen(t, node.then, scope), _result_seen(t, node.otherwise, scope))
        case CaseExpr():
            values = [value for _, value in node.arms] + ([node.other] if node.other is not None else [])
            return join_all(_result_seen(t, value, scope) for value in values)
    try:
        with t.inside_helper():
            return t.value(node, scope).shape
    except SpecError:
        return NOTHING


def _captured(t: Translation, source: _Source, place: Span) -> tuple[TranslationScope, list[tuple[str, TypedSource]]]:
    """Return the scope of the body, where locals around it are parameters, and these locals."""
    capture = _Capture(t, source.name, place)
    free = frozenset().union(*(t.facts.of(part).free for part in source.parts))
    return capture.inside(free - {source.key, *source.parameters}, source.around), capture.extra


@dataclass(slots=True)
class _Capture:
    """The locals that a recursion uses, by the names of the parameters that stand for them in its helpers."""

    t: Translation
    recursion: str
    place: Span
    extra: list[tuple[str, TypedSource]] = field(default_factory=list)

    def inside(self, free: Iterable[Name], scope: TranslationScope) -> TranslationScope:
        """Return a scope in which some names mean what they mean in another one, with parameters for its locals."""
        for name in sorted(free, key=lambda one: (one.name, one.place.line)):
            if name in scope.entries and _has_locals(self.t, name, scope):
                scope = scope.bind(((name, self._entry(name, scope)),))
        return scope

    def _entry(self, name: Name, scope: TranslationScope) -> Entry:
        entry, t = scope.entries[name], self.t
        if isinstance(name, OperatorDefinition):
            read: Expression = ApplyExpr(place=self.place, operator=name, arguments=())
            is_value = not name.parameters and not name.recursive
        else:
            read = BoundExpr(place=self.place, binding=name)
            is_value = not name.arity and not (isinstance(entry, Delayed) and isinstance(entry.expression, LambdaExpr))
        if is_value and is_total(t, read, scope):
            return self._parameter(name.name, t.value(read, scope))
        match entry:
            case Delayed(expression, around):
                return Delayed(expression, self.inside(t.facts.of(expression).free, around))
            case LetScope(around) if isinstance(name, OperatorDefinition) and not name.recursive:
                free = t.facts.of_definition(name).free - {name}
                return LetScope(self.inside(free, around))
        raise refusal(f"the recursive {self.recursion}, which uses {name.name} of what is around it,", self.place)

    def _parameter(self, name: str, code: TypedSource) -> SpecLocal:
        """Return the parameter that stands for a value."""
        known = next((parameter for parameter, other in self.extra if other == code), None)
        parameter = known or unique(f"{snake_case(identifier(name))}_of", [one for one, _ in self.extra])
        if known is None:
            self.extra.append((parameter, code))
        return SpecLocal(TypedSource(parameter, code.shape, code.is_network))


def _has_locals(t: Translation, name: Name, scope: TranslationScope) -> bool:
    """Return whether a name is a local of the generated code, or is computed from one."""
    entry = scope.entries.get(name)
    match entry:
        case SpecLocal():
            return True
        case Delayed(expression, inner):
            return any(_has_locals(t, part, inner) for part in t.facts.of(expression).free)
        case LetScope(inner) if isinstance(name, OperatorDefinition):
            free = t.facts.of_definition(name).free - {name}
            return any(_has_locals(t, part, inner) for part in free)
        case _:
            return False


def _has_sequences(shape: Shape) -> bool:
    return any(isinstance(plain, SequenceShape) for plain in alternatives_of(shape))


def _depth(shape: Shape) -> int:
    """Return how many calls go through a value: one for each element, and one for the end."""
    match shape:
        case SetShape(AtomShape(atoms)):
            return len(atoms) + 1
        case SetShape(NumberShape(int() as least, int() as greatest)):
            return greatest - least + 2
        case SequenceShape(longest=int() as longest):
            return longest + 2
        case NumberShape(least=int() as least, greatest=int() as greatest):
            return max(abs(least), abs(greatest)) + 2
        case _:
            return 8
