r"""Ranges as loops: `x \in S` as `for x in S`, with what is chosen from described sets taken apart.

A filter becomes a condition behind its loop, a product one loop for each side, a set of functions on constant keys one
loop for each key, a set of records one for each field: no such set is ever built, and each element is met once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from kmc.errors import Span
from kmc.tla.resolved.nodes import (
    Argument,
    BoundExpr,
    BoundRange,
    BuiltinExpr,
    Expression,
    FunctionSetExpr,
    NameBinding,
    ProductExpr,
    RecordExpr,
    RecordSetExpr,
    SetEnumerationExpr,
    SetFilterExpr,
    SetMapExpr,
    TupleExpr,
)
from kmc.tla.shapes.refusal import refusal
from kmc.tla.shapes.shape import (
    BOOLEAN,
    NOTHING,
    NUMBER,
    AtomShape,
    MapShape,
    NumberShape,
    RecordKey,
    RecordShape,
    SequenceShape,
    SetShape,
    Shape,
    alternatives_of,
    join_all,
)
from kmc.tla.translate.literals import wanted
from kmc.tla.translate.narrowing import Found, guard
from kmc.tla.translate.scope import Delayed, Entry, SpecLocal, TranslationScope, TypedSource, head
from kmc.tla.translate.several_kinds import only_function
from kmc.tla.translate.translation import Translation
from kmc.tla.values.kinds import TlaBoolean, Value
from kmc.tla.values.order import sorted_values

_KEYS_MAX = 16
_LENGTH_MAX = 6


@dataclass(frozen=True, slots=True)
class Clause:
    """A loop (`for x in S`) or a condition (`if P`) of a comprehension or a choice."""

    text: str


@dataclass(frozen=True, slots=True)
class ChosenElement:
    """What a name is bound to by a choice, and the clauses that choose it."""

    entry: Entry
    clauses: tuple[Clause, ...]


def loops(
    t: Translation, ranges: Sequence[BoundRange], scope: TranslationScope, *, may_repeat: bool = False
) -> tuple[TranslationScope, str] | None:
    """Return the scope inside of some ranges and the clauses of a comprehension over them, None where one is empty.

    `may_repeat` says that an element may be met several times, as in a quantifier.
    """
    inside = clauses_of(t, ranges, scope, may_repeat=may_repeat)
    return None if inside is None else (inside[0], " ".join(clause.text for clause in inside[1]))


def clauses_of(
    t: Translation, ranges: Sequence[BoundRange], scope: TranslationScope, *, may_repeat: bool = False
) -> tuple[TranslationScope, list[Clause]] | None:
    """Return the scope inside of some ranges, and their clauses; domains do not see the names of other ranges.

    None where a set is empty in all states.
    """
    pairs: list[tuple[NameBinding, Entry]] = []
    clauses: list[Clause] = []
    for bound in ranges:
        if bound.is_pattern:
            chosen = choose(t, bound.domain, scope, "item", may_repeat=may_repeat)
            if chosen is None:
                return None
            clauses.extend(chosen.clauses)
            pairs.extend(items_of(t, bound, chosen.entry))
            continue
        for binding in bound.bindings:
            chosen = choose(t, bound.domain, scope, binding.name, may_repeat=may_repeat)
            if chosen is None:
                return None
            clauses.extend(chosen.clauses)
            pairs.append((binding, chosen.entry))
    return scope.bind(pairs), clauses


def items_of(t: Translation, bound: BoundRange, entry: Entry) -> list[tuple[NameBinding, Entry]]:
    """Return what the names of a tuple pattern mean for an element that is chosen."""
    if isinstance(entry, Delayed) and isinstance(entry.expression, TupleExpr):
        items = [Delayed(item, entry.scope) for item in entry.expression.items]
        return list(zip(bound.bindings, items, strict=True))
    if not isinstance(entry, SpecLocal) or not isinstance(entry.code.shape, RecordShape):
        raise refusal("a tuple pattern over this set", bound.place)
    names = tuple(f"item{index}" for index in range(1, len(bound.bindings) + 1))
    is_one = len(entry.code.shape.classes) == 1
    if not is_one or any(not key.is_tuple or key.fields != names for key in entry.code.shape.classes):
        raise refusal("a tuple pattern over tuples of another length", bound.place)
    return [
        (binding, SpecLocal(TypedSource(f"{entry.code.source}.{name}", t.records.field_of(entry.code.shape, name))))
        for binding, name in zip(bound.bindings, names, strict=True)
    ]


def choose(
    t: Translation,
    domain: Expression,
    scope: TranslationScope,
    name: str,
    want: Shape = NOTHING,
    *,
    is_statement: bool = False,
    may_repeat: bool = False,
) -> ChosenElement | None:
    """Return how an element of a set is chosen, None where the set is empty in all states.

    `want` is the shape of the place that the element goes to, if that is known. Among statements, the constant that is
    the only element of a set needs no loop, which a comprehension cannot lack.
    """
    node, inner = head(domain, scope)
    match node:
        case SetEnumerationExpr(items=(only,)) if is_statement and _is_plain(t.constant(*head(only, inner))):
            return ChosenElement(Delayed(only, inner), ())
        case SetFilterExpr() if not node.range.is_pattern:
            chosen = choose(t, node.range.domain, inner, name, want, is_statement=is_statement, may_repeat=may_repeat)
            if chosen is None:
                return None
            body = inner.bind(((node.range.bindings[0], chosen.entry),))
            test, found = guard(t, node.condition, body)
            return ChosenElement(_narrowed(chosen.entry, found), (*chosen.clauses, Clause(f"if {test}")))
        case ProductExpr():
            return _taken_apart(
                t,
                [(part, NOTHING) for part in node.sets],
                inner,
                name,
                lambda reads: TupleExpr(place=node.place, items=reads),
                is_statement=is_statement,
            )
        case RecordSetExpr():
            fields = [field for field, _ in node.fields]
            known = t.records.fields.get(RecordKey(tuple(sorted(fields))), {})
            parts = [(values, known.get(field, NOTHING)) for field, values in node.fields]

            def record(reads: tuple[Expression, ...]) -> Expression:
                return RecordExpr(place=node.place, fields=tuple(zip(fields, reads, strict=True)))

            return _taken_apart(t, parts, inner, name, record, is_statement=is_statement)
        case FunctionSetExpr():
            return _function(t, node, inner, name, want, is_statement=is_statement)
        case BuiltinExpr(operator="UNION", arguments=(sets,)) if may_repeat and _are_functions(sets, inner):
            return _of_some_set(t, sets, inner, name, want)
    source, shape = iterable(t, node, inner, want)
    if shape == NOTHING:
        return None
    local = t.names.fresh(name)
    t.add_element(local, source)
    return ChosenElement(SpecLocal(TypedSource(local, shape)), (Clause(f"for {local} in {source}"),))


def _are_functions(sets: Argument, scope: TranslationScope) -> bool:
    """Return whether each of some sets is a set of functions, whose elements are never listed."""
    node, inner = head(sets, scope)
    return isinstance(node, SetMapExpr) and isinstance(head(node.body, inner)[0], FunctionSetExpr)


def has_other_order(t: Translation, ranges: Sequence[BoundRange], scope: TranslationScope) -> bool:
    """Return whether functions of a union may be met in another order than TLC's: by the size of their set.

    Those on 1..n with values of one set, for n of an interval, are in order.
    """
    return any(_has_other_order(t, bound.domain, scope) for bound in ranges)


def _has_other_order(t: Translation, domain: Argument, scope: TranslationScope) -> bool:
    node, inner = head(domain, scope)
    if isinstance(node, SetFilterExpr):
        return _has_other_order(t, node.range.domain, inner)
    if not isinstance(node, BuiltinExpr) or node.operator != "UNION" or not _are_functions(node.arguments[0], inner):
        return False
    sets, around = head(node.arguments[0], inner)
    assert isinstance(sets, SetMapExpr)
    functions = sets.body
    if not isinstance(functions, FunctionSetExpr):
        return True  # an operator or a LET in between may hide the number
    match sets.ranges, functions.domain:
        case (BoundRange(bindings=(number,), domain=numbers),), BuiltinExpr(operator="..", arguments=(first, last)):
            interval, _ = head(numbers, around)
            is_interval = isinstance(interval, BuiltinExpr) and interval.operator == ".."
            is_last = isinstance(last, BoundExpr) and last.binding is number
            is_fixed = number not in t.facts.of(functions.codomain).free | t.facts.of(first).free
            return not (is_interval and is_last and is_fixed)
    return True


def _of_some_set(
    t: Translation, sets: Argument, scope: TranslationScope, name: str, want: Shape
) -> ChosenElement | None:
    """Choose a set, and then one of its elements: an element of several sets is met several times."""
    node, inner = head(sets, scope)
    assert isinstance(node, SetMapExpr)
    around = clauses_of(t, node.ranges, inner, may_repeat=True)
    chosen = None if around is None else choose(t, node.body, around[0], name, want, may_repeat=True)
    if around is None or chosen is None:
        return None
    return replace(chosen, clauses=(*around[1], *chosen.clauses))


def _narrowed(entry: Entry, found: Found) -> Entry:
    """Return a local with the classes that the condition of its choice leaves."""
    if isinstance(entry, SpecLocal) and entry.code.source in found:
        return SpecLocal(TypedSource(entry.code.source, found[entry.code.source], entry.code.is_network))
    return entry


def _taken_apart(
    t: Translation,
    sets: Sequence[tuple[Expression, Shape]],
    scope: TranslationScope,
    name: str,
    build: Callable[[tuple[Expression, ...]], Expression],
    *,
    is_statement: bool,
) -> ChosenElement | None:
    """Choose every part by itself, with the shape of its place; the whole is an expression over them."""
    pairs: list[tuple[NameBinding, Entry]] = []
    clauses: list[Clause] = []
    for index, (part, want) in enumerate(sets, start=1):
        chosen = choose(t, part, scope, f"{name}{index}", want, is_statement=is_statement)
        if chosen is None:
            return None
        pairs.append((NameBinding(f"{name}{index}", part.place), chosen.entry))
        clauses.extend(chosen.clauses)
    reads = tuple(BoundExpr(place=binding.place, binding=binding) for binding, _ in pairs)
    return ChosenElement(Delayed(build(reads), scope.bind(pairs)), tuple(clauses))


def _is_plain(value: Value | None) -> bool:
    """Return whether a constant is known that no symmetry permutes."""
    return isinstance(value, int | str | TlaBoolean) or value == frozenset()


def _function(
    t: Translation, node: FunctionSetExpr, scope: TranslationScope, name: str, want: Shape, *, is_statement: bool
) -> ChosenElement | None:
    keys = t.listed(node.domain, scope)
    if keys is not None and len(keys) > _KEYS_MAX:
        raise refusal(
            f"a choice from a set of functions, unless a constant domain has at most {_KEYS_MAX} keys,", node.place
        )
    if not keys:
        return _of_some_domain(t, node, scope, name, want)
    as_map, as_sequence = wanted(want, MapShape), wanted(want, SequenceShape)
    # A tuple is a record as a key, unless the place of the function says otherwise.
    key_want = as_map.key if isinstance(as_map, MapShape) and as_map.key != NOTHING else RecordShape(frozenset())
    value_want = as_map.value if isinstance(as_map, MapShape) else NOTHING
    if as_map is None and isinstance(as_sequence, SequenceShape):
        value_want = as_sequence.element
    pairs: list[tuple[TypedSource, TypedSource]] = []
    clauses: list[Clause] = []
    for key in sorted_values(keys):
        chosen = choose(t, node.codomain, scope, name, value_want, is_statement=is_statement)
        if chosen is None:
            return None
        clauses.extend(chosen.clauses)
        pairs.append((t.literal(key, key_want), _code_of(t, chosen.entry, node.place)))
    values = join_all(value.shape for _, value in pairs)
    for atoms in alternatives_of(values):
        classes = t.names.classes(atoms) if isinstance(atoms, AtomShape) else []
        t.mixed.update(classes if len(classes) > 1 else [])
    if as_sequence is not None and as_map is None and keys == frozenset(range(1, len(keys) + 1)):
        source = ", ".join(value.source for _, value in pairs)
        code = TypedSource(f"[{source}]", SequenceShape(values, len(keys), len(keys)))
        return ChosenElement(SpecLocal(code), tuple(clauses))
    source = ", ".join(f"{key.source}: {value.source}" for key, value in pairs)
    shape = MapShape(join_all(key.shape for key, _ in pairs), values, frozenset(keys))
    return ChosenElement(SpecLocal(TypedSource("{" + source + "}", shape)), tuple(clauses))


def _of_some_domain(
    t: Translation, node: FunctionSetExpr, scope: TranslationScope, name: str, want: Shape
) -> ChosenElement:
    """Choose a function whose domain depends on the state: a sequence on 1..n, or one of the functions on a set."""
    local = t.names.fresh(name)
    values, value = iterable(t, node.codomain, scope)
    length = _length_of_domain(t, node.domain, scope)
    if length is not None:
        source, longest = length
        shape = SequenceShape(value, 0, longest)
        test = f"if checked(len({local}) == max({source}, 0), {source} <= {longest})"
        clauses = (Clause(f"for {local} in sequences({values}, {longest})"), Clause(test))
        if wanted(want, MapShape) is None:
            return ChosenElement(SpecLocal(TypedSource(local, shape)), clauses)
        offset = t.names.fresh("offset")
        pairs = f"{{{offset}: {local}.at({offset}) for {offset} in {local}.offsets()}}"
        return ChosenElement(SpecLocal(TypedSource(pairs, MapShape(NumberShape(1, longest), value))), clauses)
    keys, key = iterable(t, node.domain, scope)
    function = SpecLocal(TypedSource(local, MapShape(key, value)))
    return ChosenElement(function, (Clause(f"for {local} in functions({keys}, {values})"),))


def _length_of_domain(t: Translation, domain: Expression, scope: TranslationScope) -> tuple[str, int] | None:
    """Return the length of the sequences with a domain, and the greatest that was seen; None for another domain."""
    node, inner = head(domain, scope)
    match node:
        case BuiltinExpr(operator="..", arguments=(first, last)) if t.constant(*head(first, inner)) == 1:
            known = _length_of_sequence(t, "Len", *head(last, inner))
            if known is None:
                number = t.value(last, inner)
                if not isinstance(number.shape, NumberShape):
                    return None
                known = number.source, t.universe.bounds.tight(number.shape)[1]
        case _:
            known = _length_of_sequence(t, "DOMAIN", node, inner)
            if known is None:
                return None
    return known[0], min(max(known[1], 1) + t.universe.bounds.widening, _LENGTH_MAX)


def _length_of_sequence(t: Translation, word: str, node: Expression, scope: TranslationScope) -> tuple[str, int] | None:
    """Return the length of s and the greatest that was seen, where a node is `Len(s)` or `DOMAIN s` of a sequence."""
    if not isinstance(node, BuiltinExpr) or node.operator != word:
        return None
    code = only_function(t, t.value(node.arguments[0], scope))
    if not isinstance(code.shape, SequenceShape):
        return None
    return f"len({code.source})", code.shape.longest or 1


def _code_of(t: Translation, entry: Entry, place: Span) -> TypedSource:
    binding = NameBinding("chosen", place)
    return t.value(BoundExpr(place=place, binding=binding), TranslationScope().bind(((binding, entry),)))


def iterable(t: Translation, domain: Argument, scope: TranslationScope, want: Shape = NOTHING) -> tuple[str, Shape]:
    """Return what a loop over a set iterates over, and the shape of its elements; `want` is that of their place."""
    node, inner = head(domain, scope)
    if isinstance(node, BuiltinExpr):
        match node.operator, node.arguments:
            case "..", (first, last):
                return f"range({t.source(first, inner)}, {t.source(last, inner)} + 1)", t.interval(first, last, inner)
            case "DOMAIN", (function,):
                return _keys(t, only_function(t, t.value(function, inner)), node.place)
            case "SUBSET", (base,):
                known = t.value(base, inner)
                return f"subsets({_bare(t, known.source)})", SetShape(_element(known, node.place))
            case "BOOLEAN", ():
                return "{False, True}", BOOLEAN
    code = t.value(node, inner, NOTHING if want == NOTHING else SetShape(want))
    return _bare(t, code.source), _element(code, node.place)


def _bare(t: Translation, source: str) -> str:
    """Return a type or a range in place of the set of its members, which a loop can do without."""
    if source.startswith("set(") and source.endswith(")"):
        body = source[4:-1]
        if body.isidentifier() or (body.startswith("range(") and body.count("(") == 1):
            return body
    return source


def _keys(t: Translation, function: TypedSource, place: Span) -> tuple[str, Shape]:
    match function.shape:
        case SequenceShape():
            return f"{function.source}.offsets()", NUMBER
        case MapShape():
            return function.source, function.shape.key
        case RecordShape(classes) if len(classes) == 1 and all(key.is_tuple for key in classes):
            length = max(len(key.fields) for key in classes)
            return f"range(1, {length} + 1)", NumberShape(1, length)
        case _:
            raise refusal("DOMAIN of this value as a set to choose from", place)


def _element(code: TypedSource, place: Span) -> Shape:
    sets = [plain for plain in alternatives_of(code.shape) if isinstance(plain, SetShape)]
    if not sets:
        raise refusal("a choice from what is not known to be a set", place)
    return sets[0].element
