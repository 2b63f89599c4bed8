r"""Sets and arithmetic: `{...}`, filters, maps of sets, `\union`, SUBSET, CHOOSE, Cardinality, numbers."""

from __future__ import annotations

from kmc.errors import Span
from kmc.tla.resolved.nodes import (
    BoundExpr,
    BuiltinExpr,
    Expression,
    NameBinding,
    ProductExpr,
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
    PlainShape,
    RecordShape,
    SequenceShape,
    SetShape,
    Shape,
    alternatives_of,
    join,
    join_all,
)
from kmc.tla.translate.alike import alike
from kmc.tla.translate.comparable import kind_of
from kmc.tla.translate.iteration import choose, items_of, iterable, loops
from kmc.tla.translate.lazy import is_total
from kmc.tla.translate.literals import have_several_lengths, wanted
from kmc.tla.translate.logic import either
from kmc.tla.translate.membership import may_be, membership
from kmc.tla.translate.narrowing import guard
from kmc.tla.translate.scope import Entry, SpecLocal, TranslationScope, TypedSource, head
from kmc.tla.translate.several_kinds import only_function, only_set
from kmc.tla.translate.translation import Translation
from kmc.tla.values.kinds import Value

_ARITHMETIC = {"+": "+", "-": "-", "*": "*", "%": "%", "\\div": "//"}
_ORDER = {"<": "<", ">": ">", "<=": "<=", ">=": ">="}
EMPTY_SET = TypedSource("set()", SetShape(NOTHING))
_SET_SIGNS = {"\\union": "|", "\\intersect": "&", "\\": "-"}


def _operands(t: Translation, node: BuiltinExpr, scope: TranslationScope) -> tuple[TypedSource, TypedSource]:
    return t.value(node.arguments[0], scope), t.value(node.arguments[1], scope)


def _may_be_numbers(*operands: TypedSource) -> bool:
    """Return whether each operand has a number among its values, as far as these are known: TLC stops at any other."""
    found = [alternatives_of(code.shape) for code in operands]
    return all(not plain or any(isinstance(one, NumberShape) for one in plain) for plain in found)


