"""A model: a spec with its constants, the properties to check and the reductions to use.

Invariant: every name that a model file mentions has been resolved, or is an error at its place in that file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

from kmc.errors import ModelError, SpecError, did_you_mean
from kmc.invariants.properties import (
    ActionConstraint,
    ActionProperty,
    Constraint,
    Invariant,
    Reachable,
    SymmetrySet,
    View,
)
from kmc.lang.modelfile import Assignment, ModelFile, Word
from kmc.lang.permutation import is_started_in
from kmc.lang.symbols import SymbolMeta
from kmc.liveness.formulas import TemporalProperty
from kmc.spec.loader import Spec, load_spec

Kind = TypeVar("Kind")


@dataclass(frozen=True, slots=True)
class Model:
    """What a check runs on. `unchecked`: the temporal properties of the model, which kmc cannot check yet."""

    spec: Spec
    name: str
    invariants: tuple[Invariant, ...]
    action_properties: tuple[ActionProperty, ...]
    constraints: tuple[Constraint, ...]
    action_constraints: tuple[ActionConstraint, ...]
    reachable: tuple[Reachable, ...]
    symmetry: tuple[SymmetrySet, ...]
    view: View | None
    unchecked: tuple[TemporalProperty, ...]
    deadlock: bool
    max_depth: int | None
    file: ModelFile

    @property
    def digest(self) -> str:
        """Identifies spec, constants, properties and reductions; a changed comment keeps it."""
        names = [
            p.name
            for group in (self.invariants, self.action_properties, self.constraints, self.action_constraints)
            for p in group
        ]
        parts = [
            self.spec.source_digest,
            *(f"{c.name}={_members_text(c.value)}" for c in self.spec.constants.values()),
            *names,
            *(s.name for s in self.symmetry),
            self.view.name if self.view else "",
            str(self.deadlock),
        ]
        return sha256("\n".join(parts).encode()).hexdigest()[:16]


def _members_text(value: object) -> str:
    return str(value.members) if isinstance(value, SymbolMeta) else str(value)


def bind_all(root: Path, constants: Sequence[Assignment]) -> Model:
    """The model without a model file: all invariants and action properties of the spec, deadlock checked."""
    spec = load_spec(root, constants)
    names = [p for p in spec.properties.values() if isinstance(p, Invariant | ActionProperty)]
    file = ModelFile(
        spec.name, str(root), tuple(constants), properties=tuple(Word(found.name, found.span) for found in names)
    )
    return _resolve(spec, file)


def bind(root: Path, file: ModelFile) -> Model:
    """The model that `file` describes of the spec at `root`; SpecError or ModelError when something does not fit."""
    return _resolve(load_spec(root, file.constants), file)


def without_properties(spec: Spec) -> Model:
    """The model that has the steps of `spec` and no properties."""
    return replace(_resolve(spec, ModelFile(spec.name, str(spec.root), ())), reachable=(), deadlock=False)


def _resolve(spec: Spec, file: ModelFile) -> Model:
    _check_relation(spec, file)
    properties = [(word, _find(spec, word, "property")) for word in file.properties]
    invariants = [*_all(spec, file.invariants, Invariant, "invariant")]
    action_properties: list[ActionProperty] = []
    unchecked: list[TemporalProperty] = []
    for word, found in properties:
        match found:
            case Invariant():
                invariants.append(found)
            case ActionProperty():
                action_properties.append(found)
            case TemporalProperty():
                unchecked.append(found)
            case _:
                raise _wrong_kind(word, "property")
    symmetry = _all(spec, file.symmetry, SymmetrySet, "symmetry set")
    for group in symmetry:
        _check_started(spec, group)
    return Model(
        spec=spec,
        name=file.name,
        invariants=tuple(invariants),
        action_properties=tuple(action_properties),
        constraints=_all(spec, file.constraints, Constraint, "constraint"),
        action_constraints=_all(spec, file.action_constraints, ActionConstraint, "action constraint"),
        reachable=tuple(p for p in spec.properties.values() if isinstance(p, Reachable)),
        symmetry=symmetry,
        view=_one(spec, file.view, View, "view"),
        unchecked=tuple(unchecked),
        deadlock=True if file.check_deadlock is None else file.check_deadlock,
        max_depth=file.max_depth,
        file=file,
    )


def _check_started(spec: Spec, group: SymmetrySet) -> None:
    """Raise SpecError (KMC159) for a spawned type whose `started` does not name a partial map of its members."""
    for cls in group.classes:
        if cls.started is not None and not is_started_in(cls, spec.state_class.fields.get(cls.started)):
            message = f"State has no field '{cls.started}' of the type PartialMap[{cls.__name__}, ...]"
            advice = f"let started name the partial map whose keys are the {cls.__name__} in use"
            raise SpecError("KMC159", message, group.span, help=advice)


def _check_relation(spec: Spec, file: ModelFile) -> None:
    for word, known in (
        (file.specification, spec.specification_names),
        (file.init, (spec.init_name,)),
        (file.next, (spec.next_name,)),
    ):
        if word is not None and word.text not in known:
            raise ModelError("KMC345", f"the spec has no '{word.text}'", word.span, did_you_mean(word.text, known))


def _find(spec: Spec, word: Word, what: str) -> object:
    if word.text not in spec.properties:
        raise ModelError(
            "KMC346", f"the spec has no {what} '{word.text}'", word.span, did_you_mean(word.text, spec.properties)
        )
    return spec.properties[word.text]


def _wrong_kind(word: Word, what: str) -> ModelError:
    article = "an" if what[0] in "aeiou" else "a"
    return ModelError(
        "KMC347",
        f"'{word.text}' is not {article} {what}",
        word.span,
        help="`kmc specs` lists what the spec declares",
    )


def _all(spec: Spec, words: Sequence[Word], kind: type[Kind], what: str) -> tuple[Kind, ...]:
    found: list[Kind] = []
    for word in words:
        declared = _find(spec, word, what)
        if not isinstance(declared, kind):
            raise _wrong_kind(word, what)
        found.append(declared)
    return tuple(found)


def _one(spec: Spec, word: Word | None, kind: type[Kind], what: str) -> Kind | None:
    return _all(spec, (word,), kind, what)[0] if word is not None else None
