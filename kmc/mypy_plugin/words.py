"""The types of the words of `kmc.lang` that have arguments in brackets."""

from __future__ import annotations

from mypy.plugin import AnalyzeTypeContext
from mypy.types import AnyType, Instance, RawExpressionType, Type, TypeOfAny, get_proper_type

from kmc.lang.words import BRACKETS

FROZENSET = "builtins.frozenset"
MAP = "kmc.lang.MapValue"
MESSAGE_SET = "kmc.lang.MessageSetValue"
MESSAGE_BAG = "kmc.lang.MessageBagValue"

_FIELD = "kmc.lang._Field"
_CLASSES = {
    "Set": FROZENSET,
    "Pair": FROZENSET,
    "Seq": "kmc.lang.SeqValue",
    "Map": MAP,
    "PartialMap": MAP,
    "MessageSet": MESSAGE_SET,
    "MessageBag": MESSAGE_BAG,
}
"""The class of the values of each type with arguments in brackets; Opt is a union, which mypy knows."""
_MODULE = "kmc.lang."


def is_word(fullname: str) -> bool:
    """Is this a word that `analyzed_word` knows?"""
    return fullname == _FIELD or fullname.removeprefix(_MODULE) in _CLASSES


def analyzed_word(context: AnalyzeTypeContext, fullname: str) -> Type:
    """The type of the values of `Map[K, V]`, or an error at its place; bounds are left to kmc."""
    written = context.type
    if fullname == _FIELD:
        return _type_of_field(context, *written.args)
    word = fullname.removeprefix(_MODULE)
    types, numbers = BRACKETS[word].types, BRACKETS[word].bounds
    if not types <= len(written.args) <= types + numbers:
        usage = ", ".join([*["K", "V"][2 - types :], *["number"] * numbers])
        context.api.fail(f'"{word}" is written {word}[{usage}]', context.context)
        return _unknown()
    arguments = [context.api.analyze_type(argument) for argument in written.args[:types]]
    return context.api.named_type(_CLASSES[word], [*arguments, *[_unknown()] * numbers])


def _unknown() -> AnyType:
    return AnyType(TypeOfAny.special_form)


def _type_of_field(context: AnalyzeTypeContext, message: Type, name: Type) -> Type:
    """The type of a field of a message, if it is known yet."""
    known = get_proper_type(context.api.analyze_type(message))
    if isinstance(known, Instance) and isinstance(name, RawExpressionType):
        symbol = known.type.get(str(name.literal_value))
        if symbol is not None and symbol.type is not None:
            return symbol.type
    return _unknown()
