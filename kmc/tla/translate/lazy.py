"""Laziness: whether an expression may be evaluated where TLA+ might not evaluate it.

LET and arguments are lazy in TLA+, a local of the generated code is not. An expression becomes a local only if nothing
in it is partial outside of a branch of IF or CASE and of a later conjunct, which guard it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product

from kmc.errors import SpecError
from kmc.tla.resolved.nodes import (
    ApplyExpr,
    Argument,
    BoundExpr,
    BoundRange,
    BuiltinExpr,
    CaseExpr,
    ChooseExpr,
    ConjunctionExpr,
    DisjunctionExpr,
    ExceptExpr,
    Expression,
    FieldAccessExpr,
    FunctionApplicationExpr,
    FunctionConstructorExpr,
    FunctionSetExpr,
    IfExpr,
    LambdaExpr,
    LetExpr,
    Node,
    OperatorDefinition,
    OperatorReferenceExpr,
    PrimeExpr,
    ProductExpr,
    QuantifiedExpr,
    RecordSetExpr,
    RecursiveFunctionExpr,
    SetEnumerationExpr,
    SetFilterExpr,
    SetMapExpr,
    TupleExpr,
)
from kmc.tla.shapes.shape import (
    AtomShape,
    BooleanShape,
    MapShape,
    NumberShape,
    PlainShape,
    RecordShape,
    SequenceShape,
    SetShape,
    Shape,
    UnionShape,
    alternatives_of,
)
from kmc.tla.translate.comparable import are_incomparable
from kmc.tla.translate.facts import children
from kmc.tla.translate.iteration import loops
from kmc.tla.translate.scope import TranslationScope, TypedSource, head, local_of
from kmc.tla.translate.translation import Translation
from kmc.tla.values.kinds import FALSE, TRUE

_PARTIAL = frozenset(("Head", "Tail", "SubSeq", "%", "\\div", "^", "@@", "Assert"))
_VALUES_MAX = 256
_OF_NUMBERS = frozenset(("+", "-", "*", "-.", "..", "<", ">", "<=", ">="))
_OF_SETS = frozenset(("\\union", "\\intersect", "\\", "\\subseteq", "SUBSET", "UNION", "Cardinality"))
_OF_TRUTHS = frozenset(("~", "<=>", "=>"))
_GIVE_SETS = frozenset(
    ("\\union", "\\intersect", "\\", "SUBSET", "UNION", "DOMAIN", "..", "Nat", "Int", "BOOLEAN", "STRING", "Seq")
)
_GIVE_TRUTHS = frozenset(("=", "#", "\\in", "\\notin", "\\subseteq", "<", ">", "<=", ">=", "IsFiniteSet", *_OF_TRUTHS))
_SETS = (SetEnumerationExpr, SetFilterExpr, SetMapExpr, ProductExpr, RecordSetExpr, FunctionSetExpr)
_TRUTHS = (ConjunctionExpr, DisjunctionExpr, QuantifiedExpr)


def is_total(t: Translation, node: Argument, scope: TranslationScope, *, trusts_guards: bool = True) -> bool:
    """Return whether an expression has a value in every state in which its names have one.

    `trusts_guards` says that a branch, or a conjunct after the first, has a value wherever those before it let it be
    evaluated, as authors mean it. Where a missing value is an error to report, nothing is trusted.
    """
    try:
        return _Totality(t, trusts_guards).of(node, scope)
    except SpecError:
        return False  # a part of it has no translation


@dataclass(frozen=True, slots=True)
class _Totality:
    """Decides whether expressions are total."""

    t: Translation
    trusts_guards: bool

    def of(self, node: Argument, scope: TranslationScope) -> bool:
        """Return whether an expression or an argument has a value in every state."""
        t = self.t
        if isinstance(node, LambdaExpr | OperatorReferenceExpr):
            return False  # the operator may be applied to anything
        inner, scope = head(node, scope)
        local = local_of(inner, scope)
        if local is not None:
            return self.trusts_guards or not local.is_lazy
        match inner:
            case PrimeExpr() | LetExpr() | ChooseExpr() | CaseExpr(other=None):
                return False
            case ApplyExpr(operator=OperatorDefinition(recursive=True)):
                return False
            case IfExpr() | CaseExpr() | ConjunctionExpr() | DisjunctionExpr() | BuiltinExpr(operator="=>") if (
                self.trusts_guards
            ):
                first = _first_evaluated(inner)
                return self._is_truth(first, scope) and self.of(first, scope)
            case IfExpr() | CaseExpr() | ConjunctionExpr() | DisjunctionExpr() if not self._tests(inner, scope):
                return False
            case QuantifiedExpr(body=body) | SetMapExpr(body=body) | FunctionConstructorExpr(body=body):
                return self._total_for_all(inner.ranges, body, scope)
            case SetFilterExpr():
                return self._total_for_all((inner.range,), inner.condition, scope)
            case BuiltinExpr() if inner.operator in _PARTIAL:
                return False
            case BuiltinExpr(operator="=" | "#") if not _compares(t, inner, scope):
                return False
            case BuiltinExpr() if inner.operator in _OF_NUMBERS and not _are_numbers(t, inner, scope):
                return False
            case BuiltinExpr(operator="\\in" | "\\notin") if not self._is_set(inner.arguments[1], scope):
                return False
            case BuiltinExpr() if inner.operator in _OF_SETS and not self._all(self._is_set, inner.arguments, scope):
                return False
            case BuiltinExpr() if inner.operator in _OF_TRUTHS and not self._all(
                self._is_truth, inner.arguments, scope
            ):
                return False
            case ExceptExpr() if not self.trusts_guards and _has_unions(t, t.value(inner.function, scope).shape):
                return False  # `@` may be of several kinds
            case FunctionApplicationExpr() if not _is_defined(t, inner, scope):
                return False
            case FieldAccessExpr() if not _has_field(t, inner, scope):
                return False
            case _:
                return self._parts_total(inner, scope)

    def _parts_total(self, node: Expression, scope: TranslationScope) -> bool:
        return all(self._total_part(child, scope) for child in children(node))

    def _total_for_all(self, ranges: tuple[BoundRange, ...], body: Expression, scope: TranslationScope) -> bool:
        """Return whether some sets have a value, and an expression has one for all elements of them."""
        if not all(self._is_set(bound.domain, scope) and self.of(bound.domain, scope) for bound in ranges):
            return False
        inside = loops(self.t, ranges, scope)
        return inside is None or self.of(body, inside[0])

    def _tests(self, node: IfExpr | CaseExpr | ConjunctionExpr | DisjunctionExpr, scope: TranslationScope) -> bool:
        """Return whether the parts that decide about the others are Booleans."""
        match node:
            case IfExpr():
                return self._is_truth(node.condition, scope)
            case CaseExpr():
                return all(self._is_truth(condition, scope) for condition, _ in node.arms)
            case _:
                return self._all(self._is_truth, node.items, scope)

    @staticmethod
    def _all(
        test: Callable[[Argument, TranslationScope], bool], parts: Iterable[Argument], scope: TranslationScope
    ) -> bool:
        return all(test(part, scope) for part in parts)

    def _is_set(self, node: Argument, scope: TranslationScope) -> bool:
        return self._is_of(SetShape, _SETS, _GIVE_SETS, node, scope)

    def _is_truth(self, node: Argument, scope: TranslationScope) -> bool:
        return self._is_of(BooleanShape, _TRUTHS, _GIVE_TRUTHS, node, scope)

    def _is_of(
        self,
        kind: type[PlainShape],
        written: tuple[type[Node], ...],
        operators: frozenset[str],
        node: Argument,
        scope: TranslationScope,
    ) -> bool:
        """Return whether an expression can have values of one kind only, by how it is written or by its shape."""
        if isinstance(node, LambdaExpr | OperatorReferenceExpr):
            return False
        inner, inside = head(node, scope)
        if isinstance(inner, written) or (isinstance(inner, BuiltinExpr) and inner.operator in operators):
            return True
        return all(isinstance(plain, kind) for plain in alternatives_of(self.t.value(inner, inside).shape))

    def _total_part(self, node: Argument, scope: TranslationScope) -> bool:
        if any(name not in scope.entries for name in self.t.facts.of(node).free):  # `@`, whose value is not known here
            parts = _all_parts(node)
            names = [part for part in parts if isinstance(part, BoundExpr) and part.binding in scope.entries]
            return not any(map(_may_be_partial, parts)) and all(self.of(name, scope) for name in names)
        return self.of(node, scope)


def _first_evaluated(
    node: IfExpr | CaseExpr | ConjunctionExpr | DisjunctionExpr | BuiltinExpr,
) -> Argument:
    """Return the part that is evaluated whatever the others are."""
    match node:
        case IfExpr():
            return node.condition
        case CaseExpr():
            return node.arms[0][0]
        case ConjunctionExpr() | DisjunctionExpr():
            return node.items[0]
        case BuiltinExpr():
            return node.arguments[0]


def _may_be_partial(node: Argument) -> bool:
    """Return whether an expression may have no value, or applies a definition that may have none."""
    match node:
        case FunctionApplicationExpr() | FieldAccessExpr() | ChooseExpr() | CaseExpr() | ApplyExpr() | LetExpr():
            return True
        case BuiltinExpr():
            return node.operator in _PARTIAL
        case _:
            return False


def _all_parts(node: Argument) -> list[Argument]:
    return [node, *(part for child in children(node) for part in _all_parts(child))]


def _is_defined(t: Translation, node: FunctionApplicationExpr, scope: TranslationScope) -> bool:
    """Return whether an argument is in the domain of the function in all states."""
    if isinstance(head(node.function, scope)[0], FunctionConstructorExpr | RecursiveFunctionExpr):
        return False  # the argument may be outside of its domain
    function = t.value(node.function, scope)
    match function.shape:
        case MapShape(domain=None):
            return False
        case MapShape() as shape if not t.is_bag(shape):
            return _is_key(t, node.argument, scope, function)
        case RecordShape(classes):
            key = t.constant(*head(node.argument, scope))
            name = f"item{key}" if isinstance(key, int) else key
            return all(name in one.fields for one in classes)
        case _:
            return False


def _is_key(t: Translation, argument: Expression, scope: TranslationScope, function: TypedSource) -> bool:
    """Return whether an expression is in the fixed domain of a map, whatever its value is."""
    assert isinstance(function.shape, MapShape)
    domain = function.shape.domain or frozenset()
    inner, inside = head(argument, scope)
    value = t.constant(inner, inside)
    if value is not None:
        return value in domain
    code = t.value(inner, inside, function.shape.key)
    if t.is_element(code.source, function.source):
        return True
    if not isinstance(inner, TupleExpr):
        values = _possible(t, t.value(inner, inside))
        return values is not None and values <= domain
    keys = {key for key in domain if isinstance(key, tuple) and len(key) == len(inner.items)}
    possible: list[frozenset[object]] = []
    for index, part in enumerate(inner.items):
        values = _possible(t, t.value(part, inside))
        if values is None or not values <= {key[index] for key in keys}:
            return False
        possible.append(values)
    return all(values in keys for values in product(*possible))


def _possible(t: Translation, code: TypedSource) -> frozenset[object] | None:
    """Return the values that an expression may have, None where they are not known to be few."""
    found: set[object] = set()
    for plain in alternatives_of(code.shape):
        match plain:
            case AtomShape(atoms):
                found.update(atoms)
            case BooleanShape():
                found.update((FALSE, TRUE))
            case NumberShape(int() as least, int() as greatest):
                if not t.is_of_range(code.source):
                    if not t.is_stored(code.source):
                        return None
                    least, greatest = t.universe.bounds.of(plain)
                if greatest - least >= _VALUES_MAX:
                    return None
                found.update(range(least, greatest + 1))
            case _:
                return None
    return frozenset(found) or None


def _compares(t: Translation, node: BuiltinExpr, scope: TranslationScope) -> bool:
    left, right = node.arguments
    return not are_incomparable(t.value(left, scope).shape, t.value(right, scope).shape)


def _are_numbers(t: Translation, node: BuiltinExpr, scope: TranslationScope) -> bool:
    shapes = [t.value(argument, scope).shape for argument in node.arguments]
    return all(isinstance(plain, NumberShape) for shape in shapes for plain in alternatives_of(shape))


def _has_unions(t: Translation, shape: Shape) -> bool:
    """Return whether a function has values, or values that have values, of several kinds."""
    match shape:
        case UnionShape():
            return True
        case MapShape(value=value) | SequenceShape(element=value):
            return _has_unions(t, value)
        case RecordShape(classes):
            return any(isinstance(one, UnionShape) for key in classes for one in t.records.fields[key].values())
        case _:
            return False


def _has_field(t: Translation, node: FieldAccessExpr, scope: TranslationScope) -> bool:
    shape = t.value(node.record, scope).shape
    plain = alternatives_of(shape)
    return all(isinstance(one, RecordShape) and all(node.field in key.fields for key in one.classes) for one in plain)
