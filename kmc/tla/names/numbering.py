"""The numbers that TLC gives to names while it reads the files, by which it orders strings, fields and model values.

TLC's table of strings (`util.UniqueString`) numbers each name when it meets it first: the values of the `.cfg` file,
then the words of the language, then the names in the modules as they are parsed, the root module first, and at last the
strings, module by module as their meaning is analysed, the root module last. A set of two strings has them in this
order, so a CHOOSE takes the one with the lower number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from kmc.model_files.model_file import ModelFile
from kmc.model_files.raw_values import ModelValue, Raw, RawFunction, RawRecord, RawSequence, RawSet
from kmc.tla.syntax.tokens import ModuleToken, tokens_of_module

_LANGUAGE = ("STRING", "FALSE", "TRUE", "BOOLEAN", "SUBSET", "UNION", "DOMAIN", "ENABLED", "UNCHANGED", "Not")


def numbers_of(file: ModelFile, modules: Sequence[str]) -> dict[str, int]:
    """Return the numbers of names for a model file and the paths of its modules, the root module first."""
    tokens = [_tokens(path) for path in modules]
    names = (token.raw for module in tokens for token in module if token.kind in ("name", "keyword"))
    strings = (token.text[1:-1] for module in reversed(tokens) for token in module if token.kind == "string")
    given = chain.from_iterable(_names(constant.value) for constant in file.constants)
    met = dict.fromkeys(chain(given, _LANGUAGE, names, strings))
    return {name: number for number, name in enumerate(met)}


def _tokens(path: str) -> Iterable[ModuleToken]:
    text = tokens_of_module(Path(path).read_text(encoding="utf-8"))
    return text.tokens if text is not None else ()


def _names(value: Raw) -> Iterator[str]:
    """Yield the model values and strings of a value as it is written."""
    match value:
        case ModelValue(name) | str(name):
            yield name
        case RawSet(parts) | RawSequence(parts):
            yield from chain.from_iterable(map(_names, parts))
        case RawRecord(fields):
            yield from chain.from_iterable((name, *_names(part)) for name, part in fields)
        case RawFunction(pairs):
            yield from chain.from_iterable(_names(part) for pair in pairs for part in pair)
        case _:
            return
