"""Names of kmc that tests write in strings exist: no type checker and no linter follows them when a module moves."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator

import pytest
from support.source_tree import Source, nodes_of, sources

IMPORT = re.compile(r"^\s*from (kmc(?:_spark)?[\w.]*) import ([\w, ]+?)\s*(?:#.*)?$", re.MULTILINE)
DOTTED = re.compile(r"kmc(?:_spark)?(?:\.\w+){3,}")
"""A name that `monkeypatch.setattr` takes: module, module, module, name."""
MADE_UP = ("tests/house/test_layers.py", "tests/house/test_names_in_strings.py")
"""Files whose strings name modules that are not there on purpose."""


def is_there(dotted: str) -> bool:
    """Whether a dotted name leads to a module, or to an attribute of one."""
    parts = dotted.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for name in parts[length:]:
            if not hasattr(found, name):
                return False
            found = getattr(found, name)
        return True
    return False


def names_in(text: str) -> Iterator[str]:
    """The names of kmc that a string means to exist: what a program of several lines imports, or a dotted name."""
    if "\n" in text:
        for module, names in IMPORT.findall(text):
            yield from (f"{module}.{name.split(' as ')[0].strip()}" for name in names.split(","))
    elif DOTTED.fullmatch(text):
        yield text


def missing_names(source: Source) -> list[str]:
    """The names in a file's strings that lead nowhere."""
    strings = [
        node.value for node in nodes_of(source) if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    return sorted({name for text in strings for name in names_in(text) if not is_there(name)})


def test_what_a_string_names_is_there() -> None:
    read = [source for source in sources("tests") if source.path not in MADE_UP]
    assert {source.path: names for source in read if (names := missing_names(source))} == {}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('PROGRAM = "import os\\nfrom kmc.shards import no_module\\n"', ["kmc.shards.no_module"]),
        ('PROGRAM = f"x = {1}\\nfrom kmc.lang import Int, Nat\\n"', ["kmc.lang.Nat"]),
        ('PATCHED = "kmc.engine.check_model.NoSearch"', ["kmc.engine.check_model.NoSearch"]),
        ('PATCHED = "kmc.engine.check_model.check_native"', []),
        ('SUITE = "kmc.spec.model"', []),
    ],
)
def test_a_name_that_is_not_there_is_found(text: str, found: list[str]) -> None:
    assert missing_names(Source("tests/x.py", text)) == found
