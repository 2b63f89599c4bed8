"""The types of the words of `kmc.lang` that take arguments in brackets."""

from __future__ import annotations

from mypy.plugin import AnalyzeTypeContext
from mypy.types import AnyType, Instance, RawExpressionType, Type, TypeOfAny, get_proper_type

FROZENSET = "builtins.frozenset"
MAP = "kmc.lang.MapValue"
MESSAGE_SET = "kmc.lang.MessageSetValue"
MESSAGE_BAG = "kmc.lang.MessageBagValue"

_FIELD = "kmc.lang._Field"
# Word: the class of its values, how many types it takes, and how many numbers follow at most.
_WORDS = {
    "kmc.lang.Set": (FROZENSET, 1, 0),
    "kmc.lang.Pair": (FROZENSET, 1, 0),
    "kmc.lang.Seq": ("kmc.lang.SeqValue", 1, 1),
    "kmc.lang.Map": (MAP, 2, 0),
    "kmc.lang.PartialMap": (MAP, 2, 0),
    "kmc.lang.MessageSet": (MESSAGE_SET, 1, 1),
    "kmc.lang.MessageBag": (MESSAGE_BAG, 1, 2),
}


def is_word(fullname: str) -> bool:
    """Is this a word that `analyzed_word` knows?"""
    return fullname in _WORDS or fullname == _FIELD


def analyzed_word(context: AnalyzeTypeContext, fullname: str) -> Type:
    """The type of the values of `Map[K, V]`, or an error at its place; bounds are left to kmc."""
    written = context.type
    if fullname == _FIELD:
        return _type_of_field(context, *written.args)
    word = fullname.rpartition(".")[2]
    class_name, types, numbers = _WORDS[fullname]
    if not types <= len(written.args) <= types + numbers:
        usage = ", ".join([*["K", "V"][2 - types :], *["number"] * numbers])
        context.api.fail(f'"{word}" is written {word}[{usage}]', context.context)
        return _unknown()
    arguments = [context.api.analyze_type(argument) for argument in written.args[:types]]
    return context.api.named_type(class_name, [*arguments, *[_unknown()] * numbers])


def _unknown() -> AnyType:
    return AnyType(TypeOfAny.special_form)


def _type_of_field(context: AnalyzeTypeContext, message: Type, name: Type) -> Type:
    """The type of a field of a message, if it is known yet."""
    known = get_proper_type(context.api.analyze_type(message))
    if isinstance(known, Instance) and isinstance(name, RawExpressionType):
        found = known.type.get(str(name.literal_value))
        if found is not None and found.type is not None:
            return found.type
    return _unknown()
