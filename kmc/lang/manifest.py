"""The manifest of a spec, `models.toml`: its models with their expected results, its findings and its mutants.

Invariant: every key is known and of the right type, and every expected result names its origin. So a typo never turns
a check off, and no figure is without a source. A finding is a model in which a claim fails; its `title` says which. A
mutant is a model in which a constant weakens the spec so that a claim fails, which shows that the claim does not hold
vacuously. TOML's reader gives no positions, so `_KeySpans` scans the text again to find the place of each key.
"""

from __future__ import annotations

import json
import re
import tomllib
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias, TypeGuard

from kmc.errors import ModelError, Span, did_you_mean
from kmc.lang.modelfile import (
    Assignment,
    ModelFile,
    ModelValue,
    Raw,
    RawSet,
    Word,
    behaviour_mistake,
    fits_integer,
    is_name,
    raw_identity,
    read_model_text,
    render_raw,
)
from kmc.result import Verdict

RESULTS = tuple(verdict.value for verdict in Verdict if verdict is not Verdict.INTERRUPTED)
"""The values of `result`: every verdict that a model may be expected to end with."""

KeyPath: TypeAlias = tuple[str | int, ...]
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
    "deadlock",
    "levels",
    "never_fires",
    "expect",
)
# Expected figures that are numbers, each with its least value.
_FIGURES = {"generated": 0, "distinct": 0, "depth": 1, "initial": 1, "left": 0, "trace_length": 1}
_OTHER_RESULTS = ("origin", "result", "generated_by_action", "levels", "invariant", "bound", "unreached_goals")


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


