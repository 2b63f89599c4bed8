"""A model file as data: the common part of `.cfg` files, `models.toml` and `--set`.

Invariant: all of it is as a person wrote it. Which constants a spec has, and of which type, is decided where a spec
meets its model; the spans kept here let that step blame the right word. Values are in `kmc.model_files.raw_values`, and
their text is read in `value_text`; sections of a `.cfg` file are read in `cfg`, tables of a manifest in `manifest`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from kmc.errors import ModelError, Span
from kmc.model_files.raw_values import ModelValue, Raw, render_assignment, render_raw

KEYWORDS = (
    "ABSTRACTION",
    "ABSTRACTIONS",
    "ACTION_CONSTRAINT",
    "ACTION_CONSTRAINTS",
    "CHECK_DEADLOCK",
    "CONSTANT",
    "CONSTANTS",
    "CONSTRAINT",
    "CONSTRAINTS",
    "INIT",
    "INVARIANT",
    "INVARIANTS",
    "NEXT",
    "PROPERTIES",
    "PROPERTY",
    "SPECIFICATION",
    "SYMMETRY",
    "VERIFY_ABSTRACTIONS",
    "VIEW",
)
"""The keywords of a `.cfg` file, reserved: no constant, model value ... has such a name. ABSTRACTION is not TLC's."""

KEYWORDS_NOT_SUPPORTED = ("ALIAS", "POSTCONDITION", "POSTCONDITIONS", "TYPE_CONSTRAINT")
"""TLC's keywords that kmc does not have; reserved too, so that a file with such a section is never misread."""

RESERVED = frozenset((*KEYWORDS, *KEYWORDS_NOT_SUPPORTED, "TRUE", "FALSE"))
"""Words that cannot be names: all keywords and the two truth values."""

NAME_PATTERN = r"(?=[0-9_]*[A-Za-z])[A-Za-z0-9_]+"
"""A name, as a regular expression: a TLA+ identifier."""


@dataclass(frozen=True, slots=True)
class Word:
    """A name as written in the file."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Assignment:
    """A constant and its value; the span covers the constant's name.

    `module` is the TLA+ module whose definition gets the value, in `X = [M] value`; empty for the root module.
    """

    name: str
    value: Raw
    span: Span
    module: str = ""


@dataclass(frozen=True, slots=True)
class Substitution:
    """`X <- Y` or `X <- [M] Y`: a definition of a TLA+ module in the place of a constant or of another definition."""

    name: str
    target: Word
    span: Span
    module: str = ""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A model as a person wrote it: constants, what to check, and (from a manifest) bounds and expected results.

    `name` is the name for people: the stem of a `.cfg` file or the manifest's name of the model. `check_deadlock` is
    None if the file does not mention it. `max_depth` is the level bound (an initial state has level 1). `title`,
    `description`, `max_depth`, `never_fires`, `claims` and `expect` come from a manifest only.
    `never_fires` names the actions that fire in no reachable state; `claims` are the numbers of the claims that the
    model is evidence for (`kmc.frontend.shown_claims`); `expect` has the keys of `kmc check --json`, and `origin`, the
    source of the figures. `substitutions`, `alias`, `postconditions` and `only_simulated` (the
    names of `_PERIODIC` and `_RL_REWARD`) come from the `.cfg` file of a TLA+ module only.
    """

    name: str
    path: str
    constants: tuple[Assignment, ...] = ()
    specification: Word | None = None
    init: Word | None = None
    next: Word | None = None
    invariants: tuple[Word, ...] = ()
    properties: tuple[Word, ...] = ()
    constraints: tuple[Word, ...] = ()
    action_constraints: tuple[Word, ...] = ()
    symmetry: tuple[Word, ...] = ()
    view: Word | None = None
    abstractions: tuple[Word, ...] = ()
    verify_abstractions: bool = False
    check_deadlock: bool | None = None
    max_depth: int | None = None
    title: str = ""
    description: str = ""
    never_fires: tuple[Word, ...] = ()
    claims: tuple[Word, ...] = ()
    expect: Mapping[str, object] | None = field(default=None, hash=False)
    substitutions: tuple[Substitution, ...] = ()
    alias: Word | None = None
    postconditions: tuple[Word, ...] = ()
    only_simulated: tuple[Word, ...] = ()

    def with_overrides(self, assignments: Iterable[Assignment]) -> ModelFile:
        """The same model with these constants replaced in place, or added at the end.

        Of two overrides of one constant, the later counts: a script appends `--set` to a command that has one.
        """
        overrides = {assignment.name: assignment for assignment in assignments}
        kept = tuple(overrides.pop(constant.name, constant) for constant in self.constants)
        return replace(self, constants=(*kept, *overrides.values()))


