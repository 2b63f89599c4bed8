"""Values of several kinds, one of which is a collection: a model value before a function is there, or the function.

Compiled code takes such a value for its only set, sequence or map, and stops where it is of another kind, as TLC does.
"""

from __future__ import annotations

from dataclasses import replace

from kmc.tla.shapes.shape import MapShape, RecordShape, SequenceShape, SetShape, UnionShape, alternatives_of
from kmc.tla.translate.scope import TypedSource
from kmc.tla.translate.translation import Translation


def only_set(code: TypedSource) -> TypedSource:
    """Return a value as the set that it has to be; a value that may be another collection stays as it is."""
    return _only(code, SetShape)


def only_function(t: Translation, code: TypedSource) -> TypedSource:
    """Return a value as the function or sequence that it has to be, unless it may be a record, a bag or a set."""
    narrow = _only(code, MapShape, SequenceShape)
    are_records = any(isinstance(plain, RecordShape) for plain in alternatives_of(code.shape))
    return code if are_records or t.is_bag(narrow.shape) else narrow


def _only(code: TypedSource, *kinds: type) -> TypedSource:
    plain = [one for one in alternatives_of(code.shape) if isinstance(one, SetShape | SequenceShape | MapShape)]
    if not isinstance(code.shape, UnionShape) or len(plain) != 1 or not isinstance(plain[0], kinds):
        return code
    return replace(code, shape=plain[0])
