"""The arguments of calls in a spec: records made with their fields, helpers called with their parameters."""

from __future__ import annotations

import ast
from collections.abc import Callable
from inspect import signature
from typing import Any

from kmc.errors import did_you_mean
from kmc.frontend.checks.declared_fields import Fields
from kmc.frontend.checks.names import Meaning, Names
from kmc.lang.maps import MapValue
from kmc.lang.networks import MessageBagValue, MessageSetValue
from kmc.lang.seqs import SeqValue
from kmc.lang.tree import parameters, yields
from kmc.lang.types import IdentMeta
from kmc.lang.words import ARITIES, USAGE

_INTERNAL = frozenset(
    ["deliverable", "domain", "fresh_title", "kmc_seq_type", "kmc_type", "mapped", "symmetric", "spawned"]
)


def _methods() -> dict[str, frozenset[int]]:
    counts: dict[str, set[int]] = {}
    for cls in (IdentMeta, MapValue, MessageBagValue, MessageSetValue, SeqValue):
        for name, value in vars(cls).items():
            if callable(value) and not name.startswith("_") and name not in _INTERNAL:
                counts.setdefault(name, set()).add(_positional(value) - 1)
    return {name: frozenset(allowed) for name, allowed in counts.items()}


def _positional(function: Callable[..., Any]) -> int:
    return len(signature(function).parameters)


METHODS = _methods()
"""The methods of the language's values, and the number of arguments of each; `set` of a record has names instead."""


_KEY = 1, "a key that is a function of one parameter, an element, whose value is a number"
FUNCTIONS_GIVEN = {
    "fold": (2, "a function of two parameters: what it has so far, and an element"),
    "max": _KEY,
    "min": _KEY,
}
"""The words that are given a function: the number of its parameters, and what an error says that it is."""

_OF_FORMULAS = {"all": "for_all", "any": "there_exists"}


def check_call(names: Names, fields: Fields, module: str, node: ast.Call, callee: Meaning | None) -> None:
    """Refuse (KMC127, KMC128) a call whose arguments do not fit what it calls.

    `callee` is what a plain name means; None for a function of Python, a local name, or a method.
    """
    if callee is not None and isinstance(callee.node, ast.FunctionDef):
        _check_arguments(names, module, node, callee.node)
    elif callee is not None and isinstance(callee.node, ast.ClassDef):
        _check_fields(names, fields, module, node, callee)
    elif isinstance(node.func, ast.Attribute) and node.func.attr == "set":
        for keyword in node.keywords:
            if keyword.arg is not None and keyword.arg not in fields.of_records:
                message = f"no record of this spec has a field '{keyword.arg}'"
                names.refuse(module, keyword, "KMC127", message, did_you_mean(keyword.arg, fields.of_records))


def check_function(names: Names, module: str, word: str, given: ast.expr, meaning: Meaning | None) -> None:
    """Refuse (KMC128) a function, given to a word, that has other parameters or yields; a local name is not known."""
    count, needs = FUNCTIONS_GIVEN[word]
    match given, meaning:
        case (ast.Lambda(args=arguments), _):
            fits = len(list(parameters(arguments))) == count
        case (ast.Name(), Meaning(node=ast.FunctionDef() as function)):
            fits = len(list(parameters(function.args))) == count and not yields(function)
        case (ast.Name(id=name), None):
            fits = name not in ARITIES
        case _:
            fits = False
    if not fits:
        names.refuse(module, given, "KMC128", f"{word} needs {needs}", USAGE[word])


def check_word(names: Names, module: str, node: ast.Call) -> None:
    """Refuse (KMC128) a call of a function or a method of the language with arguments that it does not accept.

    The compiler relies on it: it reads the arguments that it expects.
    """
    match node.func:
        case ast.Name(id=name) if name in ARITIES:
            takes = ARITIES[name]
            counts = frozenset(range(takes.least, takes.most + 1))
            by_name = takes.names if len(node.args) == 1 else ()
        case ast.Attribute(attr="set") if not node.args:
            return
        case ast.Attribute(attr=name) if name in METHODS:
            counts, by_name = METHODS[name], ()
        case _:
            return
    usage = USAGE.get(name)
    if name in _OF_FORMULAS and any(isinstance(argument, ast.Lambda) for argument in node.args):
        usage = f"{usage}; in a temporal property, {_OF_FORMULAS[name]}(S, lambda x: ...)"
    for keyword in node.keywords:
        if keyword.arg not in by_name:
            names.refuse(module, keyword, "KMC128", f"'{name}' takes no argument '{keyword.arg}'", usage)
    if len(node.args) not in counts:
        wanted = "takes fewer arguments than" if len(node.args) > max(counts) else "takes more arguments than"
        are_given = f"the {len(node.args)} that {'is' if len(node.args) == 1 else 'are'} given"
        if not node.args:
            wanted, are_given = "needs", "an argument"
        names.refuse(module, node, "KMC128", f"'{name}' {wanted} {are_given}", usage)


def _check_fields(names: Names, fields: Fields, module: str, node: ast.Call, callee: Meaning) -> None:
    known = fields.of(callee)
    if known is None:
        advice = "write " + " or ".join(f"{callee.name}.{member}" for member in sorted(fields.members(callee)))
        names.refuse(module, node, "KMC127", f"{callee.name} is an enumeration; its members are not made", advice)
    usage = f"write {callee.name}({', '.join(f'{name}=...' for name in known)})"
    if node.args:
        names.refuse(module, node.args[0], "KMC127", f"{callee.name} takes its fields by name", usage)
    if fields.is_abstract(callee):
        names.refuse(
            module, node, "KMC127", f"{callee.name} is abstract", "make one of the records that derive from it"
        )
    given = {keyword.arg for keyword in node.keywords}
    for keyword in node.keywords:
        if keyword.arg not in known:
            message = f"{callee.name} has no field '{keyword.arg}'"
            names.refuse(module, keyword, "KMC127", message, did_you_mean(str(keyword.arg), known))
    missing = [name for name in known if name not in given]
    if missing:
        names.refuse(module, node, "KMC127", f"{callee.name} needs a value for {_listed(missing)}", usage)


def _check_arguments(names: Names, module: str, node: ast.Call, helper: ast.FunctionDef) -> None:
    arguments = helper.args
    positional = [argument.arg for argument in arguments.args]
    declared = list(parameters(arguments))
    usage = f"it is declared {helper.name}({', '.join(declared)})"
    if len(node.args) > len(positional):
        message = f"{helper.name} takes fewer arguments than the {len(node.args)} that are given"
        names.refuse(module, node.args[len(positional)], "KMC128", message, usage)
    given = set(positional[: len(node.args)])
    for keyword in node.keywords:
        if keyword.arg not in declared or keyword.arg in given:
            twice = f"{helper.name} is given '{keyword.arg}' twice"
            message = twice if keyword.arg in given else f"{helper.name} has no parameter '{keyword.arg}'"
            names.refuse(module, keyword, "KMC128", message, usage)
        given.add(str(keyword.arg))
    optional = positional[len(positional) - len(arguments.defaults) :]
    optional += [a.arg for a, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if default]
    missing = [name for name in declared if name not in given and name not in optional]
    if missing:
        names.refuse(module, node, "KMC128", f"{helper.name} needs a value for {_listed(missing)}", usage)


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(f"'{name}'" for name in names[:-1])] * (len(names) > 1) + [f"'{names[-1]}'"])
