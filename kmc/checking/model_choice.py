"""The model that a command runs on: a spec, perhaps one of its models, and the changes of the command line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kmc.compiler.checks.kinds.spec_kinds import check_kinds
from kmc.errors import Span
from kmc.frontend.binding import bind, bind_all, resolve
from kmc.frontend.model import Model
from kmc.frontend.shipped import find_model, find_spec_root, manifest_of
from kmc.model_files.manifest import Manifest
from kmc.model_files.model_file import Assignment, ModelFile, Word
from kmc.model_files.raw_values import raw_identity
from kmc.model_files.value_text import parse_set
from kmc.trace.files import pick, pick_state


@dataclass(frozen=True, slots=True)
class AbstractionChoice:
    """The abstractions to use: those of the model if `names` is None. With `verifies`, they are checked, not used."""

    names: tuple[str, ...] | None = None
    verifies: bool = False

    def applied(self, file: ModelFile) -> ModelFile:
        """The model file with this choice."""
        if self.names is not None:
            words = tuple(Word(name, Span("--abstraction", 1, 1, 1, len(name) + 1)) for name in self.names)
            file = replace(file, abstractions=words)
        return replace(file, verify_abstractions=file.verify_abstractions or self.verifies)


AS_IN_MODEL = AbstractionChoice()


@dataclass(frozen=True, slots=True)
class ChosenModel:
    """A model, and its kind in the manifest if a claim is known to fail: "finding" or "mutant", else None.

    `own` is the model as its file declares it, before the command line changed it; None without a file. `text` is the
    text of a `.cfg` file that `own` does not hold, that of a TLA+ module.
    """

    model: Model
    kind: str | None
    own: ModelFile | None = None
    text: str | None = None

    @property
    def is_of_module(self) -> bool:
        """Return whether the model is one of a TLA+ module, which has no spec in Python."""
        return self.text is not None

    @property
    def changes(self) -> tuple[str, ...]:
        """The options that make it another model than that of its file, by their names without dashes.

        An option that repeats the file's own value is not a change. The name `properties` represents another choice of
        properties.
        """
        own, now = self.own, self.model.file
        if own is None:
            return ()
        same = {
            "set": _constants(own) == _constants(now),
            "properties": _property_names(own) == _property_names(now),
            "abstraction": _names(own.abstractions) == _names(now.abstractions),
            "verify-abstractions": own.verify_abstractions == now.verify_abstractions,
            "max-depth": own.max_depth == now.max_depth,
            "deadlock": self.model.deadlock is False or own.check_deadlock is not False,
            "no-deadlock": self.model.deadlock is True or own.check_deadlock is False,
        }
        return tuple(option for option, is_same in same.items() if not is_same)


def choose_model(
    spec: str,
    name: str | None,
    sets: Sequence[str],
    deadlock: bool | None = None,
    max_depth: int | None = None,
    abstractions: AbstractionChoice = AS_IN_MODEL,
) -> ChosenModel:
    """The model called `name` of `spec`, with the constants, deadlock check, level bound and abstractions of the
    command line.

    Without a name: the model of `kmc.frontend.shipped.find_model`, or all properties of a spec without a manifest.
    Raises CommandLineError, SpecError or ModelError.
    """
    chosen = choose_bound(find_spec_root(spec), name, [_at_its_option(text) for text in sets], abstractions)
    return replace(chosen, model=changed(chosen.model, deadlock, max_depth))


def choose_bound(
    root: Path, name: str | None, constants: Sequence[Assignment], abstractions: AbstractionChoice = AS_IN_MODEL
) -> ChosenModel:
    """As `choose_model`, of the spec at `root`, with these constants instead of the model's own."""
    file = find_model(root, name)
    if file is None:
        model = bind_all(root, ModelFile("", "").with_overrides(constants).constants)
        model = resolve(model.spec, abstractions.applied(model.file))
    else:
        model = bind(root, abstractions.applied(file.with_overrides(constants)))
    check_kinds(model.spec)
    manifest = manifest_of(root)
    of_manifest = file is not None and manifest is not None and file.path == manifest.path
    return ChosenModel(model, _kind(manifest, file.name) if of_manifest and manifest and file else None, file)


def changed(model: Model, deadlock: bool | None, max_depth: int | None) -> Model:
    """The model with this deadlock check and this level bound, where they are given."""
    if deadlock is not None:
        model = replace(model, deadlock=deadlock, file=replace(model.file, check_deadlock=deadlock))
    if max_depth is not None:
        model = replace(model, max_depth=max_depth, file=replace(model.file, max_depth=max_depth))
    return model


def _constants(file: ModelFile) -> dict[str, Any]:
    return {constant.name: raw_identity(constant.value) for constant in file.constants}


def _property_names(file: ModelFile) -> tuple[set[str], ...]:
    return tuple({word.text for word in words} for words in (file.invariants, file.properties))


def _names(words: Sequence[Word]) -> list[str]:
    return [word.text for word in words]


def _kind(manifest: Manifest, name: str) -> str | None:
    kind = manifest.kind_of(name)
    return None if kind == "model" else kind


def override(file: ModelFile, sets: Sequence[str]) -> ModelFile:
    """The model file with the constants of these `--set` options; CommandLineError for a malformed text."""
    return file.with_overrides(_at_its_option(text) for text in sets)


def _at_its_option(text: str) -> Assignment:
    """The assignment, with a span that names the option as it was typed."""
    assignment = parse_set(text)
    return replace(assignment, span=replace(assignment.span, path=f"--set {text}"))


def start_state(where: str | None, model: Model) -> tuple[Any, tuple[str, ...]]:
    """The given first state, if there is one, and a warning when another model made its trace."""
    if where is None:
        return None, ()
    about = pick(where)[0].about
    other = about.get("digest", model.digest) != model.digest
    made_by = (about.get("spec"), about.get("model"))
    if made_by == (model.spec.name, model.name):
        whose = f"{model.spec.name} {model.name}"
        warning = f"{where} is a trace of {whose} with other constants or properties, or of another version of it."
    else:
        warning = f"{where} is a trace of another model: {made_by[0]} {made_by[1]}."
    return pick_state(where, model.spec), (warning,) if other else ()


def first_constants(root: Path) -> tuple[Assignment, ...]:
    """The constants of the first model in the manifest, or of its first finding or mutant; none without a manifest."""
    manifest = manifest_of(root)
    first = next(iter(manifest.entries.values()), None) if manifest else None
    return first.constants if first else ()
