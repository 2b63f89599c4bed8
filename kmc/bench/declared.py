"""The benchmarks that a spec declares in its `benchmarks.toml`, and the model that each runs.

A benchmark is a model of the manifest without its level bound, perhaps with other reductions, constants and properties.
So a benchmark measures a model that is also checked.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from kmc.errors import CommandLineError, ModelError, Span, did_you_mean
from kmc.frontend.shipped import find_model, find_spec_root
from kmc.model_files.model_file import ModelFile, Word
from kmc.model_files.value_text import parse_set

FILE_NAME = "benchmarks.toml"
_KEYS = ("description", "model", "symmetry", "set", "specification", "properties", "tla_module")


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A benchmark. `tla_module` is the TLA+ module that TLC runs for comparison, if one is known."""

    name: str
    spec: str
    root: Path
    description: str
    file: ModelFile
    tla_module: str | None = None

    @property
    def title(self) -> str:
        """Its unique name among all specs, also the name of its results file."""
        return f"{self.spec}-{self.name}"


def benchmarks_of(spec: str) -> dict[str, Benchmark]:
    """The declared benchmarks of a spec by name; ModelError or CommandLineError when the file or the spec is wrong."""
    root = find_spec_root(spec)
    path = (root if root.is_dir() else root.parent) / FILE_NAME
    if not path.is_file():
        return {}
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ModelError("KMC326", f"this is not TOML: {error}", Span(str(path), 1), "see https://toml.io") from None
    return {name: _declared(name, root, path, table) for name, table in tables.items()}


def find_benchmarks(spec: str, name: str | None) -> list[Benchmark]:
    """The benchmark called `name`, or else the model of that name as one; without a name all declared ones.

    Raises CommandLineError when there is nothing of that name, or none to choose from.
    """
    declared = benchmarks_of(spec)
    if name is None:
        if not declared:
            raise CommandLineError("KMC612", f"{spec} declares no benchmarks", help=f"name a model: kmc bench {spec} M")
        return list(declared.values())
    if name in declared:
        return [declared[name]]
    root = find_spec_root(spec)
    try:
        file = find_model(root, name)
    except ModelError as error:
        if error.code != "KMC349":
            raise
        message = f"{spec} has neither a benchmark nor a model '{name}'"
        raise CommandLineError("KMC612", message, help=did_you_mean(name, declared)) from None
    assert file is not None, "a model that is named is found or is an error"
    return [Benchmark(file.name, root.stem, root, file.description, replace(file, max_depth=None))]


def _declared(name: str, root: Path, path: Path, table: object) -> Benchmark:
    at = Span(str(path), 1)
    if not isinstance(table, Mapping):
        raise ModelError("KMC327", f"'{name}' is not a table", at, f"write [{name}], then its keys")
    for key in table:
        if key not in _KEYS:
            raise ModelError("KMC327", f"a benchmark has no key '{key}'", at, did_you_mean(key, _KEYS))
    texts = ("description", "model", "tla_module", "specification")
    description, model, module, specification = (_text(table, key, name, at) for key in texts)
    if not model or not description:
        raise ModelError("KMC327", f"'{name}' needs 'model' and 'description'", at, 'write model = "smoke"')
    file = find_model(root, model)
    assert file is not None, "a model that is named is found or is an error"
    file = replace(file, name=name, max_depth=None, expect=None)
    if "symmetry" in table:
        file = replace(file, symmetry=tuple(Word(word, at) for word in _texts(table, "symmetry", name, at)))
    if specification:
        file = replace(file, specification=Word(specification, at), init=None, next=None)
    if "properties" in table:
        file = replace(file, properties=tuple(Word(word, at) for word in _texts(table, "properties", name, at)))
    file = file.with_overrides(parse_set(text) for text in _texts(table, "set", name, at))
    return Benchmark(name, root.name, root, description, file, module or None)


def _text(table: Mapping[str, object], key: str, name: str, at: Span) -> str:
    value = table.get(key, "")
    if not isinstance(value, str):
        raise ModelError("KMC327", f"'{key}' of '{name}' is not a text", at, f'write {key} = "..."')
    return value


def _texts(table: Mapping[str, object], key: str, name: str, at: Span) -> list[str]:
    values = table.get(key, [])
    if not isinstance(values, list) or not all(isinstance(item, str) for item in values):
        raise ModelError("KMC327", f"'{key}' of '{name}' is not a list of texts", at, f'write {key} = ["..."]')
    return list(values)
