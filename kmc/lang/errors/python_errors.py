"""Python's exceptions in the words of the spec language.

Every kind of value has its name in the language, never that of a Python class of kmc, and each error says what to
write instead. Python's own text is kept where it already uses the author's names.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from kmc.errors import EvaluationError, did_you_mean
from kmc.lang.guards import Disabled
from kmc.lang.kinds import KINDS, kind_of_class
from kmc.lang.maps import MapValue
from kmc.lang.networks import MessageBagValue, MessageSetValue
from kmc.lang.records import Message, Record
from kmc.lang.words import USAGE

_ARGUMENTS_HELP = "give it the arguments that it is declared with"
_KINDS_HELP = "compare the kinds of these values with their declarations"
_NONE_HELP = "guard with `is not None` before using an Opt value"

_WITHOUT_OPERATORS = (MessageSetValue, MessageBagValue, MapValue)


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
            advice = "see that each call comes closer to one that does not call"
            return EvaluationError("KMC244", "this recursion does not end, or is too deep", help=advice)
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
    for kind, words, help_line in KINDS:
        if isinstance(owner, kind):
            return EvaluationError("KMC243", f"{words} has no '{name}'", help=help_line)
    if isinstance(owner, type):
        return EvaluationError("KMC243", f"the type {owner.__name__} has no '{name}'", help="read it from a value")
    return EvaluationError("KMC243", f"{kind_of_class(type(owner).__name__)} has no '{name}'", help=_KINDS_HELP)


def _value(message: str) -> EvaluationError:
    if re.match(r"(min|max)\(\).*empty", message):
        name = message[:3]
        help_line = f"guard, or say what it is then: {name}(..., default=0)"
        return EvaluationError("KMC254", f"{name} of nothing has no value", help=help_line)
    unpacked = re.match(r"(not enough|too many) values to unpack \((?:expected (\d+)(?:, got (\d+))?)\)", message)
    if unpacked:
        return EvaluationError("KMC230", f"{unpacked[1]} values for these {unpacked[2]} names", help="name each value")
    return EvaluationError("KMC245", message)


_Rule: TypeAlias = tuple[str, str, Callable[..., tuple[str, str | None]]]


def _without_order(operator: str, left: str, right: str) -> tuple[str, str | None]:
    if "NoneType" in (left, right):
        return f"'{operator}' compares {kind_of_class(left)} with {kind_of_class(right)}", _NONE_HELP
    if left == right:
        message = f"values of {left} have no order, so '{operator}' has no meaning"
        return message, "identifiers, enums and records are compared with == and != only"
    return f"'{operator}' compares {kind_of_class(left)} with {kind_of_class(right)}", "compare values of one kind"


def _without_meaning(operator: str, left: str, right: str) -> tuple[str, str | None]:
    of_kind = {cls.__name__: help_line for cls, _, help_line in KINDS if cls in _WITHOUT_OPERATORS}
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
    return f"'{operator}' has no meaning for {kind_of_class(left)} and {kind_of_class(right)}", advice


def _advice_on_sets(operator: str, left: str, right: str) -> str | None:
    """The advice for an operator of sets that is beside a set, and not between two."""
    if "frozenset" not in (left, right) or operator not in ("|", "&", "-", "+"):
        return None
    if left == right:
        return "write a | b for the union of two sets"
    sign = "|" if operator == "+" else operator
    return f"both sides are sets: write s {sign} {{x}} for one element x"


def _lacking(what: str, advice: str) -> Callable[[str], tuple[str, str | None]]:
    def words(kind: str) -> tuple[str, str | None]:
        return f"{kind_of_class(kind)} {what}", _NONE_HELP if kind == "NoneType" else advice

    return words


def _wrong_arguments(cls: str, method: str, text: str) -> tuple[str, str | None]:
    if method == "__init__":
        return "the members of a type are not made", "name a member, or go through the type: for s in Server"
    return f"'{method}' of {kind_of_class(cls)} does not take these arguments", USAGE.get(method, _ARGUMENTS_HELP)


_ITERABLE = _lacking("has no members to go through", "go through a set, a sequence, a map, range(...) or a type")


def _no_members(kind: str) -> tuple[str, str | None]:
    if kind == "IntType":
        return (
            f"{kind_of_class(kind)} has no members to go through",
            "write range(1, N + 1) for the numbers of Int(1, N)",
        )
    if kind == "type":
        return "int has no members to go through: it has no bounds", "write range(...) with its ends"
    return _ITERABLE(kind)


_RULES: tuple[_Rule, ...] = (
    (r"'(<|>|<=|>=)' not supported between instances of '([\w.]+)' and '([\w.]+)'", "KMC246", _without_order),
    (r"unsupported operand type\(s\) for (\S+)(?: or pow\(\))?: '([\w.]+)' and '([\w.]+)'", "KMC248", _without_meaning),
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
        lambda kind: (
            f"range takes numbers, not {kind_of_class(kind)}",
            "for the members of a type write: for s in Server",
        ),
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
        match = re.match(pattern, message)
        if match:
            text, help_line = words(*match.groups())
            return EvaluationError(code, text, help=help_line)
    # A function inside of a function has a longer name in Python.
    called = re.match(r"(?:\w+\.<locals>\.)*(\w+|<lambda>)\(\) (.*)", message)
    if called:
        name = "this lambda" if called[1] == "<lambda>" else called[1]
        usage = USAGE.get(name, _ARGUMENTS_HELP)
        return EvaluationError("KMC248", f"{name} {called[2]}", help=usage)
    return EvaluationError("KMC248", message.replace("NoneType", "None"), help=_KINDS_HELP)
