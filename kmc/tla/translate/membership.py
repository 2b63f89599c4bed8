r"""Membership, `x \in S`, as conditions: sets that are described are never built."""

from __future__ import annotations

from dataclasses import replace

from kmc.tla.resolved.nodes import (
    Argument,
    BoundExpr,
    BuiltinExpr,
    Expression,
    FunctionSetExpr,
    IfExpr,
    NameBinding,
    ProductExpr,
    RecordSetExpr,
    SetEnumerationExpr,
    SetFilterExpr,
    SetMapExpr,
)
from kmc.tla.shapes.refusal import refusal
from kmc.tla.shapes.shape import (
    NOTHING,
    NUMBER,
    AtomShape,
    BooleanShape,
    MapShape,
    NumberShape,
    PlainShape,
    RecordKey,
    RecordShape,
    SequenceShape,
    SetShape,
    Shape,
    alternatives_of,
    join_all,
    tuple_key,
)
from kmc.tla.translate.alike import alike, as_elements, refuse_unlike
from kmc.tla.translate.comparable import are_incomparable
from kmc.tla.translate.iteration import loops
from kmc.tla.translate.narrowing import guard
from kmc.tla.translate.pointwise import images_of
from kmc.tla.translate.scope import Delayed, SpecLocal, TranslationScope, TypedSource, head
from kmc.tla.translate.translation import Translation
from kmc.tla.translate.tuples import as_wanted, record_of
from kmc.tla.values.kinds import TlaModelValue


def membership(
    t: Translation, element: Argument, element_scope: TranslationScope, domain: Argument, scope: TranslationScope
) -> str:
    """Translate `element \\in domain` to a condition."""
    node, scope = head(domain, scope)
    binding = NameBinding("element", node.place)
    read = BoundExpr(place=node.place, binding=binding)
    bound = TranslationScope().bind(((binding, Delayed(element, element_scope)),))
    match node:
        case BuiltinExpr():
            return _in_builtin(t, read, bound, node, scope)
        case SetEnumerationExpr() if t.constant(node, scope) is None:
            known = t.value(read, bound)
            items = [t.value(item, scope, known.shape) for item in node.items]
            return f"({' or '.join(_equal(t, known, item, node) for item in items) or 'False'})"
        case SetFilterExpr() if not node.range.is_pattern:
            inner = scope.bind(((node.range.bindings[0], Delayed(element, element_scope)),))
            return f"({membership(t, read, bound, node.range.domain, scope)} and {t.source(node.condition, inner)})"
        case SetMapExpr():
            known = t.value(read, bound)
            inside = loops(t, node.ranges, scope)
            if inside is None:
                return "False"
            code, image = alike(t, known, t.value(node.body, inside[0], known.shape), node.place)
            return f"any({code.source} == {image.source} {inside[1]})"
        case IfExpr():
            test, found = guard(t, node.condition, scope)
            with t.narrowed(found):
                then = membership(t, read, bound, node.then, scope)
            return f"({then} if {test} else {membership(t, read, bound, node.otherwise, scope)})"
        case FunctionSetExpr():
            computed = images_of(t, (read, bound), t.listed(node.domain, scope))
            if computed is not None:
                inside_codomain = membership(t, *computed[0], node.codomain, scope)
                return f"(count(not {inside_codomain} {computed[1]}) == 0)"
            return _in_functions(t, t.value(read, bound), node, scope)
        case RecordSetExpr():
            return _in_records(t, t.value(read, bound), node, scope)
        case ProductExpr():
            return _in_product(t, t.value(read, bound), node, scope)
    known = t.value(read, bound)
    holder = t.value(node, scope, SetShape(known.shape))
    if not may_be(holder.shape, SetShape):
        return "checked(False, False)"
    if any(isinstance(one, SequenceShape | MapShape) for one in alternatives_of(holder.shape)):
        raise refusal("membership in what may be a set or a function", node.place)
    elements = [one.element for one in alternatives_of(holder.shape) if isinstance(one, SetShape)]
    if elements and all(are_incomparable(known.shape, element) for element in elements):
        return f"checked(False, len({holder.source}) == 0)"
    as_record = record_of(t.records, known, join_all(elements))
    if as_record is not None:
        return f"({as_record[1]} and {as_record[0].source} in {holder.source})"
    code, holder = as_elements(t, t.value(read, bound, join_all(elements)), holder)
    refuse_unlike(SetShape(code.shape), holder.shape, node.place)
    return f"({code.source} in {holder.source})"


