"""The spec language: the types and values that a spec is written with.

A spec says `from kmc.lang import Bool, Enum, Int, Record, ...`; the names below are all of its words. Everything is
finite and immutable, compared and hashed by value, and means the same in every engine.
"""

from kmc.lang import tla as _tla  # noqa: F401  # it registers how errors show values
from kmc.lang.annotations import Bool, Int, Map, MessageBag, MessageSet, Opt, Pair, PartialMap, Seq, Set
from kmc.lang.choosing import the
from kmc.lang.constants import IdentSet, Operator, constant, spawned
from kmc.lang.enums import Enum
from kmc.lang.guards import count, equals_any, product, require, ways
from kmc.lang.pairs import pair, pairs
from kmc.lang.records import Message, Record
from kmc.lang.seqs import fold
from kmc.lang.set_ranges import functions, permutations, sequences, subsets

__all__ = [
    "Bool",
    "Enum",
    "IdentSet",
    "Int",
    "Map",
    "Message",
    "MessageBag",
    "MessageSet",
    "Operator",
    "Opt",
    "Pair",
    "PartialMap",
    "Record",
    "Seq",
    "Set",
    "constant",
    "count",
    "equals_any",
    "fold",
    "functions",
    "pair",
    "pairs",
    "permutations",
    "product",
    "require",
    "sequences",
    "spawned",
    "subsets",
    "the",
    "ways",
]
