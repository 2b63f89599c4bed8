r"""Functions, records and tuples: how they are written, read and joined.

One representation belongs to each place: `MapShape` is a map, `SequenceShape` a sequence, `RecordShape` a record, which
a tuple in a set is too. A constructor writes the representation that is wanted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from kmc.errors import Span
from kmc.tla.resolved.nodes import (
    Argument,
    BoundExpr,
    BoundRange,
    BuiltinExpr,
    ChooseExpr,
    ExceptExpr,
    Expression,
    FieldAccessExpr,
    FunctionApplicationExpr,
    FunctionConstructorExpr,
    NameBinding,
    NumberExpr,
    ProductExpr,
    RecordExpr,
    RecursiveFunctionExpr,
    StringExpr,
    TupleExpr,
)
from kmc.tla.shapes.refusal import refusal
from kmc.tla.shapes.shape import (
    NOTHING,
    NUMBER,
    MapShape,
    NumberShape,
    RecordKey,
    RecordShape,
    SequenceShape,
    Shape,
    UnionShape,
    alternatives_of,
    fits,
    join,
    join_all,
)
from kmc.tla.translate.alike import refuse_unlike
from kmc.tla.translate.choosing import first_in_order, only_value
from kmc.tla.translate.computed_fields import value_at
from kmc.tla.translate.computed_updates import updated_at
from kmc.tla.translate.eager import evaluated
from kmc.tla.translate.iteration import choose, iterable, loops
from kmc.tla.translate.lazy import is_total
from kmc.tla.translate.literals import record_source, wanted
from kmc.tla.translate.membership import in_domain
from kmc.tla.translate.pointwise import is_computed_update
from kmc.tla.translate.recursion import inner_call, recursive_function
from kmc.tla.translate.scope import Delayed, SpecLocal, TranslationScope, TypedSource, head
from kmc.tla.translate.sequences import prefix_length
from kmc.tla.translate.several_kinds import only_function
from kmc.tla.translate.translation import Translation
from kmc.tla.translate.tuples import record_of

# Constructors


def record(t: Translation, node: RecordExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    """Translate `[a |-> 1]` to a record, or to a map where its fields are keys that the module computes."""
    values = dict(node.fields)
    if not t.records.is_record(values):
        return _map_of_strings(t, values, scope, want)
    key = RecordKey(tuple(sorted(values)))
    known = t.records.fields.get(key, {})
    return record_source(
        t.records, key, [t.value(values[name], scope, known.get(name, NOTHING)) for name in key.fields]
    )


def _map_of_strings(t: Translation, values: dict[str, Expression], scope: TranslationScope, want: Shape) -> TypedSource:
    as_map = wanted(want, MapShape)
    value = as_map.value if isinstance(as_map, MapShape) else NOTHING
    keys = [t.literal(name) for name in values]
    items = [t.value(item, scope, value) for item in values.values()]
    pairs = ", ".join(f"{key.source}: {item.source}" for key, item in zip(keys, items, strict=True))
    shapes = (join_all(key.shape for key in keys), join_all(item.shape for item in items))
    return TypedSource(f"{{{pairs}}}", MapShape(*shapes, frozenset(values)))


def tuple_(t: Translation, node: TupleExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    """Translate `<<a, b>>` to the representation that is wanted; without a wish it is a tuple with its own class."""
    as_map, as_sequence = wanted(want, MapShape), wanted(want, SequenceShape)
    if isinstance(as_map, MapShape):
        items = [t.value(item, scope, as_map.value) for item in node.items]
        source = ", ".join(f"{index}: {item.source}" for index, item in enumerate(items, start=1))
        fixed: frozenset[object] = frozenset(range(1, len(items) + 1))
        key = NumberShape(1, len(items)) if items else NOTHING  # `<<>>` is the function without keys
        shape = MapShape(key, join_all(item.shape for item in items), fixed)
        return TypedSource("{" + source + "}", shape)
    if isinstance(as_sequence, SequenceShape) or not node.items:
        element = as_sequence.element if isinstance(as_sequence, SequenceShape) else NOTHING
        items = [t.value(item, scope, element) for item in node.items]
        source = ", ".join(item.source for item in items)
        return TypedSource(f"[{source}]", SequenceShape(join_all(item.shape for item in items), len(items), len(items)))
    wants = t.records.item_shapes(len(node.items))
    items = [t.value(item, scope, shape) for item, shape in zip(node.items, wants, strict=True)]
    tuples = t.records.tuple_class([item.shape for item in items], node.place)
    if t.records.are_apart:
        wants = t.records.items_of(tuples)
        items = [t.value(item, scope, shape) for item, shape in zip(node.items, wants, strict=True)]
    code = record_source(t.records, tuples, items)
    for item, written, known in zip(node.items, items, t.records.items_of(tuples), strict=True):
        if not fits(written.shape, known) and not fits(t.records.not_holding(tuples, written.shape), known):
            raise refusal("a tuple in one place and a function in another, as an item of tuples", item.place)
    return code


def constructor(t: Translation, node: FunctionConstructorExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    r"""Translate `[x \in S |-> e]` to a map, or to a sequence where one is wanted."""
    bound = node.ranges[0]
    if bound.is_pattern or _has_several(node):
        return _of_tuples(t, node, scope, want)
    prefix = _prefix(t, node, bound, scope)
    if prefix is not None:
        return prefix
    as_sequence = wanted(want, SequenceShape)
    as_map = wanted(want, MapShape)
    if as_map is None and (isinstance(as_sequence, SequenceShape) or _is_like_a_sequence(t, bound, scope, want)):
        element = as_sequence.element if isinstance(as_sequence, SequenceShape) else NOTHING
        sequence = _sequence(t, node, bound, scope, SequenceShape(element))
        if sequence is not None:
            return sequence
        # Its place becomes one of functions: equal values of TLA+ are written in one way there.
    chosen = choose(t, bound.domain, scope, bound.bindings[0].name)
    if chosen is None:
        return TypedSource("{}", MapShape(NOTHING, NOTHING, frozenset()))
    if not isinstance(chosen.entry, SpecLocal):
        return _of_tuples(t, node, scope, want)
    key = chosen.entry.code
    value = t.value(
        node.body,
        scope.bind(((bound.bindings[0], chosen.entry),)),
        as_map.value if isinstance(as_map, MapShape) else NOTHING,
    )
    fixed = _domain(t, bound.domain, scope)
    clauses = " ".join(clause.text for clause in chosen.clauses)
    return TypedSource(f"{{{key.source}: {value.source} {clauses}}}", MapShape(key.shape, value.shape, fixed))


def _domain(t: Translation, written: Argument, scope: TranslationScope) -> frozenset[object] | None:
    """Return the domain of a function if it is always the same: a constant, or that of another such function."""
    node, inner = head(written, scope)
    listed = t.listed(node, inner)
    if listed is None and isinstance(node, BuiltinExpr) and node.operator == "DOMAIN":
        other = t.value(node.arguments[0], inner).shape
        return other.domain if isinstance(other, MapShape) else None
    return listed


def _is_like_a_sequence(t: Translation, bound: BoundRange, scope: TranslationScope, want: Shape) -> bool:
    """Return whether a function has the domain of a sequence, and nothing says how its place keeps it."""
    domain, inner = head(bound.domain, scope)
    if want != NOTHING or not isinstance(domain, BuiltinExpr) or domain.operator != "DOMAIN":
        return False
    return isinstance(only_function(t, t.value(domain.arguments[0], inner)).shape, SequenceShape)


def _of_tuples(t: Translation, node: FunctionConstructorExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    r"""Translate a function on tuples, such as `[x \in S, y \in T |-> e]`, to a map whose keys are tuples."""
    if len(node.ranges) > 1 and any(bound.is_pattern for bound in node.ranges):
        # Its arguments are tuples that have tuples as items.
        raise refusal("a function with a tuple pattern beside another range", node.place)
    inside = loops(t, node.ranges, scope)
    if inside is None:
        return TypedSource("{}", MapShape(NOTHING, NOTHING, frozenset()))
    bindings = [binding for bound in node.ranges for binding in bound.bindings]
    reads = tuple(BoundExpr(place=node.place, binding=binding) for binding in bindings)
    is_whole = len(bindings) == 1 and not node.ranges[0].is_pattern
    key = t.value(reads[0] if is_whole else TupleExpr(reads, place=node.place), inside[0], RecordShape(frozenset()))
    if not (isinstance(key.shape, RecordShape) and all(one.is_tuple for one in key.shape.classes)):
        raise refusal("a function on a set of records", node.place)
    as_map = wanted(want, MapShape)
    value = t.value(node.body, inside[0], as_map.value if isinstance(as_map, MapShape) else NOTHING)
    sets = [bound.domain for bound in node.ranges for _ in (bound.bindings[:1] if bound.is_pattern else bound.bindings)]
    whole = sets[0] if len(sets) == 1 else ProductExpr(place=node.place, sets=tuple(sets))
    return TypedSource(
        f"{{{key.source}: {value.source} {inside[1]}}}", MapShape(key.shape, value.shape, t.listed(whole, scope))
    )


def _prefix(
    t: Translation, node: FunctionConstructorExpr, bound: BoundRange, scope: TranslationScope
) -> TypedSource | None:
    r"""Return `[i \in 1..n |-> s[i]]` as a prefix of the sequence s."""
    interval, inner = head(bound.domain, scope)
    body, body_scope = head(node.body, scope)
    if not (isinstance(interval, BuiltinExpr) and interval.operator == "..") or not isinstance(
        body, FunctionApplicationExpr
    ):
        return None
    first, argument = head(interval.arguments[0], inner)[0], head(body.argument, body_scope)[0]
    is_first = isinstance(first, NumberExpr) and first.value == 1
    is_index = isinstance(argument, BoundExpr) and argument.binding is bound.bindings[0]
    if not is_first or not is_index or bound.bindings[0] in t.facts.of(body.function).free:
        return None
    sequence = t.value(body.function, body_scope)
    if not isinstance(sequence.shape, SequenceShape):
        return None
    return TypedSource(
        f"{sequence.source}.upto({prefix_length(t.source(interval.arguments[1], inner))})", sequence.shape
    )


def _sequence(
    t: Translation, node: FunctionConstructorExpr, bound: BoundRange, scope: TranslationScope, want: SequenceShape
) -> TypedSource | None:
    """Return a function as a sequence; None where its domain is not known to be 1..n."""
    source, shape = iterable(t, bound.domain, scope)
    interval, inner = head(bound.domain, scope)
    is_interval = (
        isinstance(interval, BuiltinExpr)
        and interval.operator == ".."
        and t.constant(*head(interval.arguments[0], inner)) == 1
    )
    if not is_interval and not source.endswith(".offsets()"):
        return None
    local = t.names.fresh(bound.bindings[0].name)
    inside = scope.bind(((bound.bindings[0], SpecLocal(TypedSource(local, shape))),))
    value = t.value(node.body, inside, want.element)
    return TypedSource(f"[{value.source} for {local} in {source}]", SequenceShape(value.shape))


# Reading


def application(t: Translation, node: FunctionApplicationExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    """Translate `f[e]`."""
    function_node, function_scope = head(node.function, scope)
    argument_node, argument_scope = head(node.argument, scope)
    index = t.constant(argument_node, argument_scope)
    if isinstance(function_node, RecursiveFunctionExpr):
        return recursive_function(t, function_node, function_scope, node.argument, scope)
    if isinstance(function_node, BoundExpr):
        inner = inner_call(t, function_node.binding, node.argument, scope)
        if inner is not None:
            return inner
    if isinstance(function_node, TupleExpr) and isinstance(index, int) and 0 < index <= len(function_node.items):
        others = (*function_node.items[: index - 1], *function_node.items[index:])
        code = t.value(function_node.items[index - 1], function_scope, want)
        return _with_others(code, evaluated(t, others, function_scope))
    if isinstance(function_node, TupleExpr) and index is None:
        return applied(t, t.value(function_node, function_scope, SequenceShape(NOTHING)), node.argument, scope)
    if isinstance(function_node, FunctionConstructorExpr) and _is_inlined(t, function_node, function_scope):
        return _constructed(t, function_node, function_scope, Delayed(node.argument, scope), want)
    if isinstance(function_node, ExceptExpr) and is_computed_update(t, function_node, function_scope):
        return updated_at(t, function_node, function_scope, (node.argument, scope), want)
    if isinstance(function_node, ChooseExpr) and isinstance(argument_node, NumberExpr | StringExpr):
        read = replace(node, argument=argument_node)
        return _of_chosen(t, function_node, function_scope, lambda whole: replace(read, function=whole), want)
    return applied(t, t.value(function_node, function_scope), node.argument, scope)


def _is_inlined(t: Translation, node: FunctionConstructorExpr, scope: TranslationScope) -> bool:
    """Return whether an application of a constructed function is its body, and no map is made."""
    if any(bound.is_pattern for bound in node.ranges):
        return len(node.ranges) == 1 and t.constant(node, scope) is None
    return _has_several(node) or t.constant(node, scope) is None


def _has_several(node: FunctionConstructorExpr) -> bool:
    return sum(len(bound.bindings) for bound in node.ranges) > 1


def _constructed(
    t: Translation, node: FunctionConstructorExpr, scope: TranslationScope, argument: Delayed, want: Shape
) -> TypedSource:
    """Translate a function that is constructed and applied at once to its body for the argument."""
    bindings = [binding for bound in node.ranges for binding in bound.bindings]
    domains = [bound.domain for bound in node.ranges for _ in bound.bindings]
    if len(bindings) == 1 and not node.ranges[0].is_pattern:
        return _in_its_domain(t, node, scope, [argument], [(argument, domains[0])], want)
    items, inner = head(argument.expression, argument.scope)
    if isinstance(items, TupleExpr) and len(items.items) == len(bindings):
        arguments = [Delayed(item, inner) for item in items.items]
        tested = list(zip(arguments, domains, strict=True))
    else:
        numbers = (NumberExpr(place=node.place, value=index) for index in range(1, len(bindings) + 1))
        reads = (FunctionApplicationExpr(place=node.place, function=items, argument=number) for number in numbers)
        arguments = [Delayed(read, inner) for read in reads]
        tested = [(argument, ProductExpr(place=node.place, sets=tuple(domains)))]
    if node.ranges[0].is_pattern:
        tested = [(argument, domains[0])]
    return _in_its_domain(t, node, scope, arguments, tested, want)


def _in_its_domain(
    t: Translation,
    node: FunctionConstructorExpr,
    scope: TranslationScope,
    arguments: list[Delayed],
    tested: list[tuple[Delayed, Expression]],
    want: Shape,
) -> TypedSource:
    """Translate the body of a constructed function for arguments; the tested ones have to be in their domains."""
    given = [(one.expression, one.scope, domain, scope) for one, domain in tested]
    tests = [test for test in (in_domain(t, *one) for one in given) if test != "True"]
    bindings = (binding for bound in node.ranges for binding in bound.bindings)
    code = t.value(node.body, scope.bind(zip(bindings, arguments, strict=True)), want)
    if not tests:
        return code
    return TypedSource(f"checked({code.source}, {' and '.join(tests)})", code.shape, code.is_network)


def applied(t: Translation, function: TypedSource, argument: Expression, scope: TranslationScope) -> TypedSource:
    """Translate `function[argument]` by the representation of the function."""
    function = only_function(t, function)
    shape = function.shape
    match shape:
        case MapShape() if t.is_bag(shape):
            message = t.source(argument, scope, shape.key)
            if t.is_element(message, function.source):
                return TypedSource(f"{function.source}.count({message})", NUMBER)
            return TypedSource(f"count_of({function.source}, {message})", NUMBER)
        case MapShape():
            key = t.value(argument, scope, shape.key)
            as_record = record_of(t.records, key, shape.key)
            if as_record is None:
                refuse_unlike(key.shape, shape.key, argument.place)
            source = key.source if as_record is None else f"checked({as_record[0].source}, {as_record[1]})"
            code = TypedSource(f"{function.source}[{source}]", shape.value)
        case SequenceShape(longest=0):
            return TypedSource("checked(0, False)", NOTHING)  # the empty function has no value
        case SequenceShape():
            code = TypedSource(f"{function.source}.at({t.source(argument, scope)})", shape.element)
        case RecordShape():
            return _item(t, function, argument, scope)
        case UnionShape() if any(isinstance(plain, RecordShape) for plain in alternatives_of(shape)):
            return _item(t, function, argument, scope)
        case UnionShape() if shape == NOTHING:
            return TypedSource("checked(0, False)", NOTHING)  # there is no such function
        case _:
            raise refusal("an application of what is not known to be a function", argument.place)
    return t.narrowed_code(code)


def _item(t: Translation, record: TypedSource, argument: Expression, scope: TranslationScope) -> TypedSource:
    """Translate the application of a record or a tuple."""
    index = t.constant(*head(argument, scope))

    def field(name: int | str) -> TypedSource:
        return t.field(record, f"item{name}" if isinstance(name, int) else name, argument.place)

    if isinstance(index, int | str):
        return field(index)
    return value_at(t, record.shape, argument, scope, lambda name: field(name.value))


def field_access(t: Translation, node: FieldAccessExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    """Translate `record.field`."""
    inner, inner_scope = head(node.record, scope)
    if isinstance(inner, RecordExpr):
        values = dict(inner.fields)
        if node.field not in values:
            return TypedSource("checked(0, False)", NOTHING)  # TLC stops here
        known = t.records.fields.get(RecordKey(tuple(sorted(values))), {}).get(node.field, NOTHING)
        code = t.value(values.pop(node.field), inner_scope, known if want == NOTHING else want)
        return _with_others(code, evaluated(t, values.values(), inner_scope))
    if isinstance(inner, ChooseExpr):
        return _of_chosen(t, inner, inner_scope, lambda record: replace(node, record=record), want)
    return t.field(t.value(inner, inner_scope), node.field, node.place)


def _with_others(code: TypedSource, tests: list[str]) -> TypedSource:
    """Return a part of a record or tuple that is written out, whose other parts are evaluated too."""
    return replace(code, source=f"checked({code.source}, {' and '.join(tests)})") if tests else code


def _of_chosen(
    t: Translation, node: ChooseExpr, scope: TranslationScope, part: Callable[[Expression], Expression], want: Shape
) -> TypedSource:
    """Translate a part of the element that CHOOSE takes."""
    first = first_in_order(t, node, scope, NOTHING)
    if first is None:
        return only_value(t, node, scope, part, want)
    binding = NameBinding("chosen", node.place)
    read = BoundExpr(place=node.place, binding=binding)
    return t.value(part(read), TranslationScope().bind(((binding, SpecLocal(first)),)), want)


# Joining functions


def extended(t: Translation, node: BuiltinExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    """Translate `f @@ g`: of a bag, of a record and more fields, of functions and single pairs."""
    first, first_scope = head(node.arguments[0], scope)
    right, right_scope = head(node.arguments[1], scope)
    left = t.value(first, first_scope, want)
    if isinstance(right, BuiltinExpr) and right.operator == ":>" and (t.is_bag(left.shape) or _is_partial(left.shape)):
        return _with_pair(t, left, right, right_scope, want)
    if isinstance(left.shape, RecordShape) and isinstance(right, RecordExpr):
        return _with_fields(t, left, right, right_scope, node)
    if isinstance(right, FunctionConstructorExpr) and (t.is_bag(left.shape) or t.is_bag(want)):
        return _with_bag(t, left, right, right_scope)
    other = t.value(right, right_scope, left.shape if isinstance(left.shape, MapShape) else want)
    if isinstance(other.shape, MapShape) and not isinstance(left.shape, MapShape):
        # Both sides in one representation: a tuple that is written out is a function here.
        left = t.value(first, first_scope, other.shape)
    if isinstance(left.shape, MapShape) and isinstance(other.shape, MapShape) and not t.is_bag(left.shape):
        known = left.shape.domain is not None and other.shape.domain is not None
        domain = (left.shape.domain or frozenset()) | (other.shape.domain or frozenset())
        whole = join(left.shape, other.shape)
        assert isinstance(whole, MapShape)
        shape = MapShape(whole.key, whole.value, domain if known else None)
        return TypedSource(f"joined({left.source}, {other.source})", shape)
    if _is_empty(other.shape) and not t.is_bag(left.shape):
        return _beside_empty(t, left, other, Delayed(right, right_scope), node.place)
    if _is_empty(left.shape) and not t.is_bag(other.shape):
        return _beside_empty(t, other, left, Delayed(first, first_scope), node.place)
    raise refusal("@@ of these functions", node.place)


def _is_empty(shape: Shape) -> bool:
    """Return whether a value was always the function without keys."""
    return isinstance(shape, SequenceShape) and shape.longest == 0


def _beside_empty(t: Translation, code: TypedSource, empty: TypedSource, read: Delayed, place: Span) -> TypedSource:
    """Return a function that is joined with one without keys, which is evaluated all the same."""
    if not isinstance(code.shape, MapShape) and not _is_empty(code.shape):
        raise refusal("@@ of these functions", place)
    tests = [] if is_total(t, read.expression, read.scope, trusts_guards=False) else [f"len({empty.source}) == 0"]
    shape = replace(code.shape, domain=None) if isinstance(code.shape, MapShape) else code.shape
    return _with_others(replace(code, shape=shape), tests)


def _is_partial(shape: Shape) -> bool:
    """Return whether the domain of a function may vary, so that the type of its place lets it grow."""
    return isinstance(shape, SequenceShape) or (isinstance(shape, MapShape) and shape.domain is None)


def pair(t: Translation, node: BuiltinExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    """Translate `k :> v` as a function of its own."""
    known = wanted(want, MapShape)
    wants = (known.key, known.value) if isinstance(known, MapShape) else (NOTHING, NOTHING)
    key, value = (t.value(item, scope, wish) for item, wish in zip(node.arguments, wants, strict=True))
    constant = t.constant(*head(node.arguments[0], scope))
    domain: frozenset[object] | None = None if constant is None else frozenset((constant,))
    return TypedSource(f"{{{key.source}: {value.source}}}", MapShape(key.shape, value.shape, domain))


def _with_pair(
    t: Translation, left: TypedSource, pair: BuiltinExpr, scope: TranslationScope, want: Shape
) -> TypedSource:
    known = join(left.shape, want) if isinstance(left.shape, MapShape | SequenceShape) else want
    shape = wanted(known, MapShape)
    key_want, value_want = (shape.key, shape.value) if isinstance(shape, MapShape) else (NOTHING, NOTHING)
    key, value = t.value(pair.arguments[0], scope, key_want), t.value(pair.arguments[1], scope, value_want)
    result = join(left.shape, MapShape(key.shape, value.shape))
    if t.is_bag(result):
        if value.source != "1":
            raise refusal("a function of records that begins with another count than 1", pair.place)
        return TypedSource(f"with_message({left.source}, {key.source})", result)
    return TypedSource(f"with_key({left.source}, {key.source}, {value.source})", result)


def _with_bag(t: Translation, left: TypedSource, node: FunctionConstructorExpr, scope: TranslationScope) -> TypedSource:
    keys = t.value(node.ranges[0].domain, scope)
    if t.constant(*head(node.body, scope)) != 1 or len(node.ranges) > 1:
        raise refusal("a function of records that begins with another count than 1", node.place)
    element = getattr(keys.shape, "element", NOTHING)
    return TypedSource(f"with_messages({left.source}, {keys.source})", join(left.shape, MapShape(element, NUMBER)))


def _with_fields(
    t: Translation, left: TypedSource, right: RecordExpr, scope: TranslationScope, node: BuiltinExpr
) -> TypedSource:
    assert isinstance(left.shape, RecordShape)
    if len(left.shape.classes) != 1:
        raise refusal("@@ of a record with several sets of fields", node.place)
    (key,) = left.shape.classes
    added = {name: value for name, value in right.fields if name not in key.fields}
    whole = RecordKey(tuple(sorted((*key.fields, *added))))
    known = t.records.fields.get(whole, {})

    def item(name: str) -> TypedSource:
        if name in added:
            return t.value(added[name], scope, known.get(name, NOTHING))
        return t.field(left, name, node.place)

    return record_source(t.records, whole, [item(name) for name in whole.fields])