def arithmetic(t: Translation, node: BuiltinExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    """Translate `+`, `-`, `*`, `%`, `\\div`."""
    left, right = _operands(t, node, scope)
    if not _may_be_numbers(left, right):
        return TypedSource("checked(0, False)", NUMBER)
    source = f"({left.source} {_ARITHMETIC[node.operator]} {right.source})"
    return TypedSource(source, NUMBER)


def power(t: Translation, node: BuiltinExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    """Translate `^`."""
    base, exponent = _operands(t, node, scope)
    return TypedSource(f"(({base.source}) ** {exponent.source})", NUMBER)


def negative(t: Translation, node: BuiltinExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    """Translate the sign of a number."""
    return TypedSource(f"(-{t.source(node.arguments[0], scope)})", NUMBER)


def ordered(t: Translation, node: BuiltinExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    """Translate `<`, `>`, `<=`, `>=`."""
    left, right = _operands(t, node, scope)
    if not _may_be_numbers(left, right):
        return TypedSource("checked(False, False)", BOOLEAN)
    return TypedSource(f"({left.source} {_ORDER[node.operator]} {right.source})", BOOLEAN)


def interval(t: Translation, node: BuiltinExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    """Translate `a..b` as a value."""
    source, shape = iterable(t, node, scope)
    return TypedSource(f"set({source})", SetShape(shape))


def enumeration(t: Translation, node: SetEnumerationExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    """Translate `{a, b}`."""
    known = wanted(want, SetShape)
    element = known.element if isinstance(known, SetShape) else NOTHING
    tuples = [inner.items for inner in (head(item, scope)[0] for item in node.items) if isinstance(inner, TupleExpr)]
    if element == NOTHING and have_several_lengths(tuples):
        element = SequenceShape(NOTHING)
    items = [element_code(t, item, scope, element) for item in node.items]
    shape = SetShape(join_all(item.shape for item in items))
    return TypedSource("{" + ", ".join(item.source for item in items) + "}" if items else "set()", shape)


def element_code(t: Translation, node: Expression, scope: TranslationScope, want: Shape) -> TypedSource:
    """Translate an element of a set, where a tuple is a record unless something else is wanted."""
    inner, inner_scope = head(node, scope)
    if isinstance(inner, TupleExpr) and inner.items and want == NOTHING:
        return t.value(inner, inner_scope, RecordShape(frozenset()))
    return t.value(node, scope, want)


def filtered(t: Translation, node: SetFilterExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    r"""Translate `{x \in S: P}`."""
    bound = node.range
    chosen = choose(t, bound.domain, scope, "item" if bound.is_pattern else bound.bindings[0].name)
    if chosen is None:
        return EMPTY_SET
    inner = scope.bind(items_of(t, bound, chosen.entry) if bound.is_pattern else ((bound.bindings[0], chosen.entry),))
    clauses = " ".join(clause.text for clause in chosen.clauses)
    if not isinstance(chosen.entry, SpecLocal):  # a tuple or a record that is made of the elements of several sets
        made = _whole_element(t, chosen.entry, node.place)
        return TypedSource(f"{{{made.source} {clauses} if {guard(t, node.condition, inner)[0]}}}", SetShape(made.shape))
    local = chosen.entry.code
    condition, found = guard(t, node.condition, inner)
    base, base_scope = head(node.range.domain, scope)
    if _is_network(t, base, base_scope) and (want != NOTHING or local.source not in found):
        network = t.value(base, base_scope)
        return TypedSource(f"{network.source}.keep(lambda {local.source}: {condition})", network.shape, True)
    element = found.get(local.source, local.shape)
    return TypedSource(f"{{{local.source} {clauses} if {condition}}}", SetShape(element))


def _whole_element(t: Translation, entry: Entry, place: Span) -> TypedSource:
    """Return an element that is made of the elements of several sets."""
    binding = NameBinding("item", place)
    return t.value(BoundExpr(place=place, binding=binding), TranslationScope().bind(((binding, entry),)))


def described(t: Translation, node: ProductExpr | RecordSetExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    """Translate a product or a set of records as a value."""
    chosen = choose(t, node, scope, "item")
    if chosen is None:
        return EMPTY_SET
    binding = NameBinding("item", node.place)
    read = BoundExpr(place=node.place, binding=binding)
    element = element_code(t, read, TranslationScope().bind(((binding, chosen.entry),)), NOTHING)
    clauses = " ".join(clause.text for clause in chosen.clauses)
    return TypedSource(f"{{{element.source} {clauses}}}", SetShape(element.shape))


def _is_network(t: Translation, node: Expression, scope: TranslationScope) -> bool:
    if isinstance(node, SetFilterExpr | SetMapExpr | SetEnumerationExpr):
        return False
    shape_owner = node if not isinstance(node, BuiltinExpr) else None
    return shape_owner is not None and t.value(shape_owner, scope).is_network


def mapped(t: Translation, node: SetMapExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    r"""Translate `{e: x \in S}`."""
    inside = loops(t, node.ranges, scope)
    if inside is None:
        return EMPTY_SET
    known = wanted(want, SetShape)
    body = element_code(t, node.body, inside[0], known.element if isinstance(known, SetShape) else NOTHING)
    return TypedSource(f"{{{body.source} {inside[1]}}}", SetShape(body.shape))


def combined(t: Translation, node: BuiltinExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    r"""Translate `\union`, `\intersect` and `\`; a network has words of its own."""
    left = t.value(node.arguments[0], scope, want)
    element = join(left.shape, want) if isinstance(left.shape, SetShape) else want
    right_node, right_scope = head(node.arguments[1], scope)
    if left.is_network and node.operator in ("\\union", "\\"):
        return _network_changed(t, node, left, (right_node, right_scope), element)
    right = t.value(right_node, right_scope, element)
    if node.operator == "\\intersect" and (left.is_network or right.is_network):
        network, other = (left, right) if left.is_network else (right, left)
        local = t.names.fresh("m")
        return TypedSource(f"{network.source}.keep(lambda {local}: {local} in {other.source})", network.shape, True)
    if right.is_network and node.operator == "\\union":
        return TypedSource(f"{right.source}.send_all({left.source})", join(left.shape, right.shape), True)
    left, right = alike(t, left, right, node.place)
    shape = _combined_shape(node.operator, left.shape, right.shape)
    return TypedSource(f"({left.source} {_SET_SIGNS[node.operator]} {right.source})", shape)


def _combined_shape(operator: str, left: Shape, right: Shape) -> Shape:
    """Return the shape of a union, an intersection or a difference."""
    if operator == "\\":
        return left
    if operator == "\\union" or not isinstance(left, SetShape) or not isinstance(right, SetShape):
        return join(left, right)
    kinds = {_kind(plain) for plain in alternatives_of(right.element)}
    return SetShape(join_all(plain for plain in alternatives_of(left.element) if _kind(plain) in kinds))


def _kind(shape: PlainShape) -> str:
    return "atom" if isinstance(shape, AtomShape) else kind_of(shape)


def _network_changed(
    t: Translation, node: BuiltinExpr, left: TypedSource, other: tuple[Expression, TranslationScope], want: Shape
) -> TypedSource:
    words = ("send", "send_all") if node.operator == "\\union" else ("discard", "")
    item, scope = other
    if isinstance(item, SetEnumerationExpr) and len(item.items) == 1:
        known = wanted(want, SetShape)
        element = element_code(t, item.items[0], scope, known.element if isinstance(known, SetShape) else NOTHING)
        shape = join(left.shape, SetShape(element.shape)) if words[0] == "send" else left.shape
        return TypedSource(f"{left.source}.{words[0]}({element.source})", shape, True)
    right = t.value(item, scope, want)
    if words[1]:
        return TypedSource(f"{left.source}.{words[1]}({right.source})", join(left.shape, right.shape), True)
    local = t.names.fresh("m")
    return TypedSource(f"{left.source}.keep(lambda {local}: {local} not in {right.source})", left.shape, True)


def subset_test(t: Translation, node: BuiltinExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    r"""Translate `\subseteq`."""
    left, right_node = t.value(node.arguments[0], scope), node.arguments[1]
    powerset = BuiltinExpr(place=node.place, operator="SUBSET", arguments=(right_node,))
    described, inner = head(right_node, scope)
    if left.is_network or (t.constant(described, inner) is None and not isinstance(described, BuiltinExpr)):
        return TypedSource(membership(t, node.arguments[0], scope, powerset, scope), BOOLEAN)
    if isinstance(described, BuiltinExpr) and described.operator in ("Nat", "Int", "SUBSET", "Seq", "BOOLEAN"):
        return TypedSource(membership(t, node.arguments[0], scope, powerset, scope), BOOLEAN)
    left, right = alike(t, left, t.value(right_node, scope, left.shape), node.place)
    return TypedSource(f"({left.source} <= {right.source})", BOOLEAN)


def subsets(t: Translation, node: BuiltinExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    """Translate SUBSET as a value."""
    source, shape = iterable(t, node, scope)
    local = t.names.fresh("subset")
    return TypedSource(f"{{{local} for {local} in {source}}}", SetShape(shape))


def union_of_sets(t: Translation, node: BuiltinExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    """Translate UNION of a set that is written as its elements or as a map of a set."""
    inner, inner_scope = head(node.arguments[0], scope)
    local = t.names.fresh("element")
    if isinstance(inner, SetMapExpr):
        inside = loops(t, inner.ranges, inner_scope)
        if inside is None:
            return EMPTY_SET
        source, shape = iterable(t, inner.body, inside[0])
        return TypedSource(f"{{{local} {inside[1]} for {local} in {source}}}", SetShape(shape))
    outer, shape = iterable(t, inner, inner_scope)
    sets = [plain for plain in alternatives_of(shape) if isinstance(plain, SetShape)]
    if not sets or len(sets) < len(alternatives_of(shape)):
        raise refusal("UNION of this set", node.place)
    collection = t.names.fresh("set")
    return TypedSource(f"{{{local} for {collection} in {outer} for {local} in {collection}}}", sets[0])


def cardinality(t: Translation, node: BuiltinExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    """Translate Cardinality; of a filter, it is a count."""
    inner, inner_scope = head(node.arguments[0], scope)
    if isinstance(inner, SetFilterExpr) and not inner.range.is_pattern:
        inside = loops(t, (inner.range,), inner_scope)
        if inside is None:
            return TypedSource("0", NumberShape(0, 0))
        return TypedSource(f"count({guard(t, inner.condition, inside[0])[0]} {inside[1]})", NUMBER)
    code = only_set(t.value(inner, inner_scope))
    if not may_be(code.shape, SetShape):
        return TypedSource("checked(0, False)", NUMBER)
    if len(alternatives_of(code.shape)) > 1:
        raise refusal("Cardinality of what may be something else than a set", node.place)
    return TypedSource(f"len({code.source})", NUMBER)


def domain(t: Translation, node: BuiltinExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    """Translate DOMAIN as a value."""
    function = only_function(t, t.value(node.arguments[0], scope))
    match function.shape:
        case SequenceShape():
            return TypedSource(f"set({function.source}.offsets())", SetShape(NUMBER))
        case MapShape() if t.is_bag(function.shape):
            message = t.names.fresh("message")
            return TypedSource(f"{{{message} for {message} in {function.source}}}", SetShape(function.shape.key))
        case MapShape():
            return TypedSource(f"{function.source}.keys()", SetShape(function.shape.key))
        case RecordShape():
            return _fields(t, function, is_total(t, node.arguments[0], scope, trusts_guards=False))
        case _:
            raise refusal("DOMAIN of this value", node.place)


def _fields(t: Translation, record: TypedSource, is_defined: bool) -> TypedSource:
    """Return the set of the fields of a record or of the positions of a tuple, by its class."""
    assert isinstance(record.shape, RecordShape)
    code: TypedSource | None = None
    for key in sorted(record.shape.classes, key=str):
        names = frozenset[Value](range(1, len(key.fields) + 1) if key.is_tuple else key.fields)
        fields = t.literal(names)
        code = fields if code is None else either(t.class_test(record.source, frozenset((key,))), fields, code)
    assert code is not None, "a shape of records has a class"
    if is_defined or len(record.shape.classes) > 1:
        return code
    return TypedSource(f"checked({code.source}, {record.source} == {record.source})", code.shape)


def finite(t: Translation, node: BuiltinExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    """Translate IsFiniteSet: every set of kmc's language is finite."""
    if isinstance(t.value(node.arguments[0], scope).shape, SetShape):
        return TypedSource("True", BOOLEAN)
    raise refusal("IsFiniteSet of this value", node.place)


def booleans(t: Translation, node: BuiltinExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    """Translate BOOLEAN as a value."""
    return TypedSource("{False, True}", SetShape(BOOLEAN))


def asserted(t: Translation, node: BuiltinExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    """Translate Assert, which is TRUE or an error; the module has the words of the error."""
    return TypedSource(f"checked(True, {t.source(node.arguments[0], scope)})", BOOLEAN)


def printed(t: Translation, node: BuiltinExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    """Translate Print and PrintT without their output."""
    if node.operator == "PrintT":
        return TypedSource("True", BOOLEAN)
    return t.value(node.arguments[1], scope, want)
