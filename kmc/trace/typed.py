"""TLA+ values according to a spec's types: each node of a tree gets the kind of its declared type.

This has two uses. It resolves what a format leaves ambiguous: TLC's JSON does not distinguish a set from a sequence, or
a record from a function. And it keeps functions as functions when a trace is written, because a typed reader does not
accept the empty sequence for a function. A value that does not fit its type stays as it is; `kmc.lang.tla.decode` then
refuses it with a reason.
"""

from __future__ import annotations

from kmc.errors import KmcError
from kmc.lang.tla import Naming, Tla, TlaMap, TlaRecord, TlaSeq, TlaSet, decode, written_shape
from kmc.lang.types import (
    IntType,
    MapType,
    MessageBagType,
    MessageSetType,
    PairType,
    RecordMeta,
    RecordType,
    SeqType,
    SetType,
    Type,
    UnionType,
)
from kmc.trace.trees import as_sequence


def typed(tree: Tla, declared: Type, naming: Naming) -> Tla:
    """`tree` with the kinds of nodes that `declared` demands, as far as it fits."""
    match declared, tree:
        case ((SetType(element) | PairType(element)), (TlaSet(elements) | TlaSeq(elements))):
            return TlaSet(tuple(typed(item, element, naming) for item in elements))
        case MessageSetType(messages), (TlaSet(elements) | TlaSeq(elements)):
            return TlaSet(tuple(typed(item, UnionType(messages, False), naming) for item in elements))
        case SeqType(element), (TlaSeq() | TlaMap()):
            listed = tree.elements if isinstance(tree, TlaSeq) else as_sequence(tree.pairs)
            return tree if listed is None else TlaSeq(tuple(typed(item, element, naming) for item in listed))
        case MapType(key, value), (TlaMap() | TlaSeq() | TlaRecord()):
            return _function(tree, key, value, naming)
        case MessageBagType(messages, _, count_max), (TlaMap() | TlaSeq() | TlaRecord()):
            return _function(tree, UnionType(messages, False), IntType(0, count_max), naming)
        case RecordType(cls), TlaRecord():
            return _record(tree, cls, naming)
        case UnionType(), _:
            return _alternative(tree, declared, naming)
        case _:
            return tree


def _function(tree: TlaMap | TlaSeq | TlaRecord, key: Type, value: Type, naming: Naming) -> TlaMap:
    match tree:
        case TlaMap(pairs) | TlaRecord(pairs):
            entries: tuple[tuple[Tla, Tla], ...] = pairs
        case TlaSeq(elements):
            entries = tuple(enumerate(elements, start=1))
    return TlaMap(tuple((typed(k, key, naming), typed(v, value, naming)) for k, v in entries))


def _record(tree: TlaRecord, cls: RecordMeta, naming: Naming) -> TlaRecord:
    shape = written_shape(tree, cls, naming)
    if shape is None:
        return tree
    types = {naming.field(field): declared for field, declared in shape.fields.items()}
    fields = ((name, typed(value, types[name], naming) if name in types else value) for name, value in tree.fields)
    return TlaRecord(tuple(fields))


def _alternative(tree: Tla, declared: UnionType, naming: Naming) -> Tla:
    for alternative in declared.alternatives:
        candidate = typed(tree, alternative, naming)
        try:
            decode(candidate, alternative, naming)
        except KmcError:
            continue
        return candidate
    return tree