def same_name_model_value(assignment: Assignment) -> bool:
    """Whether the line reads `X = X`, which only declares a model value."""
    value = assignment.value
    return isinstance(value, ModelValue) and value.name == assignment.name


def is_name(text: str) -> bool:
    """Whether the text can name a constant, a model value, an invariant ...: a TLA+ identifier, not reserved."""
    return re.fullmatch(NAME_PATTERN, text) is not None and text not in RESERVED


def behaviour_mistake(model: ModelFile) -> ModelError | None:
    """KMC304 when the model names both SPECIFICATION and INIT or NEXT, or only one of the latter two; else None."""
    init, next_, specification = model.init, model.next, model.specification
    if specification is not None and (init or next_) is not None:
        help_line = "keep SPECIFICATION, or keep INIT and NEXT"
        return ModelError("KMC304", "a model has either SPECIFICATION or INIT and NEXT", specification.span, help_line)
    if init is not None and next_ is None:
        return ModelError("KMC304", "INIT stands without NEXT", init.span, "add NEXT, the next-state relation")
    if next_ is not None and init is None:
        return ModelError("KMC304", "NEXT stands without INIT", next_.span, "add INIT, the initial predicate")
    return None


def read_model_text(path: Path) -> str:
    """The text of a model file or manifest; raises ModelError KMC301 when it cannot be read or is not UTF-8."""
    try:
        data = path.read_bytes()
    except OSError as error:
        reason = error.strerror or "it cannot be read"
        help_line = "check the path and its permissions"
        raise ModelError("KMC301", f"cannot read the model file '{path}': {reason}", None, help_line) from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        span = Span(str(path), before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1)
        message = f"the model file '{path}' is not UTF-8: byte {data[error.start]:#04x}"
        raise ModelError("KMC301", message, span, "save the file as UTF-8") from None


def render_cfg(model: ModelFile) -> str:
    """A `.cfg` file equal in meaning: reading it gives the same model, apart from name, path and spans.

    The parts that only a manifest has (title, description, level bound) become comments; expected results are
    omitted.
    TLC accepts one SYMMETRY name only, and no ABSTRACTIONS; kmc reads the lists that are written here.
    """
    lines = [rf"\* {line}".rstrip() for text in (model.title, model.description) for line in text.splitlines()]
    if model.max_depth is not None:
        lines.append(rf"\* level bound: {model.max_depth}")
    for keyword, word in (("SPECIFICATION", model.specification), ("INIT", model.init), ("NEXT", model.next)):
        lines += [f"{keyword} {word.text}"] if word is not None else []
    if model.constants:
        lines.append("CONSTANTS")
        lines += [f"    {render_assignment(constant.name, constant.value)}" for constant in model.constants]
    lines += [f"VIEW {model.view.text}"] if model.view is not None else []
    sections = (
        ("SYMMETRY", model.symmetry),
        ("ABSTRACTIONS", model.abstractions),
        ("INVARIANTS", model.invariants),
        ("PROPERTIES", model.properties),
        ("CONSTRAINTS", model.constraints),
        ("ACTION_CONSTRAINTS", model.action_constraints),
    )
    for keyword, words in sections:
        lines += [keyword, *(f"    {word.text}" for word in words)] if words else []
    lines += ["VERIFY_ABSTRACTIONS TRUE"] if model.verify_abstractions else []
    if model.check_deadlock is not None:
        lines.append(f"CHECK_DEADLOCK {render_raw(model.check_deadlock)}")
    return "\n".join(lines) + "\n"
