"""What type checkers see of the language (`*.pyi`) has the words, methods and parameters that exist at run time."""

from __future__ import annotations

import ast
import inspect
from functools import cache
from types import ModuleType

import pytest
from support.source_tree import ROOT

import kmc.lang
import kmc.spec
from kmc.lang.maps import MapValue
from kmc.lang.networks import MessageBagValue, MessageSetValue, _Network
from kmc.lang.records import Record
from kmc.lang.seqs import SeqValue
from kmc.lang.types import IdentMeta
from kmc.spec.declare import SpecFacade

CLASSES = {
    "SeqValue": SeqValue,
    "MapValue": MapValue,
    "_Network": _Network,
    "MessageSetValue": MessageSetValue,
    "MessageBagValue": MessageBagValue,
    "Record": Record,
    "_IdentMeta": IdentMeta,
    "_Spec": SpecFacade,
}
# Used by kmc itself, not by specs.
INTERNAL = {"_Network": {"deliverable", "with_images"}, "_IdentMeta": {"kmc_type"}}
FUNCTIONS = [
    *((kmc.lang, name) for name in kmc.lang.__all__ if inspect.isfunction(getattr(kmc.lang, name))),
    *((kmc.spec, name) for name in kmc.spec.__all__ if inspect.isfunction(getattr(kmc.spec, name))),
]


@cache
def declared(module: ModuleType) -> ast.Module:
    """The declarations of `kmc.lang` or `kmc.spec` for type checkers."""
    return ast.parse((ROOT / module.__name__.replace(".", "/") / "__init__.pyi").read_text(encoding="utf-8"))


def functions_of(body: list[ast.stmt]) -> dict[str, list[str]]:
    """Public functions and their parameters; of an overloaded one, the last form and every name of the others."""
    found: dict[str, list[str]] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            arguments = node.args
            named = [*arguments.args, arguments.vararg, *arguments.kwonlyargs, arguments.kwarg]
            names = [argument.arg for argument in named if argument is not None]
            found[node.name] = list(dict.fromkeys([*found.get(node.name, []), *names]))
    return found


def methods_of(name: str) -> dict[str, list[str]]:
    """The methods that a class is declared to have."""
    for module in (kmc.lang, kmc.spec):
        for node in declared(module).body:
            if isinstance(node, ast.ClassDef) and node.name == name:
                return functions_of(node.body)
    raise LookupError(name)


@pytest.mark.parametrize("module", [kmc.lang, kmc.spec], ids=["kmc.lang", "kmc.spec"])
def test_the_same_words_are_declared(module: ModuleType) -> None:
    assigned = [node for node in declared(module).body if isinstance(node, ast.Assign)]
    lists = [ast.literal_eval(node.value) for node in assigned if ast.unparse(node.targets[0]) == "__all__"]
    assert lists == [module.__all__]


@pytest.mark.parametrize(("module", "name"), FUNCTIONS, ids=[name for _, name in FUNCTIONS])
def test_a_word_is_declared_with_its_parameters(module: ModuleType, name: str) -> None:
    assert functions_of(declared(module).body)[name] == list(inspect.signature(getattr(module, name)).parameters)


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_is_declared_with_its_methods(name: str) -> None:
    members = {key: value for key, value in vars(CLASSES[name]).items() if not key.startswith("_")}
    methods = {key: value for key, value in members.items() if inspect.isfunction(value)}
    methods = {key: value for key, value in methods.items() if key not in INTERNAL.get(name, ())}
    expected = {key: sorted(inspect.signature(value).parameters) for key, value in methods.items()}
    assert {key: sorted(names) for key, names in methods_of(name).items()} == expected