def _equal(t: Translation, one: TypedSource, other: TypedSource, node: Expression) -> str:
    one, other = alike(t, one, other, node.place)
    return "checked(False, False)" if are_incomparable(one.shape, other.shape) else f"{one.source} == {other.source}"


def may_be(shape: Shape, *kinds: type) -> bool:
    """Return whether a value of a shape may be of one of these kinds, as one may of which nothing is known."""
    plain = alternatives_of(shape)
    return not plain or any(isinstance(one, kinds) for one in plain)


def has_length(shape: PlainShape) -> bool:
    """Return whether a value of this kind is a sequence in TLA+."""
    match shape:
        case MapShape(domain=domain):
            return domain is not None and domain == frozenset(range(1, len(domain) + 1))
        case RecordShape(classes):
            return all(key.is_tuple for key in classes)
        case _:
            return isinstance(shape, SequenceShape)


def in_domain(
    t: Translation, argument: Argument, scope: TranslationScope, domain: Argument, domain_scope: TranslationScope
) -> str:
    r"""Translate `argument \in domain` to a condition, "True" where the shape of the argument says so."""
    keys, value = t.listed(domain, domain_scope), t.constant(*head(argument, scope))
    if keys is not None:
        shape = t.value(argument, scope).shape
        if value in keys or (isinstance(shape, AtomShape) and shape.atoms <= keys):
            return "True"
    return membership(t, argument, scope, domain, domain_scope)


def _in_builtin(
    t: Translation, element: Expression, bound: TranslationScope, node: BuiltinExpr, scope: TranslationScope
) -> str:
    code = t.value(element, bound)
    match node.operator, node.arguments:
        case "Int", ():
            return _only(t, code, NumberShape, node)
        case "Nat", ():
            return _natural(t, code, node)
        case "BOOLEAN", ():
            return _only(t, code, BooleanShape, node)
        case "STRING", ():
            return _in_strings(t, code, node)
        case "..", (first, last):
            return _between(t, code, t.source(first, scope), t.source(last, scope), node)
        case "\\union", parts:
            # Listed sets are tested first, as in TLC: SUBSET S stops at a model value.
            tested = sorted(parts, key=lambda part: _is_symbolic(part, scope))
            return f"({' or '.join(membership(t, element, bound, part, scope) for part in tested)})"
        case "\\intersect", (left, right):
            return f"({membership(t, element, bound, left, scope)} and {membership(t, element, bound, right, scope)})"
        case "\\", (left, right):
            without = membership(t, element, bound, right, scope)
            return f"({membership(t, element, bound, left, scope)} and not {without})"
        case "UNION", (sets,):
            return _in_union(t, element, bound, node, head(sets, scope))
        case "SUBSET", (base,):
            return _each(t, code, SetShape, base, scope, node)
        case "Seq", (base,):
            return _each(t, code, SequenceShape, base, scope, node)
        case "DOMAIN", (function,):
            return _in_domain(t, code, t.value(function, scope), node)
    return f"({code.source} in {t.value(node, scope, SetShape(code.shape)).source})"


