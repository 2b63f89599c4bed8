"""Tables of a TOML file with the place of every key, so that an error in a file of kmc's points to its place.

Invariant: every key of such a file is known and has the right type, so a typo never turns anything off. TOML's reader
gives no positions; `KeySpans` scans the text again to find them.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeGuard

from kmc.errors import ModelError, Span, did_you_mean
from kmc.model_files.model_file import Word, is_name

KeyPath: TypeAlias = tuple[str | int, ...]


def read_table(text: str, path: str, shown: str) -> TomlTable:
    """The table of a whole file; `path` names the file in spans, `shown` in messages. Raises ModelError KMC320."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _not_toml(str(error), text, path) from None
    except ValueError:
        # Python refuses to convert numbers of thousands of digits, and does not give their place.
        raise _not_toml("a number has too many digits", text, path) from None
    return TomlTable(data, (), KeySpans(text, path), shown)


def _not_toml(reason: str, text: str, path: str) -> ModelError:
    location = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)$", reason)
    span = Span(path, 1)
    if location is not None and location.group(1) is not None:
        span = Span(path, int(location.group(1)), int(location.group(2)))
    elif location is not None:
        lines = text.rstrip().split("\n")
        span = Span(path, len(lines), len(lines[-1]) + 1)
    reason = reason[: location.start()] if location is not None else reason
    advice = "see https://toml.io for the format"
    if reason.startswith("Invalid value"):
        advice = f"names stand in quotes, lists in [ ]; {advice}"
    return ModelError("KMC320", f"this is not TOML: {reason}", span, advice)


class KeySpans:
    """The place of each key and list member of a valid TOML text; a key that occurs again keeps its first place."""

    _BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
    _STRING = re.compile(r'"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:[^"\\]|\\.)*"|\'[^\']*\'', re.DOTALL)
    _BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
    _PLAIN_VALUE = re.compile(r"[^,\]}#\n]+")
    # What most members of lists are: a text of one line without escapes. Three quotes do not match.
    _SHORT_TEXT = re.compile(r'"[^"\\\n]+"')

    def __init__(self, text: str, path: str) -> None:
        self._text = text
        self._path = path
        self._at = 0
        self._line_starts = [0, *(end.end() for end in re.finditer("\n", text))]
        self._ends: dict[KeyPath, tuple[int, int]] = {}
        self._walk()

    def of(self, path: KeyPath) -> Span:
        """The place of this key, or of the nearest table around it, or the start of the file."""
        while path and path not in self._ends:
            path = path[:-1]
        if not path:
            return Span(self._path, 1)
        start, end = self._ends[path]
        line = bisect_right(self._line_starts, start)
        column = start - self._line_starts[line - 1] + 1
        return Span(self._path, line, column, line, column + end - start)

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
        following = self._text[self._at : self._at + 1]
        if following and following not in " \t\r\n#":
            return following
        blank = self._BLANK.match(self._text, self._at)
        self._at = blank.end() if blank else self._at
        return self._text[self._at : self._at + 1]

    def _skip(self, mark: str) -> None:
        while self._next() == mark:
            self._at += 1

    def _pass(self, mark: str) -> None:
        """Go beyond one mark, if it is next."""
        if self._next() == mark:
            self._at += 1

    def _take(self, pattern: re.Pattern[str]) -> str | None:
        match = pattern.match(self._text, self._at)
        self._at = match.end() if match else self._at
        return match.group() if match else None

    def _mark(self, path: KeyPath, start: int) -> None:
        self._ends.setdefault(path, (start, self._at))

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
        self._pass("=")
        self._value(path)

    def _value(self, path: KeyPath) -> None:
        match self._next():
            case "[":
                self._list(path)
            case "{":
                self._at += 1
                while self._next() not in ("}", ""):
                    self._pair(path)
                    self._pass(",")
                self._at += 1
            case '"' | "'":
                self._take(self._STRING)
            case _:
                self._take(self._PLAIN_VALUE)

    def _list(self, path: KeyPath) -> None:
        self._at += 1
        index = 0
        while self._next() not in ("]", ""):
            short = self._SHORT_TEXT.match(self._text, self._at)
            if short is not None:
                self._ends.setdefault((*path, index), short.span())
                self._at = short.end()
            else:
                start = self._at
                self._value((*path, index))
                self._mark((*path, index), start)
            self._pass(",")
            index += 1
        self._at += 1


def _unquoted(key: str) -> str:
    return str(tomllib.loads(f"key = {key}")["key"]) if key[0] in "\"'" else key


@dataclass(frozen=True, slots=True)
class TomlTable:
    """One table of a file, with the place of its keys; `shown` is what error messages call it."""

    data: Mapping[str, object]
    path: KeyPath
    spans: KeySpans
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

    def wrong(self, wanted: str, example: str, key: str, *index: str | int) -> ModelError:
        """KMC322: the value of a key, or what `index` leads to in it, has the wrong form."""
        value: Any = self.data[key]
        for position in index:
            value = value[position]
        message = f"'{key}' of {self.shown} takes {wanted}, not {_described(value)}"
        return self.mistake("KMC322", message, f"for example {key} = {example}", key, *index)

    def table(self, key: str, shown: str) -> TomlTable:
        """The table under a key, empty when the key is missing."""
        value = self.data.get(key, {})
        if not isinstance(value, dict):
            raise self.wrong("a table", "{ ... }", key)
        return TomlTable(value, (*self.path, key), self.spans, shown)

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

    def numbers(self, key: str, least: int) -> tuple[int, ...]:
        """The whole numbers in the list under a key, none when the key is missing; raises KMC322 for anything else."""
        value = self.data.get(key, [])
        if not isinstance(value, list):
            raise self.wrong("a list of numbers", "[1, 3]", key)
        for index, number in enumerate(value):
            if not _is_number(number, least):
                raise self.wrong(f"whole numbers from {least}", "[1, 3]", key, index)
        return tuple(value)

    def number_words(self, key: str, least: int) -> tuple[Word, ...]:
        """The numbers in the list under a key, each with its place; raises KMC310 for one that is listed twice."""
        numbers = self.numbers(key, least)
        for index, number in enumerate(numbers):
            if number in numbers[:index]:
                message = f"{number} is listed twice in '{key}' of {self.shown}"
                raise self.mistake("KMC310", message, "list it once", key, index)
        spans = [self.spans.of((*self.path, key, index)) for index in range(len(numbers))]
        return tuple(Word(str(number), span) for number, span in zip(numbers, spans, strict=True))

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
        known: set[str] = set()
        for index, name in enumerate(value):
            if not isinstance(name, str) or not is_name(name):
                raise self.wrong("names", '["Name"]', key, index)
            if name in known:
                message = f"'{name}' is listed twice in '{key}' of {self.shown}"
                raise self.mistake("KMC310", message, "list it once", key, index)
            known.add(name)
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
