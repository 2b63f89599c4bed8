"""The kind of a value in the words of the language, for errors: `a set`, `a message bag`, `an identifier`."""

from __future__ import annotations

from types import FunctionType, GeneratorType

from kmc.lang.maps import MapValue
from kmc.lang.naming import with_article
from kmc.lang.networks import MessageBagValue, MessageSetValue
from kmc.lang.records import Record
from kmc.lang.seqs import SeqValue
from kmc.lang.symbols import Symbol

KINDS: tuple[tuple[type, str, str], ...] = (
    (frozenset, "a set", "sets are immutable: write s | {x}, s & t, s - {x}, x in s, len(s)"),
    (SeqValue, "a sequence", "sequences have s[k], s[a:b], s + t, at, append, upto, offsets and len"),
    (MapValue, "a map", "maps have m[k], set, add, without, keys, values, items and len"),
    (MessageSetValue, "a message set", "message sets have send, send_all, discard, keep, of and len"),
    (MessageBagValue, "a message bag", "message bags have count, add, add_all, take, of and len"),
    (Symbol, "an identifier", "identifiers and members of enumerations have no fields"),
    (bool, "a Bool", "a Bool has no fields"),
    (int, "a number", "numbers have no fields"),
    (tuple, "a tuple", "take it apart: a, b = helper(...)"),
    (FunctionType, "a function", "call it, with its arguments in parentheses"),
    (GeneratorType, "a helper that yields", "delegate to it: yield from helper(...)"),
)
"""Classes of values: each with its name in the language, and what an error says of its methods or fields."""

_WORDS = {
    "NoneType": "None",
    "TypedSeqValue": "a sequence",
    "set": "a set",
    "str": "text",
    "range": "a range",
    "float": "a fraction",
    "generator": "a helper that yields",
    "type": "a type",
    "IntType": "the type Int",
    "EnumMeta": "an enumeration",
    "Record": "a record",
    "SpecFacade": "spec",
    "IdentMeta": "a type of identifiers",
    "RecordMeta": "a type of records",
    "_collections._tuplegetter": "a field of a type",
    "SubsetRange": "the subsets of a set",
    "FunctionRange": "a set of maps",
    "SequenceRange": "a set of sequences",
    "dict_values": "the values of a map",
    "dict_items": "the items of a map",
    **{cls.__name__: words for cls, words, _ in KINDS},
}


def kind_of_class(name: str) -> str:
    """A Python class in the words of the language; a record of the author keeps its own name."""
    return _WORDS.get(name, with_article(name) if name[:1].isupper() else name)


def kind_in_words(value: object) -> str:
    """The kind of a value: `a set`, `None`, `a Node`."""
    kinds = [words for kind, words, _ in KINDS if isinstance(value, kind) and not isinstance(value, (Record, Symbol))]
    return kinds[0] if kinds else kind_of_class(type(value).__name__)