def _is_symbolic(domain: Argument, scope: TranslationScope) -> bool:
    """Return whether TLC keeps a set as its definition, without a list of its elements."""
    node, inner = head(domain, scope)
    match node:
        case FunctionSetExpr() | RecordSetExpr() | ProductExpr():
            return True
        case SetFilterExpr():
            return _is_symbolic(node.range.domain, inner)
        case BuiltinExpr(operator="\\union", arguments=parts):
            return any(_is_symbolic(part, inner) for part in parts)
        case BuiltinExpr(operator="\\intersect", arguments=parts):
            return all(_is_symbolic(part, inner) for part in parts)
        case BuiltinExpr(operator="\\", arguments=(first, _)):
            return _is_symbolic(first, inner)
        case BuiltinExpr(operator=operator):
            return operator in ("SUBSET", "Seq", "Nat", "Int", "STRING")
        case _:
            return False


def _in_union(
    t: Translation,
    element: Expression,
    bound: TranslationScope,
    node: BuiltinExpr,
    sets: tuple[Expression, TranslationScope],
) -> str:
    r"""Test `x \in UNION {S(y): y \in T}` in each of the sets."""
    inner, scope = sets
    if isinstance(inner, SetEnumerationExpr):
        return f"({' or '.join(membership(t, element, bound, item, scope) for item in inner.items) or 'False'})"
    if not isinstance(inner, SetMapExpr):
        code = t.value(element, bound)
        return f"({code.source} in {t.value(node, scope, SetShape(code.shape)).source})"
    inside = loops(t, inner.ranges, scope)
    if inside is None:
        return "False"
    return f"any({membership(t, element, bound, inner.body, inside[0])} {inside[1]})"


def _only(t: Translation, code: TypedSource, kind: type, node: BuiltinExpr) -> str:
    """Return the test that a value is of a kind: model values are of none, and TLC stops at other values."""
    others = [plain for plain in alternatives_of(code.shape) if not isinstance(plain, kind)]
    if not others:
        return "True"
    (first, *more) = others
    if not more and isinstance(first, AtomShape) and all(map(_is_plain_model_value, first.atoms)):
        tests = [f"{code.source} in set({name})" for name in t.names.classes(first)]
        return f"(not ({' or '.join(tests)}))"
    raise refusal(f"{node.operator} as a test of the kind of a value", node.place)


def _between(t: Translation, code: TypedSource, first: str, last: str, node: BuiltinExpr) -> str:
    """Return the test that a value is one of the numbers from `first` to `last`."""
    if _only(t, code, NumberShape, node) != "True":
        return f"({code.source} in set(range({first}, {last} + 1)))"
    return f"({first} <= {code.source} <= {last})"


def _natural(t: Translation, code: TypedSource, node: BuiltinExpr) -> str:
    """Return the test that a value is in Nat."""
    test = _only(t, code, NumberShape, node)
    if test == "True":
        return f"({code.source} >= 0)"
    least = next((plain.least for plain in alternatives_of(code.shape) if isinstance(plain, NumberShape)), 0)
    if least is not None and least >= 0 and t.is_stored(code.source):
        return test  # the type of its place has no number below 0
    raise refusal("Nat as a test of what may be a model value", node.place)


def _in_strings(t: Translation, code: TypedSource, node: BuiltinExpr) -> str:
    """Return the test that a value is a string: model values are none, and TLC stops at other values."""
    if not isinstance(code.shape, AtomShape):
        raise refusal("STRING as a test of the kind of a value", node.place)
    others = [atom for atom in code.shape.atoms if not isinstance(atom, str)]
    if not all(map(_is_plain_model_value, others)):
        raise refusal("STRING as a test of what may be a model value with a type", node.place)
    if not others:
        return "True"
    strings = sorted(atom for atom in code.shape.atoms if isinstance(atom, str))
    return f"({code.source} in {{{', '.join(t.literal(atom).source for atom in strings)}}})" if strings else "False"


def _is_plain_model_value(atom: object) -> bool:
    """Return whether an atom is a model value that TLC compares with values of every kind."""
    return isinstance(atom, TlaModelValue) and not atom.type_letter


