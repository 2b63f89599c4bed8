"""Mistakes planted in the functions of a package, one at a time, as if kmc itself had them.

The code of a function is replaced, so it does not matter who has imported it. A function is every `def` of a module and
of its classes, properties included; one that yields can fail after its first item too.
"""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, cached_property
from importlib import import_module
from types import CodeType, FunctionType, ModuleType
from typing import Any


class PlantedMistake(Exception):
    """No part of kmc knows it."""


def functions_of(package: str) -> dict[str, FunctionType]:
    """The functions of all modules of a package, by name: `kmc.story.tell:Teller.step`."""
    root = import_module(package)
    names = [package, *(found.name for found in pkgutil.walk_packages(root.__path__, f"{package}."))]
    found: dict[str, FunctionType] = {}
    for name in names:
        module = import_module(name)
        for place, value in vars(module).items():
            found |= {f"{name}:{path}": function for path, function in _functions(module, place, value)}
    return found


def _functions(module: ModuleType, path: str, value: Any) -> Iterator[tuple[str, FunctionType]]:
    if isinstance(value, type) and value.__module__ == module.__name__:
        for name, member in vars(value).items():
            yield from _functions(module, f"{path}.{name}", member)
        return
    match value:
        case property():
            value = value.fget
        case cached_property():
            value = value.func
        case classmethod() | staticmethod():
            value = value.__func__
    value = inspect.unwrap(value) if callable(value) else value
    # What a dataclass generates has no file.
    if isinstance(value, FunctionType) and value.__code__.co_filename == module.__file__:
        yield path, value


def forget_what_is_cached(package: str) -> None:
    """Empty the caches of functions, so that every function that is needed is called."""
    for function in _cached_functions(package):
        function.cache_clear()


@cache
def _cached_functions(package: str) -> list[Any]:
    root = import_module(package)
    modules = [import_module(found.name) for found in pkgutil.walk_packages(root.__path__, f"{package}.")]
    return [
        value for module in modules for value in vars(module).values() if callable(getattr(value, "cache_clear", None))
    ]


def _template(*given: Any, **named: Any) -> Any:
    hook: Any = "HOOK"
    return hook(*given, **named)


def _yielding_template(*given: Any, **named: Any) -> Any:
    hook: Any = "HOOK"
    yield from hook(*given, **named)


def _code(template: Callable[..., Any], hook: Callable[..., Any], replaced: CodeType) -> CodeType:
    assert isinstance(template, FunctionType)
    constants = tuple(hook if constant == "HOOK" else constant for constant in template.__code__.co_consts)
    return template.__code__.replace(co_consts=constants, co_name=replaced.co_name)


def _clone(function: FunctionType) -> FunctionType:
    made = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return made


@contextmanager
def watched(functions: Mapping[str, FunctionType]) -> Iterator[set[str]]:
    """Meanwhile, the names of the functions that are called are put into the set."""
    reached: set[str] = set()
    originals = {name: function.__code__ for name, function in functions.items()}

    def watching(name: str, clone: FunctionType) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            reached.add(name)
            return clone(*given, **named)

        return call

    try:
        for name, function in functions.items():
            function.__code__ = _code(_template, watching(name, _clone(function)), function.__code__)
        yield reached
    finally:
        for name, function in functions.items():
            function.__code__ = originals[name]


@contextmanager
def failing(function: FunctionType, kind: type[BaseException] = PlantedMistake) -> Iterator[list[str]]:
    """Meanwhile, a call of the function raises; the list has an item for each."""
    calls: list[str] = []

    def fail(*given: Any, **named: Any) -> Any:
        calls.append("called")
        raise kind("planted")

    with _replaced(function, _code(_template, fail, function.__code__)):
        yield calls


@contextmanager
def failing_halfway(function: FunctionType) -> Iterator[list[str]]:
    """Meanwhile, a function that yields raises after its first item, or at its end if it has none."""
    calls: list[str] = []
    clone = _clone(function)

    def fail(*given: Any, **named: Any) -> Any:
        calls.append("called")
        for item in clone(*given, **named):
            yield item
            break
        raise PlantedMistake("planted")

    with _replaced(function, _code(_yielding_template, fail, function.__code__)):
        yield calls


@contextmanager
def _replaced(function: FunctionType, code: CodeType) -> Iterator[None]:
    original = function.__code__
    function.__code__ = code
    try:
        yield
    finally:
        function.__code__ = original
