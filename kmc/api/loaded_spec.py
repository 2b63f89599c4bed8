"""A spec in Python: its words by name, with the constants of one of its models.

Invariant: a spec is executed once for the constants of a model, so the states of two models are of different classes,
and none of one is equal to any of the other. A `LoadedSpec` holds one execution, and those that were requested of it
for other models.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import RLock
from types import MappingProxyType, ModuleType
from typing import Any

import kmc.lang
import kmc.spec
from kmc.actions.action import Action
from kmc.api.arguments import unsuitable
from kmc.api.error_notes import explained
from kmc.checking.model_choice import ChosenModel, choose_bound
from kmc.errors import CommandLineError, KmcError, ModelError, Span
from kmc.frontend.loader import Spec, load_spec
from kmc.frontend.model import Model
from kmc.frontend.shipped import find_spec_root, manifest_of
from kmc.lang.constants import Constant
from kmc.lang.maps import MapValue
from kmc.lang.records import Record
from kmc.lang.seqs import SeqValue
from kmc.lang.tla import NIL
from kmc.model_files.manifest import Manifest
from kmc.model_files.model_file import Assignment, is_name
from kmc.model_files.raw_values import ModelValue, Raw, RawRecord, RawSequence, RawSet, fits_integer, raw_function
from kmc.near_words import nearest

_HERE = "a constant of kmc.load"
_NO_MODEL = ("KMC344", "KMC350")
"""The errors of `choose_bound` if no model is named: a constant has no value, or there are several models."""

# A file of a spec is compiled with Python's warnings off, and what is off is off for the whole process.
_LOADING = RLock()


@explained
def load(spec: str | Path, model: str | Path | None = None, /, **constants: Any) -> LoadedSpec:
    """Load a spec: the name of a shipped one, or the path of a folder or file.

    `model` is a name from its manifest or the path of a `.cfg` file; without one, it is the manifest's `smoke` or its
    only model. `constants` take the place of the model's: numbers, truth values, names as text, and lists of names for
    sets, as in `Server=["n1", "n2"]`. Raises KmcError.
    """
    if not isinstance(spec, str | Path):
        raise unsuitable("spec", spec, "a name or a path", "kmc.load('die_hard')")
    with _LOADING:
        return LoadedSpec(find_spec_root(str(spec)), model, tuple(_assignment(*pair) for pair in constants.items()))


class LoadedSpec:
    """A spec, loaded with the constants of a model; made by `load`.

    The names that its files define are attributes: types (`spec.State`, `spec.Server`), constants, helper functions.
    `spec["x"]` is the same for a name that an attribute of this class hides.
    """

    def __init__(self, root: Path, model: str | Path | None, constants: tuple[Assignment, ...]) -> None:
        self._root = root
        self._constants = constants
        self._others: dict[str, LoadedSpec] = {}
        self._missing: KmcError | None = None
        self._chosen: ChosenModel | None = None
        try:
            self._chosen = _outside(lambda: choose_bound(root, None if model is None else str(model), constants))
        except ModelError as error:
            if model is not None or error.code not in _NO_MODEL:
                raise
            self._missing = error
            # A mistake in the spec itself is reported now.
            load_spec(root, constants, allow_missing=True)

    @property
    def chosen(self) -> ChosenModel:
        """The model, and whether its manifest calls it a finding or a mutant; KmcError where none is chosen."""
        if self._chosen is None:
            assert self._missing is not None, "there is a reason"
            raise self._missing.noting("in Python: kmc.load(spec, 'model'), or kmc.load(spec, CONSTANT=...)")
        return self._chosen

    @property
    def model(self) -> Model:
        """The model whose constants the spec has; ModelError where none is chosen."""
        return self.chosen.model

    @property
    def loaded(self) -> Spec:
        """The declarations of the spec; raises ModelError if no model is chosen."""
        return self.model.spec

    @property
    def given(self) -> tuple[str, ...]:
        """The names of the constants that `load` was given."""
        return tuple(constant.name for constant in self._constants)

    @property
    def root(self) -> Path:
        """The folder or file of the spec."""
        return self._root

    @property
    def name(self) -> str:
        """The name of the spec."""
        return self._root.stem if self._root.is_file() else self._root.resolve().name

    @property
    def doc(self) -> str:
        """The docstring of the spec."""
        return self.loaded.doc

    @property
    def models(self) -> Mapping[str, str]:
        """The models, findings and mutants of the manifest: name to description."""
        manifest: Manifest | None = manifest_of(self._root)
        entries = manifest.entries if manifest is not None else {}
        return {name: file.description for name, file in entries.items()}

    @property
    def constants(self) -> Mapping[str, Constant]:
        """The constants with their values, domains and meaning."""
        return self.loaded.constants

    @property
    def actions(self) -> Mapping[str, Action]:
        """The actions by their names in TLA+, such as `BecomeLeader`."""
        return {action.title: action for action in (*self.loaded.actions, *self.loaded.other_actions)}

    @property
    def properties(self) -> Mapping[str, Any]:
        """All that the spec declares by name: invariants, properties, constraints, views, symmetry sets."""
        return MappingProxyType(dict(self.loaded.properties))

    @property
    def modules(self) -> Mapping[str, Mapping[str, Any]]:
        """The names that each file defines or imports: `spec.modules["types"]["Role"]`."""
        return {name: MappingProxyType(_own(names)) for name, names in self.loaded.modules.items()}

    def with_model(self, model: str | Path) -> LoadedSpec:
        """The same spec with another model, and the constants that `load` was given; the same one each time."""
        name = str(model)
        if self._chosen is not None and name == self._chosen.model.name:
            return self
        with _LOADING:
            if name not in self._others:
                self._others[name] = LoadedSpec(self._root, model, self._constants)
            return self._others[name]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)  # queries of every object, as by copy and notebooks
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(str(error.args[0]), name=name, obj=self) from None

    def __getitem__(self, name: str) -> Any:
        known = self._names.get(name)
        if known is None:
            near = nearest(name, self._names)
            advice = f"did you mean '{near}'?" if near is not None else "dir(spec) lists its names"
            raise KeyError(f"the spec {self.name} has no '{name}'; {advice}")
        if len(known.values) > 1:
            files = ", ".join(repr(module) for module in known.modules)
            raise KeyError(f"several files of {self.name} define '{name}': ask spec.modules[...] for one of {files}")
        return known.values[0]

    def __dir__(self) -> Collection[str]:
        own = [name for name in super().__dir__() if name.startswith("__") or not name.startswith("_")]
        return [*own, *(self._names if self._chosen is not None else ())]

    def __repr__(self) -> str:
        if self._chosen is None:
            return f"<spec {self.name}, no model chosen>"
        return f"<spec {self.name}, model {self._chosen.model.name}>"

    @cached_property
    def _names(self) -> dict[str, _Named]:
        names: dict[str, _Named] = {}
        for module, defined in self.modules.items():
            for name, value in defined.items():
                named = names.setdefault(name, _Named([], []))
                named.modules.append(module)
                if not any(value is known for known in named.values):
                    named.values.append(value)
        return names


@dataclass(frozen=True, slots=True)
class _Named:
    """The values of a name in the files of a spec, and these files."""

    values: list[Any]
    modules: list[str]


def _own(names: Mapping[str, Any]) -> dict[str, Any]:
    """The names that a module of the spec defines itself: no words of the language, no modules, nothing private."""
    return {name: value for name, value in names.items() if not name.startswith("_") and not _is_foreign(name, value)}


def _is_foreign(name: str, value: Any) -> bool:
    if name == "annotations" or isinstance(value, ModuleType):
        return True
    return any(value is getattr(words, name, None) for words in (kmc.lang, kmc.spec))


def _outside(choose: Callable[[], ChosenModel]) -> ChosenModel:
    """The model; an error in a constant that was given in Python has no place in a file."""
    try:
        return choose()
    except KmcError as error:
        if error.span is None or error.span.path != _HERE:
            raise
        raise type(error)(error.code, error.message, None, error.help, error.notes) from None


def _assignment(name: str, value: Any) -> Assignment:
    return Assignment(name, _raw(name, value), Span(_HERE, 1))


def _raw(name: str, value: Any) -> Raw:
    """A value as a model file writes it; a text is a name."""
    match value:
        case bool():
            return value
        case int() if fits_integer(value):
            return value
        case str() if is_name(value):
            return ModelValue(value)
        case SeqValue():
            return RawSequence(tuple(_raw(name, element) for element in value))
        case Record():
            return RawRecord(tuple((field, _raw(name, item)) for field, item in value.items()))
        case list() | tuple():
            return RawSet(tuple(_raw(name, member) for member in value))
        case set() | frozenset():
            return RawSet(tuple(_raw(name, member) for member in _sorted(value)))
        case Mapping() | MapValue():
            return raw_function(tuple((_raw(name, key), _raw(name, item)) for key, item in value.items()))
        case None:
            return ModelValue(NIL)
        case _ if is_name(title := getattr(value, "title", "") if not isinstance(value, str) else ""):
            return ModelValue(title)  # a member of an enumeration, or an identifier
    raise CommandLineError(
        "KMC692",
        f"{value!r} cannot be the value of the constant '{name}'",
        help='give a number, True, False, a name as text, a list of names: ["n1", "n2"], or kmc.literal([1, 1])',
    )


def _sorted(values: Collection[Any]) -> Sequence[Any]:
    """The members of a Python set, whose order would change from run to run."""
    # A text has a method `title`, and what that is called depends on where it lies in memory.
    return sorted(values, key=_place)


def _place(value: Any) -> str:
    """A text that is the same in every process."""
    match value:
        case str():
            return value
        case set() | frozenset():
            return repr(sorted(map(_place, value)))
        case _:
            return str(getattr(value, "title", value))


def as_loaded(spec: LoadedSpec | str | Path, model: str | Path | None = None) -> LoadedSpec:
    """The spec, loaded unless it is, with a model unless that is None."""
    if not isinstance(spec, LoadedSpec):
        return load(spec, model)
    return spec if model is None else spec.with_model(model)
