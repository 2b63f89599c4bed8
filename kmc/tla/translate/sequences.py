r"""Sequences: Len, Append, Head, Tail, SubSeq, `\o` and SelectSeq of what is kept as a sequence."""

from __future__ import annotations

from collections.abc import Callable

from kmc.tla.resolved.nodes import ApplyExpr, BoundExpr, BuiltinExpr, NameBinding
from kmc.tla.shapes.as_sequences import is_like_a_sequence
from kmc.tla.shapes.refusal import refusal
from kmc.tla.shapes.shape import NOTHING, NUMBER, MapShape, SequenceShape, Shape, alternatives_of, join
from kmc.tla.translate.literals import wanted
from kmc.tla.translate.membership import has_length
from kmc.tla.translate.scope import Delayed, SpecLocal, TranslationScope, TypedSource
from kmc.tla.translate.several_kinds import only_function
from kmc.tla.translate.translation import Translation


def _sequence_of(
    t: Translation, node: BuiltinExpr, index: int, scope: TranslationScope, want: Shape
) -> tuple[str, SequenceShape]:
    code = t.value(node.arguments[index], scope, want if wanted(want, SequenceShape) else SequenceShape(NOTHING))
    sequences = [plain for plain in alternatives_of(code.shape) if isinstance(plain, SequenceShape)]
    if not sequences:
        t.sequences.update(filter(is_like_a_sequence, alternatives_of(code.shape)))
        raise refusal(f"{node.operator} of what is not kept as a sequence", node.place)
    return code.source, sequences[0]


def length(t: Translation, node: BuiltinExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    """Translate Len."""
    code = only_function(t, t.value(node.arguments[0], scope))
    if isinstance(code.shape, MapShape) and not has_length(code.shape):
        code = t.value(node.arguments[0], scope, SequenceShape(NOTHING))  # `[i \in 1..n |-> e]` may be written as one
    if not all(has_length(plain) for plain in alternatives_of(code.shape)):
        raise refusal("Len of what may be something else than a sequence", node.place)
    return TypedSource(f"len({code.source})", NUMBER)


def append(t: Translation, node: BuiltinExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    """Translate Append."""
    source, shape = _sequence_of(t, node, 0, scope, want)
    known = wanted(join(shape, want), SequenceShape)
    element = t.value(node.arguments[1], scope, known.element if isinstance(known, SequenceShape) else NOTHING)
    return TypedSource(f"{source}.append({element.source})", SequenceShape(join(shape.element, element.shape)))


def first(t: Translation, node: BuiltinExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    """Translate Head."""
    source, shape = _sequence_of(t, node, 0, scope, NOTHING)
    return t.narrowed_code(TypedSource(f"{source}.at(1)", shape.element))


def _part(source: str, shape: SequenceShape, local: str, first: str, last: str) -> TypedSource:
    return TypedSource(
        f"[{source}.at({local}) for {local} in range({first}, {last} + 1)]", SequenceShape(shape.element)
    )


def tail(t: Translation, node: BuiltinExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    """Translate Tail."""
    source, shape = _sequence_of(t, node, 0, scope, want)
    rest = _part(source, shape, t.names.fresh("offset"), "2", f"len({source})")
    # A prefix of one element is an error of an empty sequence, as its Tail is in TLC.
    return TypedSource(f"({rest.source} if len({source}) > 0 else {source}.upto(1))", rest.shape)


def prefix_length(source: str) -> str:
    """Return the length of a prefix: that to a number below 1 is empty."""
    return source if source.isdigit() or source.startswith("len(") else f"max({source}, 0)"


def subsequence(t: Translation, node: BuiltinExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    """Translate SubSeq; a prefix has a word of its own."""
    source, shape = _sequence_of(t, node, 0, scope, want)
    begin, end = t.source(node.arguments[1], scope), t.source(node.arguments[2], scope)
    if begin == "1":
        return TypedSource(f"{source}.upto({prefix_length(end)})", SequenceShape(shape.element))
    return _part(source, shape, t.names.fresh("offset"), begin, end)


def concatenation(t: Translation, node: BuiltinExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    r"""Translate `\o`."""
    left, one = _sequence_of(t, node, 0, scope, want)
    right, other = _sequence_of(t, node, 1, scope, join(one, want))
    return TypedSource(f"({left} + {right})", SequenceShape(join(one.element, other.element)))


def selection(t: Translation, node: BuiltinExpr, scope: TranslationScope, want: Shape) -> TypedSource:
    """Translate SelectSeq to a comprehension over the sequence."""
    source, shape = _sequence_of(t, node, 0, scope, want)
    if shape.element == NOTHING:
        return TypedSource(source, shape)  # the sequence is always empty
    local, binding = t.names.fresh("element"), NameBinding("element", node.place)
    test = NameBinding("Test", node.place, 1)
    read = BoundExpr(place=node.place, binding=binding)
    entries = ((binding, SpecLocal(TypedSource(local, shape.element))), (test, Delayed(node.arguments[1], scope)))
    condition = t.source(
        ApplyExpr(place=node.place, operator=test, arguments=(read,)), TranslationScope().bind(entries)
    )
    return TypedSource(f"[{local} for {local} in {source} if {condition}]", SequenceShape(shape.element))


SEQUENCE_WORDS: dict[str, Callable[[Translation, BuiltinExpr, TranslationScope, Shape], TypedSource]] = {
    "Len": length,
    "Append": append,
    "Head": first,
    "Tail": tail,
    "SubSeq": subsequence,
    "\\o": concatenation,
    "SelectSeq": selection,
}
