"""Binding a model file to a spec: every name that the file mentions is resolved, or is an error at its place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar

from kmc.actions.abstraction import Abstraction
from kmc.errors import ModelError, Span, SpecError, did_you_mean
from kmc.frontend.bisimulation import verification_of
from kmc.frontend.loader import Spec, load_spec
from kmc.frontend.model import Model
from kmc.frontend.refined_fairness import SUFFIX
from kmc.invariants.kinds import KINDS, Role, of_role
from kmc.invariants.properties import (
    Refinement,
    SymmetrySet,
    View,
)
from kmc.lang.constant_values import text_of
from kmc.lang.naming import with_article
from kmc.lang.permutation import is_started_in, permute
from kmc.lang.tla import shortened
from kmc.liveness.formulas import TemporalProperty
from kmc.model_files.model_file import Assignment, ModelFile, Word

Kind = TypeVar("Kind")


def _section(field: str) -> tuple[str, tuple[type[Any], ...]]:
    """The noun for a word in a section of a model file, and the kinds that it may name."""
    kinds = [kind for kind in KINDS if field in kind.selected_by]
    if field == "properties":
        return "property", (*(kind.declared for kind in kinds), TemporalProperty)
    return kinds[0].noun, tuple(kind.declared for kind in kinds)


_SECTIONS = {field: _section(field) for field in dict.fromkeys(name for kind in KINDS for name in kind.selected_by)}
"""The sections of a model file that choose properties."""


def bind_all(root: Path, constants: Sequence[Assignment]) -> Model:
    """The model without a model file: all invariants, action and temporal properties of the spec, deadlock checked."""
    spec = load_spec(root, constants)
    checked = (*(kind.declared for kind in of_role(Role.CHECKED)), TemporalProperty)
    names = [p for p in spec.properties.values() if isinstance(p, checked)]
    file = ModelFile(
        spec.name, str(root), tuple(constants), properties=tuple(Word(prop.name, prop.span) for prop in names)
    )
    return resolve(spec, file)


def bind(root: Path, file: ModelFile) -> Model:
    """The model that `file` describes of the spec at `root`; SpecError or ModelError when something does not fit."""
    try:
        spec = load_spec(root, file.constants)
    except ModelError as error:
        raise error.at(_place_of(file)) from error.__cause__
    return resolve(spec, file)


def _place_of(file: ModelFile) -> Span | None:
    """The beginning of a model: its table in a manifest, or the first line of a `.cfg` file."""
    path = Path(file.path)
    if path.suffix not in (".toml", ".cfg") or not path.is_file():
        return None
    for ordinal, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        table = re.match(r"\[(\w+)\.(.+)\]", line.strip())
        if table is not None and table[2].strip("\"'") == file.name:
            return Span(file.path, ordinal, 1, ordinal, len(line) + 1)
    return Span(file.path, 1)


def without_properties(spec: Spec) -> Model:
    """The model that has the steps of `spec` and no properties."""
    return replace(resolve(spec, ModelFile(spec.name, str(spec.root), ())), reachable=(), deadlock=False)


def resolve(spec: Spec, file: ModelFile) -> Model:
    """The model that `file` describes of a spec that was loaded with its constants; ModelError as of `bind`."""
    _check_relation(spec, file)
    _check_actions(spec, file.never_fires)
    chosen = {what: _all(spec, getattr(file, field), kinds, what) for field, (what, kinds) in _SECTIONS.items()}
    named = [prop for props in chosen.values() for prop in props]
    declared = list(spec.properties.values())
    predicates: dict[str, Any] = {
        kind.field: tuple(p for p in (named if kind.selected_by else declared) if isinstance(p, kind.declared))
        for kind in KINDS
    }
    symmetry = _all(spec, file.symmetry, SymmetrySet, "symmetry set")
    for group, word in zip(symmetry, file.symmetry, strict=True):
        _check_started(spec, group)
        _check_constants(spec, group, word)
    model = Model(
        spec=spec,
        name=file.name,
        **predicates,
        symmetry=symmetry,
        view=_one(spec, file.view, View, "view"),
        abstractions=_all(spec, file.abstractions, Abstraction, "abstraction"),
        temporal=tuple(_temporal(spec, named)),
        specification=_specification(spec, file),
        deadlock=True if file.check_deadlock is None else file.check_deadlock,
        max_depth=file.max_depth,
        file=file,
    )
    return verification_of(model) if file.verify_abstractions else model


def _temporal(spec: Spec, named: Sequence[object]) -> Iterator[TemporalProperty]:
    """The temporal properties that a model names, each once; a refinement brings the fairness of its abstract spec."""
    fairness = [f"{prop.name}{SUFFIX}" for prop in named if isinstance(prop, Refinement)]
    brought = (spec.properties.get(name) for name in fairness)
    for prop in dict.fromkeys((*named, *brought)):
        if isinstance(prop, TemporalProperty):
            yield prop


def _check_started(spec: Spec, group: SymmetrySet) -> None:
    """Raise SpecError (KMC159) for a spawned type whose `started` does not name a partial map of its members."""
    for cls in group.classes:
        if cls.started is not None and not is_started_in(cls, spec.state_class.fields.get(cls.started)):
            message = f"State has no field '{cls.started}' of the type PartialMap[{cls.__name__}, ...]"
            advice = f"let started name the partial map whose keys are the {cls.__name__} in use"
            raise SpecError("KMC159", message, group.span, help=advice)


def _check_constants(spec: Spec, group: SymmetrySet, word: Word) -> None:
    """Raise ModelError (KMC359) for a constant whose value distinguishes members that the symmetry exchanges."""
    for constant in spec.constants.values():
        if isinstance(constant.value, FunctionType):
            continue  # an operator treats members alike, as every function of a spec has to
        for first, second in (pair for cls in group.classes for pair in pairwise(cls.members)):
            if permute(constant.value, {first: second, second: first}, {}) != constant.value:
                value = shortened(text_of(constant.value))
                message = f"constant '{constant.name}' is {value}, which changes if {first} and {second} change places"
                advice = f"leave out {word.text}, or give {constant.name} a value that treats their members alike"
                raise ModelError("KMC359", message, word.span, advice)


def _check_relation(spec: Spec, file: ModelFile) -> None:
    for word, known in (
        (file.specification, spec.specification_names),
        (file.init, (spec.init_name,)),
        (file.next, (spec.next_name,)),
    ):
        if word is not None and word.text not in known:
            raise ModelError("KMC345", f"the spec has no '{word.text}'", word.span, did_you_mean(word.text, known))


def _check_actions(spec: Spec, words: Sequence[Word]) -> None:
    """Raise ModelError (KMC354) for a word that names no action of the next-state relation."""
    known = [action.title for action in spec.actions]
    for word in words:
        if word.text not in known:
            message = f"the spec has no action '{word.text}'"
            raise ModelError("KMC354", message, word.span, did_you_mean(word.text, known))


def _specification(spec: Spec, file: ModelFile) -> str | None:
    """The one that the file names; else the first that is declared with its fairness, else the first by name."""
    if file.specification is not None:
        return file.specification.text
    if file.init is not None or file.next is not None:
        return None
    return next(iter((*spec.specifications, *spec.specification_names)), None)


def _undeclared(spec: Spec, name: str) -> str | None:
    """The help where a name is that of an action, or of a function that is not declared as a property."""
    if any(name in (action.name, action.title) for action in (*spec.actions, *spec.other_actions)):
        return f"{name} is an action; a model names invariants and other properties"
    for names in spec.modules.values():
        code = getattr(names.get(name), "__code__", None)
        if code is not None and code.co_filename == names["__file__"]:
            place = f"{Path(code.co_filename).name}:{code.co_firstlineno}"
            return f"{name} is a function ({place}): write @spec.invariant or another kind of property above it"
    return None


def _find(spec: Spec, word: Word, what: str, kind: type[Any] | tuple[type[Any], ...]) -> object:
    if word.text not in spec.properties:
        known = [name for name, declared in spec.properties.items() if isinstance(declared, kind)]
        advice = _undeclared(spec, word.text) or (did_you_mean(word.text, known) if known else _to_declare(what))
        raise ModelError("KMC346", f"the spec has no {what} '{word.text}'", word.span, advice)
    return spec.properties[word.text]


def _to_declare(what: str) -> str:
    """The help where a spec declares nothing of a kind."""
    decorators = {kind.noun: f"@spec.{kind.name} above a function" for kind in KINDS}
    reductions = {
        "abstraction": "@spec.abstraction above a function",
        "symmetry set": 'spec.symmetry("Symmetry", Server)',
        "view": 'spec.view("View", drop=["field"])',
    }
    written = {**decorators, **reductions}.get(what)
    return f"the spec declares none: write {written} in it" if written else "the spec declares none"


def _wrong_kind(word: Word, what: str, declared: object) -> ModelError:
    kind = next((kind for kind in KINDS if isinstance(declared, kind.declared)), None)
    advice = "`kmc specs` lists what the spec declares"
    if kind is not None:
        asked = f"list it under {kind.selected_by[0]}" if kind.selected_by else "every model asks for it by itself"
        advice = f"it is {with_article(kind.noun)}: {asked}"
    return ModelError("KMC347", f"'{word.text}' is not {with_article(what)}", word.span, help=advice)


def _all(spec: Spec, words: Sequence[Word], kind: type[Kind] | tuple[type[Kind], ...], what: str) -> tuple[Kind, ...]:
    kinds: list[Kind] = []
    for word in words:
        declared = _find(spec, word, what, kind)
        if not isinstance(declared, kind):
            raise _wrong_kind(word, what, declared)
        kinds.append(declared)
    return tuple(kinds)


def _one(spec: Spec, word: Word | None, kind: type[Kind], what: str) -> Kind | None:
    return _all(spec, (word,), kind, what)[0] if word is not None else None