# A manifest of a shipped spec takes 50 ms, and a command that checks many models asks for it as many times.
@lru_cache(maxsize=16)
def parse_manifest(text: str, path: str) -> Manifest:
    """The manifest that the text describes; `path` names the file in spans.

    Raises ModelError at the offending key or list member: KMC304 and KMC308 as in a `.cfg` file, KMC310 for a name
    listed twice, KMC320 for what is not TOML, KMC321 for an unknown key, KMC322 for a value of the wrong type or range,
    KMC323 for a missing key, KMC324 for two of one name.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _not_toml(str(error), text, path) from None
    except ValueError:
        # Python refuses to convert numbers of thousands of digits, and does not say where they stand.
        raise _not_toml("a number has too many digits", text, path) from None
    root = _Table(data, (), _KeySpans(text, path), "the manifest")
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


def _titled_model(table: _Table, name: str, path: str, kind: str) -> ModelFile:
    if kind == "model":
        table.only(_MODEL_KEYS)
    else:
        table.only(("title", *_MODEL_KEYS))
        table.needs("title", f'"what this {kind} shows"')
    return _model(table, name, path)


def _not_toml(reason: str, text: str, path: str) -> ModelError:
    place = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)$", reason)
    span = Span(path, 1)
    if place is not None and place.group(1) is not None:
        span = Span(path, int(place.group(1)), int(place.group(2)))
    elif place is not None:
        lines = text.rstrip().split("\n")
        span = Span(path, len(lines), len(lines[-1]) + 1)
    reason = reason[: place.start()] if place is not None else reason
    advice = "see https://toml.io for the format"
    if reason.startswith("Invalid value"):
        advice = f"names stand in quotes, lists in [ ]; {advice}"
    return ModelError("KMC320", f"this is not TOML: {reason}", span, advice)


class _KeySpans:
    """Where each key and list member of a valid TOML text stands; a key that occurs again keeps its first place."""

    _BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
    _STRING = re.compile(r'"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:[^"\\]|\\.)*"|\'[^\']*\'', re.DOTALL)
    _BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
    _PLAIN_VALUE = re.compile(r"[^,\]}#\n]+")

    def __init__(self, text: str, path: str) -> None:
        self._text = text
        self._path = path
        self._at = 0
        self._line_starts = [0, *(end.end() for end in re.finditer("\n", text))]
        self._spans: dict[KeyPath, Span] = {}
        self._walk()

    def of(self, path: KeyPath) -> Span:
        """The place of this key, or of the nearest table around it, or the start of the file."""
        while path and path not in self._spans:
            path = path[:-1]
        return self._spans.get(path, Span(self._path, 1))

    def _walk(self) -> None:
        table: KeyPath = ()
        while self._next():
            if self._next() == "[":
                self._skip("[")
                table = self._key(())
                self._skip("]")
            else:
                self._pair(table)

    def _next(self) -> str:
        blank = self._BLANK.match(self._text, self._at)
        self._at = blank.end() if blank else self._at
        return self._text[self._at : self._at + 1]

    def _skip(self, mark: str) -> None:
        while self._next() == mark:
            self._at += 1

    def _take(self, pattern: re.Pattern[str]) -> str | None:
        match = pattern.match(self._text, self._at)
        self._at = match.end() if match else self._at
        return match.group() if match else None

    def _mark(self, path: KeyPath, start: int) -> None:
        line = bisect_right(self._line_starts, start)
        column = start - self._line_starts[line - 1] + 1
        self._spans.setdefault(path, Span(self._path, line, column, line, column + self._at - start))

    def _key(self, path: KeyPath) -> KeyPath:
        while self._next():
            start = self._at
            part = self._take(self._BARE_KEY) or self._take(self._STRING)
            assert part is not None, f"no TOML key at offset {start} of {self._path}"
            path = (*path, _unquoted(part))
            self._mark(path, start)
            if self._next() != ".":
                break
            self._at += 1
        return path

    def _pair(self, table: KeyPath) -> None:
        path = self._key(table)
        self._at += 1 if self._next() == "=" else 0
        self._value(path)

    def _value(self, path: KeyPath) -> None:
        match self._next():
            case "[":
                self._list(path)
            case "{":
                self._at += 1
                while self._next() not in ("}", ""):
                    self._pair(path)
                    self._at += 1 if self._next() == "," else 0
                self._at += 1
            case '"' | "'":
                self._take(self._STRING)
            case _:
                self._take(self._PLAIN_VALUE)

    def _list(self, path: KeyPath) -> None:
        self._at += 1
        index = 0
        while self._next() not in ("]", ""):
            start = self._at
            self._value((*path, index))
            self._mark((*path, index), start)
            self._at += 1 if self._next() == "," else 0
            index += 1
        self._at += 1


def _unquoted(key: str) -> str:
    return str(tomllib.loads(f"key = {key}")["key"]) if key[0] in "\"'" else key


@dataclass(frozen=True, slots=True)
class _Table:
    """One table of the manifest, with the place of its keys; `shown` is what error messages call it."""

    data: Mapping[str, object]
    path: KeyPath
    spans: _KeySpans
    shown: str

    def mistake(self, code: str, message: str, help_line: str, *keys: str | int) -> ModelError:
        """The error at this table, or at what `keys` lead to from here."""
        return ModelError(code, message, self.spans.of((*self.path, *keys)), help_line)

    def only(self, known: tuple[str, ...]) -> None:
        """Raise KMC321 when there is a key that is not known."""
        for key in self.data:
            if key not in known:
                message = f"unknown key '{key}' in {self.shown}"
                raise self.mistake("KMC321", message, did_you_mean(key, known), key)

    def needs(self, key: str, example: str) -> None:
        """Raise KMC323 when the key is missing."""
        if key not in self.data:
            raise self.mistake("KMC323", f"'{key}' is missing in {self.shown}", f"add {key} = {example}")

    def wrong(self, wanted: str, example: str, key: str, *index: int) -> ModelError:
        """KMC322: the value of a key, or a member of its list, has the wrong form."""
        found: object = self.data[key]
        for place in index:
            found = found[place] if isinstance(found, list) else found
        message = f"'{key}' of {self.shown} takes {wanted}, not {_described(found)}"
        return self.mistake("KMC322", message, f"for example {key} = {example}", key, *index)

    def table(self, key: str, shown: str) -> _Table:
        """The table under a key, empty when the key is missing."""
        value = self.data.get(key, {})
        if not isinstance(value, dict):
            raise self.wrong("a table", "{ ... }", key)
        return _Table(value, (*self.path, key), self.spans, shown)

    def text(self, key: str) -> str:
        """The text under a key, empty when the key is missing; raises KMC322 when it is given and blank."""
        value = self.data.get(key, "")
        if not isinstance(value, str) or (key in self.data and not value.strip()):
            raise self.wrong("a text", '"..."', key)
        return value

    def boolean(self, key: str) -> bool | None:
        """The truth value under a key, None when the key is missing."""
        value = self.data.get(key)
        if value is None or isinstance(value, bool):
            return value
        raise self.wrong("true or false", "false", key)

    def number(self, key: str, least: int) -> int | None:
        """The number under a key, None when the key is missing."""
        value = self.data.get(key)
        if value is None or _is_number(value, least):
            return value
        raise self.wrong(f"a whole number from {least}", "3", key)

    def numbers(self, key: str, least: int) -> None:
        """Raise KMC322 when there is anything but whole numbers in the list under a key."""
        value = self.data.get(key, [])
        if not isinstance(value, list):
            raise self.wrong("a list of numbers", "[1, 3]", key)
        for index, number in enumerate(value):
            if not _is_number(number, least):
                raise self.wrong(f"whole numbers from {least}", "[1, 3]", key, index)

    def word(self, key: str) -> Word | None:
        """The name under a key, None when the key is missing."""
        value = self.data.get(key)
        if value is None:
            return None
        if not isinstance(value, str) or not is_name(value):
            raise self.wrong("a name", '"Name"', key)
        return Word(value, self.spans.of((*self.path, key)))

    def words(self, key: str) -> tuple[Word, ...]:
        """The names in the list under a key, none when the key is missing."""
        value = self.data.get(key, [])
        if not isinstance(value, list):
            raise self.wrong("a list of names", '["Name"]', key)
        words: list[Word] = []
        for index, name in enumerate(value):
            if not isinstance(name, str) or not is_name(name):
                raise self.wrong("names", '["Name"]', key, index)
            if any(name == word.text for word in words):
                message = f"'{name}' is listed twice in '{key}' of {self.shown}"
                raise self.mistake("KMC310", message, "list it once", key, index)
            words.append(Word(name, self.spans.of((*self.path, key, index))))
        return tuple(words)


def _is_number(value: object, least: int) -> TypeGuard[int]:
    # A truth value is an int to Python; in a model file it is not.
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _described(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case int() | float():
            return str(value)
        case str():
            return f"'{value}'"
        case list():
            return "a list"
        case dict():
            return "a table"
        case _:
            return "a date or time"


def _named_tables(root: _Table, key: str, kind: str) -> Iterator[tuple[str, _Table]]:
    tables = root.table(key, f"'{key}'")
    for name in tables.data:
        if not _MODEL_NAME.fullmatch(name):
            message = f"'{name}' cannot name a {kind}"
            raise tables.mistake("KMC322", message, "names have letters, digits, '_' and '-', as in models.smoke", name)
        yield name, tables.table(name, f"the {kind} '{name}'")


def _model(table: _Table, name: str, path: str) -> ModelFile:
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
        check_deadlock=table.boolean("deadlock"),
        max_depth=table.number("levels", 1),
        title=table.text("title"),
        description=table.text("description"),
        never_fires=table.words("never_fires"),
        expect=_expected(expect) if expect is not None else None,
    )
    mistake = behaviour_mistake(model)
    if mistake is not None:
        raise mistake
    return model


def _constants(table: _Table) -> tuple[Assignment, ...]:
    for name in table.data:
        if not is_name(name):
            message = f"'{name}' cannot name a constant"
            raise table.mistake("KMC322", message, "names have letters, digits and '_', and are not keywords", name)
    return tuple(
        Assignment(name, _raw(table, value, name), table.spans.of((*table.path, name)))
        for name, value in table.data.items()
    )


def _raw(table: _Table, value: object, name: str, *index: int) -> Raw:
    """The value of a constant, or of the member at an index: in TOML a text is a model value."""
    match value:
        case bool():
            return value
        case int() if fits_integer(value):
            return value
        case str() if is_name(value):
            return ModelValue(value)
        case {"string": str(text), **others} if not others:
            return text
        case list():
            return _raw_set(table, value, name, *index)
        case str():
            raise table.wrong("a model value, which is a name", _example_instead_of(value), name, *index)
        case _:
            wanted = 'a number of 64 bits, true, false, a model value, { string = "..." } or a list of such values'
            raise table.wrong(wanted, '["a", "b"]', name, *index)


def _example_instead_of(text: str) -> str:
    """What to write instead of a text that cannot be a model value."""
    if re.fullmatch(r"-?\d+", text):
        return f"{int(text)}, a number without quotes"
    if text in ("TRUE", "FALSE"):
        return text.lower()
    return f"{{ string = {json.dumps(text, ensure_ascii=False)} }}, if it is a string"


def _raw_set(table: _Table, values: list[object], name: str, *index: int) -> RawSet:
    members: list[Raw] = []
    for place, value in enumerate(values):
        member = _raw(table, value, name, *index, place)
        if raw_identity(member) in map(raw_identity, members):
            message = f"{render_raw(member)} stands twice in '{name}' of {table.shown}"
            raise table.mistake("KMC308", message, "write it once", name, *index, place)
        members.append(member)
    return RawSet(tuple(members))


def _expected(table: _Table) -> dict[str, object]:
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
    return dict(table.data)
