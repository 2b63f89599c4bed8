"""Python's exceptions in the words of the spec language.

Every kind of value has its name in the language, never that of a Python class of kmc, and each error says what to
write instead. Python's own text is kept where it already uses the author's names.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from types import FunctionType, GeneratorType
from typing import TypeAlias

from kmc.errors import EvaluationError, did_you_mean
from kmc.lang.guards import Disabled
from kmc.lang.maps import MapValue
from kmc.lang.naming import with_article
from kmc.lang.networks import MessageBagValue, MessageSetValue
from kmc.lang.records import Message, Record
from kmc.lang.seqs import SeqValue
from kmc.lang.symbols import Symbol

_ARGUMENTS_HELP = "give it the arguments that it is declared with"
_KINDS_HELP = "compare the kinds of these values with their declarations"
_NONE_HELP = "guard with `is not None` before using an Opt value"

_KINDS: tuple[tuple[type, str, str], ...] = (
    (frozenset, "a set", "sets are immutable: write s | {x}, s & t, s - {x}, x in s, len(s)"),
    (SeqValue, "a sequence", "sequences have at, append, upto, offsets and len"),
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
_WITHOUT_OPERATORS = (MessageSetValue, MessageBagValue, MapValue)
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
    "dict_values": "the values of a map",
    "dict_items": "the items of a map",
    **{cls.__name__: words for cls, words, _ in _KINDS},
}
USAGE = {
    "set": "write record.set(field=value, ...) or map.set(key, value)",
    "add": "write map.add(key, value) or bag.add(message)",
    "without": "write map.without(key)",
    "append": "write log.append(element)",
    "at": "write log.at(offset)",
    "upto": "write log.upto(offset)",
    "send": "write network.send(message)",
    "send_all": "write network.send_all(messages)",
    "discard": "write network.discard(message)",
    "keep": "write network.keep(lambda m: condition)",
    "of": "write network.of(VoteRequest)",
    "take": "write bag.take(message)",
    "count": "write count(... for ... in ...) or bag.count(message)",
    "add_all": "write bag.add_all(messages)",
    "counts": "write bag.counts()",
    "keys": "write map.keys()",
    "values": "write map.values()",
    "items": "write map.items()",
    "offsets": "write log.offsets()",
    "fresh": "write ServerId.fresh(used)",
    "any": "write any(... for ... in ...)",
    "all": "write all(... for ... in ...)",
    "sum": "write sum(... for ... in ...)",
    "product": "write product(... for ... in ...)",
    "abs": "write abs(number)",
    "subsets": "write subsets(s)",
    "pairs": "write pairs(s)",
    "isinstance": "write isinstance(x, Shape)",
    "range": "write range(end) or range(first, end)",
    "max": "write max(a, b) or max((... for ... in ...), default=0)",
    "min": "write min(a, b) or min((... for ... in ...), default=0)",
    "len": "write len(collection)",
    "Int": "write Int(least, greatest)",
    "constant": 'write constant("Name", Int(1, 9), "what it means")',
    "spawned": 'write spawned("ServerId", 4)',
    "pair": "write pair(a, b)",
    "require": "write require(condition)",
    "action": "write @spec.action or @spec.action(fair=WEAK)",
    "receive": 'write @spec.receive(VoteRequest, s="dest")',
    "view": 'write spec.view("View", drop=["field"])',
    "symmetry": 'write spec.symmetry("Symmetry", Server)',
    "variables": 'write spec.variables({"tlaName": "field"})',
}
"""How a word of the language is written, by its name."""


def in_words(error: Exception) -> EvaluationError:
    """`error` as an EvaluationError without a place: KMC290 for an assertion, KMC212 or KMC24x for the rest."""
    match error:
        case AssertionError():
            message = str(error) or "the assertion does not hold"
            return EvaluationError("KMC290", message, help="correct the spec, or what it asserts")
        case Disabled():
            return EvaluationError(
                "KMC252", "require fails where there is no action to end", help="return a Bool: not guard or ..."
            )
        case AttributeError():
            return _attribute(error)
        case UnboundLocalError() | NameError():
            message = f"'{error.name}' has no value here yet" if error.name else str(error)
            return EvaluationError("KMC242", message, help="move what declares it above this line")
        case TypeError():
            return _type(str(error))
        case RecursionError():
            return EvaluationError("KMC244", "this recursion does not end", help="write a bounded quantifier")
        case ZeroDivisionError():
            return EvaluationError("KMC253", "division by zero", help="guard with != 0")
        case ValueError():
            return _value(str(error))
        case _:
            return EvaluationError("KMC245", f"{type(error).__name__}: {error}")


def _attribute(error: AttributeError) -> EvaluationError:
    owner, name = error.obj, error.name or "?"
    if isinstance(owner, Record):
        cls = type(owner)
        advice = did_you_mean(name, cls.fields)
        if isinstance(owner, Message):
            advice += "; isinstance(m, TYPE) tells messages apart"
        return EvaluationError("KMC212", f"{cls.__name__} has no field '{name}'", help=advice)
    if owner is None:
        return EvaluationError("KMC241", f"None has no field '{name}'", help=_NONE_HELP)
    for kind, words, help_line in _KINDS:
        if isinstance(owner, kind):
            return EvaluationError("KMC243", f"{words} has no '{name}'", help=help_line)
    if isinstance(owner, type):
        return EvaluationError("KMC243", f"the type {owner.__name__} has no '{name}'", help="read it from a value")
    return EvaluationError("KMC243", f"{_kind(type(owner).__name__)} has no '{name}'", help=_KINDS_HELP)


def _value(message: str) -> EvaluationError:
    if re.match(r"(min|max)\(\).*empty", message):
        name = message[:3]
        help_line = f"guard, or say what it is then: {name}(..., default=0)"
        return EvaluationError("KMC254", f"{name} of nothing has no value", help=help_line)
    unpacked = re.match(r"(not enough|too many) values to unpack \((?:expected (\d+)(?:, got (\d+))?)\)", message)
    if unpacked:
        return EvaluationError("KMC230", f"{unpacked[1]} values for these {unpacked[2]} names", help="name each value")
    return EvaluationError("KMC245", message)


def _kind(name: str) -> str:
    """A Python class in the words of the language; a record of the author keeps its own name."""
    return _WORDS.get(name, with_article(name) if name[:1].isupper() else name)


def kind_in_words(value: object) -> str:
    """The kind of a value: `a set`, `None`, `a Node`."""
    kinds = [words for kind, words, _ in _KINDS if isinstance(value, kind) and not isinstance(value, (Record, Symbol))]
    return kinds[0] if kinds else _kind(type(value).__name__)


_Rule: TypeAlias = tuple[str, str, Callable[..., tuple[str, str | None]]]


def _without_order(operator: str, left: str, right: str) -> tuple[str, str | None]:
    if "NoneType" in (left, right):
        return f"'{operator}' compares {_kind(left)} with {_kind(right)}", _NONE_HELP
    if left == right:
        message = f"values of {left} have no order, so '{operator}' has no meaning"
        return message, "identifiers, enums and records are compared with == and != only"
    return f"'{operator}' compares {_kind(left)} with {_kind(right)}", "compare values of one kind"


def _without_meaning(operator: str, left: str, right: str) -> tuple[str, str | None]:
    of_kind = {cls.__name__: help_line for cls, _, help_line in _KINDS if cls in _WITHOUT_OPERATORS}
    advice = (
        of_kind.get(left)
        or of_kind.get(right)
        or _advice_on_sets(operator, left, right)
        or "+ - * // % take numbers, | & - take sets"
    )
    if {"IdentMeta", "EnumMeta"} & {left, right}:
        advice = "write set(Server) for the set of its members"
    if "NoneType" in (left, right):
        advice = _NONE_HELP
    return f"'{operator}' has no meaning for {_kind(left)} and {_kind(right)}", advice


def _advice_on_sets(operator: str, left: str, right: str) -> str | None:
    """What to write where an operator of sets stands beside a set, and not between two."""
    if "frozenset" not in (left, right) or operator not in ("|", "&", "-", "+"):
        return None
    if left == right:
        return "write a | b for the union of two sets"
    sign = "|" if operator == "+" else operator
    return f"both sides are sets: write s {sign} {{x}} for one element x"


def _lacking(what: str, advice: str) -> Callable[[str], tuple[str, str | None]]:
    def words(kind: str) -> tuple[str, str | None]:
        return f"{_kind(kind)} {what}", _NONE_HELP if kind == "NoneType" else advice

    return words


def _wrong_arguments(cls: str, method: str, text: str) -> tuple[str, str | None]:
    if method == "__init__":
        return "the members of a type are not made", "name a member, or go through the type: for s in Server"
    return f"'{method}' of {_kind(cls)} does not take these arguments", USAGE.get(method, _ARGUMENTS_HELP)


_ITERABLE = _lacking("has no members to go through", "go through a set, a sequence, a map, range(...) or a type")


def _no_members(kind: str) -> tuple[str, str | None]:
    if kind == "IntType":
        return f"{_kind(kind)} has no members to go through", "write range(1, N + 1) for the numbers of Int(1, N)"
    return _ITERABLE(kind)


_RULES: tuple[_Rule, ...] = (
    (r"'(<|>|<=|>=)' not supported between instances of '([\w.]+)' and '([\w.]+)'", "KMC246", _without_order),
    (r"unsupported operand type\(s\) for (\S+): '([\w.]+)' and '([\w.]+)'", "KMC248", _without_meaning),
    (r"bad operand type for unary -: '([\w.]+)'", "KMC248", _lacking("cannot be negated", "- takes numbers")),
    (r"'([\w.]+)' object is not callable", "KMC248", _lacking("is not a function", "remove the parentheses")),
    (
        r"'([\w.]+)' object is not subscriptable",
        "KMC248",
        _lacking("has no elements in brackets", "brackets look up a key of a map: m[key]"),
    ),
    (r"object of type '([\w.]+)' has no len\(\)", "KMC248", _lacking("has no length", "len takes collections")),
    (r"'([\w.]+)' object is not iterable", "KMC248", _no_members),
    (
        r"'([\w.]+)' object cannot be interpreted as an integer",
        "KMC248",
        lambda kind: (f"range takes numbers, not {_kind(kind)}", "for the members of a type write: for s in Server"),
    ),
    (r"argument of type '([\w.]+)' is not iterable", "KMC248", _no_members),
    (r"unhashable type: '([\w.]+)'", "KMC247", _lacking("cannot be a member or a key", "use values of the language")),
    (
        r"isinstance\(\) arg 2 must be",
        "KMC248",
        lambda: ("isinstance needs a class", "write isinstance(x, A) or isinstance(x, B)"),
    ),
    (r"(\w+)\.(\w+)\(\) (.*)", "KMC248", _wrong_arguments),
    (
        r"type '(\w+)' is not subscriptable",
        "KMC248",
        lambda name: (f"the type {name} takes nothing in brackets", "remove the brackets"),
    ),
    (
        r"(\w+) (expected .*)",
        "KMC248",
        lambda name, text: (f"{name} {text}", USAGE.get(name, _ARGUMENTS_HELP)),
    ),
)


def _type(message: str) -> EvaluationError:
    for pattern, code, words in _RULES:
        found = re.match(pattern, message)
        if found:
            text, help_line = words(*found.groups())
            return EvaluationError(code, text, help=help_line)
    # A function inside of a function has a longer name in Python.
    called = re.match(r"(?:\w+\.<locals>\.)*(\w+|<lambda>)\(\) (.*)", message)
    if called:
        name = "this lambda" if called[1] == "<lambda>" else called[1]
        usage = USAGE.get(name, _ARGUMENTS_HELP)
        return EvaluationError("KMC248", f"{name} {called[2]}", help=usage)
    return EvaluationError("KMC248", message.replace("NoneType", "None"), help=_KINDS_HELP)
