"""The manifest of a spec, `models.toml`: its models with their expected results, its findings and its mutants.

Invariant: every key is known and of the right type, and every expected result names its origin. So a typo never turns
a check off, and no figure is without a source. A finding is a model in which a claim fails; its `title` says which. A
mutant is a model in which a constant weakens the spec so that a claim fails, which shows that the claim does not hold
vacuously.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from kmc.errors import ModelError, did_you_mean
from kmc.model_files.model_file import Assignment, ModelFile, behaviour_mistake, is_name, read_model_text
from kmc.model_files.raw_values import (
    ModelValue,
    Raw,
    RawOperator,
    RawRecord,
    RawSequence,
    RawSet,
    fits_integer,
    raw_identity,
    render_raw,
)
from kmc.model_files.toml_tables import TomlTable, read_table
from kmc.model_files.value_text import value_of_text
from kmc.result import Verdict

RESULTS = tuple(verdict.value for verdict in Verdict if verdict is not Verdict.INTERRUPTED)
"""The values of `result`: every verdict that a model may be expected to end with."""

_MODEL_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_KINDS = {"models": "model", "findings": "finding", "mutants": "mutant"}
_MODEL_KEYS = (
    "description",
    "constants",
    "specification",
    "init",
    "next",
    "invariants",
    "properties",
    "constraints",
    "action_constraints",
    "symmetry",
    "view",
    "abstractions",
    "verify_abstractions",
    "deadlock",
    "levels",
    "never_fires",
    "claims",
    "expect",
)
# Expected figures that are numbers, each with its least value.
_FIGURES = {"generated": 0, "distinct": 0, "depth": 1, "initial": 1, "left": 0, "trace_length": 1}
_OTHER_RESULTS = (
    "origin",
    "result",
    "generated_by_action",
    "levels",
    "invariant",
    "bound",
    "unreached_goals",
    "vacuous",
)


@dataclass(frozen=True, slots=True)
class Manifest:
    """The models, findings and mutants of a spec by name, in the order of the file; no name is in two of them."""

    path: str
    models: Mapping[str, ModelFile]
    findings: Mapping[str, ModelFile]
    mutants: Mapping[str, ModelFile] = field(default_factory=dict)

    @property
    def entries(self) -> dict[str, ModelFile]:
        """Models, then findings, then mutants."""
        return {**self.models, **self.findings, **self.mutants}

    @property
    def by_kind(self) -> dict[str, Mapping[str, ModelFile]]:
        """The same by kind: "model", "finding" and "mutant"."""
        return {"model": self.models, "finding": self.findings, "mutant": self.mutants}

    @property
    def names(self) -> str:
        """The names by kind: `models: small, large; findings: lost_vote`."""
        return "; ".join(f"{kind}s: {', '.join(entries)}" for kind, entries in self.by_kind.items() if entries)

    def kind_of(self, name: str) -> str:
        """The kind of this entry: "model", "finding" or "mutant"."""
        return next(kind for kind, entries in self.by_kind.items() if name in entries)


def read_manifest(path: Path) -> Manifest:
    """The manifest in this file; raises ModelError as `parse_manifest` does, and KMC301 when it cannot be read."""
    return parse_manifest(read_model_text(path), str(path))


# A manifest of a shipped spec takes 50 ms to read, and a command that checks many models needs it as many times.
@lru_cache(maxsize=16)
def parse_manifest(text: str, path: str) -> Manifest:
    """The manifest that the text describes; `path` names the file in spans.

    Raises ModelError at the offending key or list member: KMC304 and KMC308 as in a `.cfg` file, KMC310 for a name
    listed twice, KMC320 for a file that is not TOML, KMC321 for an unknown key, KMC322 for a value of the wrong type or
    range, KMC323 for a missing key, KMC324 for two of one name.
    """
    root = read_table(text, path, "the manifest")
    root.only(tuple(_KINDS))
    tables: dict[str, dict[str, ModelFile]] = {kind: {} for kind in _KINDS}
    kind_of: dict[str, str] = {}
    for key, kind in _KINDS.items():
        for name, table in _named_tables(root, key, kind):
            if name in kind_of:
                message = f"'{name}' names a {kind_of[name]} and a {kind}"
                raise root.mistake("KMC324", message, "rename one of the two", key, name)
            kind_of[name] = kind
            tables[key][name] = _titled_model(table, name, path, kind)
    return Manifest(path, tables["models"], tables["findings"], tables["mutants"])


def _titled_model(table: TomlTable, name: str, path: str, kind: str) -> ModelFile:
    if kind == "model":
        table.only(_MODEL_KEYS)
    else:
        table.only(("title", *_MODEL_KEYS))
        table.needs("title", f'"what this {kind} shows"')
    return _model(table, name, path)


def _named_tables(root: TomlTable, key: str, kind: str) -> Iterator[tuple[str, TomlTable]]:
    tables = root.table(key, f"'{key}'")
    for name in tables.data:
        if not _MODEL_NAME.fullmatch(name):
            message = f"'{name}' cannot name a {kind}"
            raise tables.mistake("KMC322", message, "names have letters, digits, '_' and '-', as in models.smoke", name)
        yield name, tables.table(name, f"the {kind} '{name}'")


def _model(table: TomlTable, name: str, path: str) -> ModelFile:
    table.needs("description", '"what this model shows, in one line"')
    expect = table.table("expect", f"the expected results of {table.shown}") if "expect" in table.data else None
    model = ModelFile(
        name=name,
        path=path,
        constants=_constants(table.table("constants", f"the constants of {table.shown}")),
        specification=table.word("specification"),
        init=table.word("init"),
        next=table.word("next"),
        invariants=table.words("invariants"),
        properties=table.words("properties"),
        constraints=table.words("constraints"),
        action_constraints=table.words("action_constraints"),
        symmetry=table.words("symmetry"),
        view=table.word("view"),
        abstractions=table.words("abstractions"),
        verify_abstractions=table.boolean("verify_abstractions") or False,
        check_deadlock=table.boolean("deadlock"),
        max_depth=table.number("levels", 1),
        title=table.text("title"),
        description=table.text("description"),
        never_fires=table.words("never_fires"),
        claims=table.number_words("claims", 1),
        expect=_expected(expect) if expect is not None else None,
    )
    mistake = behaviour_mistake(model)
    if mistake is not None:
        raise mistake
    return model


def _constants(table: TomlTable) -> tuple[Assignment, ...]:
    for name in table.data:
        if not is_name(name):
            message = f"'{name}' cannot name a constant"
            raise table.mistake("KMC322", message, "names have letters, digits and '_', and are not keywords", name)
    return tuple(
        Assignment(name, _raw(table, value, name), table.spans.of((*table.path, name)))
        for name, value in table.data.items()
    )


def _raw(table: TomlTable, value: object, name: str, *index: str | int) -> Raw:
    """The value of a constant, or of the member at an index: in TOML a text is a model value."""
    match value:
        case bool():
            return value
        case int() if fits_integer(value):
            return value
        case str() if is_name(value):
            return ModelValue(value)
        case list():
            return _raw_set(table, value, name, *index)
        case dict() if value:
            return _raw_table(table, value, name, *index)
        case str():
            raise table.wrong("a model value, which is a name", _example_instead_of(value), name, *index)
        case _:
            wanted = (
                "a number of 64 bits, true, false, a model value, a list, "
                'or a table such as { string = "..." } or { tla = "..." }'
            )
            raise table.wrong(wanted, '["a", "b"]', name, *index)


def _raw_table(table: TomlTable, value: dict[str, object], name: str, *index: str | int) -> Raw:
    """The value that a table is: one in another form, or a record or function whose keys are names."""
    match value:
        case {"string": str(text), **others} if not others:
            return text
        case {"sequence": list(elements), **others} if not others:
            parts = enumerate(elements)
            return RawSequence(tuple(_raw(table, part, name, *index, "sequence", position) for position, part in parts))
        case {"definition": str(target), **others} if not others and is_name(target) and not index:
            return RawOperator(target)
        case {"tla": str(text), **others} if not others:
            return _raw_of_text(table, text, name, *index)
    for key in value:
        if not is_name(key):
            raise table.wrong("a table of names", "{ a = 1, b = 2 }", name, *index)
    return RawRecord(tuple((key, _raw(table, item, name, *index, key)) for key, item in value.items()))


def _raw_of_text(table: TomlTable, text: str, name: str, *index: str | int) -> Raw:
    """The value that a text is as TLA+ writes it."""
    try:
        return value_of_text(text, table.spans.of(table.path).path, name)
    except ModelError as error:
        raise table.mistake(error.code, error.message, error.help or "", name, *index) from None


def _example_instead_of(text: str) -> str:
    """The advice for a text that cannot be a model value."""
    if re.fullmatch(r"-?\d+", text):
        return f"{int(text)}, a number without quotes"
    if text in ("TRUE", "FALSE"):
        return text.lower()
    return f"{{ string = {json.dumps(text, ensure_ascii=False)} }}, if it is a string"


def _raw_set(table: TomlTable, values: list[object], name: str, *index: str | int) -> RawSet:
    members: list[Raw] = []
    for position, value in enumerate(values):
        member = _raw(table, value, name, *index, position)
        if raw_identity(member) in map(raw_identity, members):
            message = f"{render_raw(member)} occurs twice in '{name}' of {table.shown}"
            raise table.mistake("KMC308", message, "write it once", name, *index, position)
        members.append(member)
    return RawSet(tuple(members))


def _expected(table: TomlTable) -> dict[str, object]:
    """The expected results as written, after checking that each is of the right type."""
    table.only((*_FIGURES, *_OTHER_RESULTS))
    table.needs("origin", '"who computed these figures, and when"')
    table.needs("result", '"ok"')
    table.text("origin")
    if table.text("result") not in RESULTS:
        message = f"'{table.text('result')}' is not a result"
        raise table.mistake("KMC322", message, did_you_mean(table.text("result"), RESULTS), "result")
    for figure, least in _FIGURES.items():
        table.number(figure, least)
    by_action = table.table("generated_by_action", f"the actions in {table.shown}")
    for action in by_action.data:
        by_action.number(action, 0)
    table.numbers("levels", 1)
    table.word("invariant")
    table.text("bound")
    table.words("unreached_goals")
    table.words("vacuous")
    return dict(table.data)
