"""Kinds that Python mixes and a spec keeps apart: a Bool and a number, a set and the type of its members.

Python accepts True as 1, and evaluates a set and a type as unequal. Compiled code, which knows the types, would differ.
So a comparison that could mix them is an error before anything runs. Invariant: a comparison that passes here means the
same in both engines.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Iterator, Mapping
from itertools import product

from kmc.compiler.checks.kinds.kind import Kind, Kinds, elements, in_words
from kmc.errors import EvaluationError
from kmc.lang.naming import with_article
from kmc.lang.types import RecordMeta, SymbolMeta

_COLLECTIONS = frozenset(["set", "seq", "map", "range", "symbols", "tuple"])
_BOOL_HELP = "a Bool stands for itself: write x or not x; as a number, write 1 if x else 0"


def bool_among_numbers(left: Kinds, right: Kinds) -> EvaluationError | None:
    """The error where a Bool of one side could meet a number of the other, in their elements too."""
    if not any(_mixed(one, other) for one, other in product(left or (), right or ())):
        return None
    return EvaluationError("KMC256", "a Bool is compared with a number", help=_BOOL_HELP)


def _mixed(one: Kind, other: Kind) -> bool:
    if {one.word, other.word} == {"Bool", "number"}:
        return True
    pairs: Iterable[tuple[Kinds, Kinds]] = ()
    if one.word == other.word:
        pairs = zip(one.parts, other.parts, strict=False)
    elif "range" in (one.word, other.word):
        pairs = [(elements(frozenset([one])), elements(frozenset([other])))]
    return any(bool_among_numbers(here, there) for here, there in pairs)


def not_compared(left: Kinds, right: Kinds, node: ast.expr, after: ast.expr) -> EvaluationError | None:
    """The error of an equality without a sensible meaning: a Bool against a number, a set against a type."""
    mistake = bool_among_numbers(left, right)
    if mistake is not None:
        return mistake
    if not left or not right:
        return None
    words = [{kind.word for kind in kinds} for kinds in (left, right)]
    if not words[0] | words[1] <= _COLLECTIONS or words[0] & words[1]:
        return None
    message = f"{in_words(left)} is compared with {in_words(right)}, which never are equal"
    return EvaluationError("KMC256", message, help=_advice(words[0] | words[1], (*left, *right), (node, after)))


def _advice(words: set[str], kinds: tuple[Kind, ...], nodes: tuple[ast.expr, ...]) -> str:
    types = [kind.of.__name__ for kind in kinds if kind.word == "symbols"]
    if types:
        return f"write set({types[0]}) for the set of its members"
    if words == {"set", "map"} and any(isinstance(node, ast.Dict) for node in nodes):
        return "write set() for the empty set; {} is the empty map"
    if words == {"set", "map"}:
        return "write m.keys() for the set of a map's keys; set() is the empty set, {} the empty map"
    if words == {"set", "range"}:
        return "write set(range(...)) for a set of numbers"
    if "range" in words or "tuple" in words:
        return "write [x, y] or [n for n in range(...)] for a sequence"
    return "write set(s) for the set of a sequence's elements"


def not_one_kind(members: Kinds) -> EvaluationError | None:
    """The error of a set, or of a map's keys, that holds Bools and numbers: to Python, True and 1 are one element."""
    if bool_among_numbers(members, members) is None:
        return None
    return EvaluationError("KMC256", "Bools and numbers are elements of one collection", help=_BOOL_HELP)


def not_of_sets(left: Kinds, right: Kinds, operator: ast.operator) -> EvaluationError | None:
    """The error of `&` or `|` on Bools or numbers, whose digits Python would combine."""
    sign = "&" if isinstance(operator, ast.BitAnd) else "|"
    for kinds in (left, right):
        if kinds and all(kind.word in ("Bool", "number") for kind in kinds):
            word = "and" if sign == "&" else "or"
            advice = f"write {word} between conditions; {sign} takes sets"
            return EvaluationError("KMC256", f"'{sign}' of {in_words(kinds)} is not in the spec language", help=advice)
    return None


def never_held(messages: frozenset[Kind], network: ast.expr, written: ast.expr) -> EvaluationError:
    """The error of `of` with a type of records that a network never holds."""
    names = " | ".join(sorted(kind.of.__name__ for kind in messages))
    message = f"'{ast.unparse(network)}' holds {names}, never {with_article(ast.unparse(written))}"
    return EvaluationError("KMC256", message, help="name a type that it holds, or add this one to its declaration")


def no_class(written: ast.expr, local: Container[str], names: Mapping[str, object]) -> EvaluationError | None:
    """The error of `isinstance` with anything but a record class, an Enum or a type of identifiers."""
    if isinstance(written, ast.Name) and (written.id in local or _is_class(names.get(written.id))):
        return None
    text = ast.unparse(written)
    advice = "for a Bool or a number compare the value: x == True, x in range(0, 4); for None write x is None"
    several = list(_alternatives(written))
    if len(several) > 1:
        advice = "write " + " or ".join(f"isinstance(x, {ast.unparse(each)})" for each in several)
    message = f"isinstance takes a record class, an Enum or a type of identifiers, not {text}"
    return EvaluationError("KMC256", message, help=advice)


def _alternatives(written: ast.expr) -> Iterator[ast.expr]:
    """The classes of `(A, B)` and of `A | B`, as in Python's isinstance."""
    match written:
        case ast.Tuple(elts=items):
            yield from items
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            yield from _alternatives(left)
            yield from _alternatives(right)
        case _:
            yield written


def _is_class(value: object) -> bool:
    return isinstance(value, SymbolMeta | RecordMeta)