def _each(
    t: Translation, code: TypedSource, kind: type, base: Argument, scope: TranslationScope, node: BuiltinExpr
) -> str:
    if kind is SequenceShape and isinstance(code.shape, MapShape) and has_length(code.shape):
        return _values_in(t, code, code.shape, base, scope, node)
    test = _only(t, code, kind, node)
    if test != "True" and kind is SetShape:
        test = f"checked(True, {test})"  # TLC stops at a model value
    shape = next((plain for plain in alternatives_of(code.shape) if isinstance(plain, kind)), None)
    if not isinstance(shape, SetShape | SequenceShape):
        raise refusal(f"{node.operator} as a test of the kind of a value", node.place)
    inside = _all(t, code.source, shape.element, base, scope)
    return inside if test == "True" else test if inside == "True" else f"({test} and {inside})"


def _values_in(
    t: Translation, code: TypedSource, shape: MapShape, domain: Argument, scope: TranslationScope, node: Expression
) -> str:
    """Return whether all values of a function are in a set."""
    name = t.names.fresh("key")
    binding = NameBinding(name, node.place)
    bound = TranslationScope().bind(((binding, SpecLocal(TypedSource(f"{code.source}[{name}]", shape.value))),))
    inside = membership(t, BoundExpr(place=node.place, binding=binding), bound, domain, scope)
    return "True" if inside == "True" else f"all({inside} for {name} in {code.source})"


def _all(t: Translation, source: str, shape: Shape, domain: Argument, scope: TranslationScope) -> str:
    """Return whether all elements of a collection are in a set."""
    if shape == NOTHING:
        return "True"  # there are no elements
    name = t.names.fresh("each")
    t.add_element(name, source)
    binding = NameBinding(name, domain.place)
    bound = TranslationScope().bind(((binding, SpecLocal(TypedSource(name, shape))),))
    inside = membership(t, BoundExpr(place=domain.place, binding=binding), bound, domain, scope)
    return "True" if inside == "True" else f"all({inside} for {name} in {source})"


def _in_domain(t: Translation, code: TypedSource, function: TypedSource, node: BuiltinExpr) -> str:
    match function.shape:
        case SequenceShape():
            return _between(t, code, "1", f"len({function.source})", node)
        case MapShape(key=key):
            as_record = record_of(t.records, code, key)
            if as_record is not None:
                return f"({as_record[1]} and {as_record[0].source} in {function.source})"
            refuse_unlike(code.shape, key, node.place)
            return f"({code.source} in {function.source})"
        case RecordShape(classes) if len(classes) == 1 and all(key.is_tuple for key in classes):
            return _between(t, code, "1", str(max(len(key.fields) for key in classes)), node)
        case _:
            raise refusal("DOMAIN of this value", node.place)


def _in_functions(t: Translation, code: TypedSource, node: FunctionSetExpr, scope: TranslationScope) -> str:
    if isinstance(code.shape, SequenceShape):
        domain = t.value(node.domain, scope, SetShape(NUMBER))
        values = _all(t, code.source, code.shape.element, node.codomain, scope)
        return f"(set({code.source}.offsets()) == {domain.source} and {values})"
    if not isinstance(code.shape, MapShape):
        raise refusal("a set of functions as a test of this value", node.place)
    values = _values_in(t, code, code.shape, node.codomain, scope, node)
    keys = t.listed(node.domain, scope)
    if keys is not None and keys == code.shape.domain:
        return values
    domain = t.value(node.domain, scope, SetShape(code.shape.key))
    return f"({code.source}.keys() == {domain.source} and {values})"


def _in_records(t: Translation, code: TypedSource, node: RecordSetExpr, scope: TranslationScope) -> str:
    key = RecordKey(tuple(sorted(name for name, _ in node.fields)))
    kinds = alternatives_of(code.shape)
    classes = frozenset(one for plain in kinds if isinstance(plain, RecordShape) for one in plain.classes)
    stopping = [_stops_at(plain) for plain in kinds]
    if stopping and all(stopping):
        return "checked(False, False)"
    if any(stopping):
        raise refusal("a set of records as a test of what may be something else than a record", node.place)
    if key not in classes:
        return "False"
    tests = [t.class_test(code.source, frozenset((key,)))] if len(classes) > 1 or len(kinds) > 1 else []
    narrow = TypedSource(code.source, RecordShape(frozenset((key,))))
    return _fields_in(t, narrow, tests, [(name, domain) for name, domain in node.fields], scope)


def _stops_at(shape: PlainShape) -> bool:
    """Return whether TLC stops at every test that a value of this kind is in a set of records."""
    if isinstance(shape, AtomShape):
        return all(isinstance(atom, str) for atom in shape.atoms)
    return not isinstance(shape, RecordShape | MapShape | SequenceShape)


def _product_class(t: Translation, shape: Shape, node: ProductExpr) -> RecordKey:
    """Return the class of the tuples that may be in a product."""
    key = tuple_key(len(node.sets))
    classes = [one for plain in alternatives_of(shape) if isinstance(plain, RecordShape) for one in plain.classes]
    found = [one for one in classes if one.is_tuple and one.fields == key.fields]
    if t.records.are_apart and len(found) > 1:
        raise refusal("a product as a test of tuples of several kinds", node.place)
    return found[0] if found else key


def _in_product(t: Translation, code: TypedSource, node: ProductExpr, scope: TranslationScope) -> str:
    """Test each item of a tuple; a tuple of another length and a model value are in no product, as in TLC."""
    key = _product_class(t, code.shape, node)
    code = as_wanted(t.records, code, RecordShape(frozenset((key,))))
    kinds = alternatives_of(code.shape)
    functions = [plain for plain in kinds if isinstance(plain, RecordShape | SequenceShape | MapShape)]
    others = [plain for plain in kinds if plain not in functions]
    if kinds and all(isinstance(plain, BooleanShape | NumberShape | SetShape) for plain in kinds):
        return "checked(False, False)"
    if not all(isinstance(one, AtomShape) and all(map(_is_plain_model_value, one.atoms)) for one in others):
        raise refusal("a product as a test of this value", node.place)
    values = [name for atoms in others if isinstance(atoms, AtomShape) for name in t.names.classes(atoms)]
    tests = [f"{code.source} not in set({name})" for name in values]
    numbers = range(1, len(node.sets) + 1)
    match functions:
        case []:
            return "False"
        case [SequenceShape(element)]:
            tests = [*tests, f"len({code.source}) == {len(node.sets)}"]
            reads = [TypedSource(f"{code.source}.at({index})", element) for index in numbers]
        case [MapShape(value=value, domain=domain)] if domain is not None:
            if domain != frozenset(numbers):
                return "False"
            reads = [TypedSource(f"{code.source}[{index}]", value) for index in numbers]
        case [RecordShape(classes)] if all(one.is_tuple for one in classes):
            if key not in classes:
                return "False"
            is_sure = len(classes) == len(kinds) == 1
            tests = [] if is_sure else [t.class_test(code.source, frozenset((key,)))]
            narrow = replace(code, shape=RecordShape(frozenset((key,))))
            reads = [t.field(narrow, name, node.place) for name in key.fields]
        case _:
            raise refusal("a product as a test of this value", node.place)
    return _parts_in(t, tests, list(zip(reads, node.sets, strict=True)), scope)


def _fields_in(
    t: Translation, code: TypedSource, tests: list[str], domains: list[tuple[str, Expression]], scope: TranslationScope
) -> str:
    return _parts_in(t, tests, [(t.field(code, name, domain.place), domain) for name, domain in domains], scope)


def _parts_in(
    t: Translation, tests: list[str], parts: list[tuple[TypedSource, Expression]], scope: TranslationScope
) -> str:
    """Return the condition that some tests hold and that each part of a value is in the set beside it."""
    for read, domain in parts:
        binding = NameBinding("part", domain.place)
        bound = TranslationScope().bind(((binding, SpecLocal(read)),))
        tests = [*tests, membership(t, BoundExpr(place=domain.place, binding=binding), bound, domain, scope)]
    return f"({' and '.join(tests) or 'True'})"
