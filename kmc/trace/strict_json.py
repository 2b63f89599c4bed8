"""JSON from an untrusted file, read strictly: a mistake is a TraceError that names its place.

Places are written in the syntax of jq (`.states[2].log["#map"][0]`). No function below raises anything but TraceError,
whatever the text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any, NoReturn

from kmc.errors import TraceError

DEPTH_MAX = 100
"""The deepest nesting of a file; deeper files are refused before Python's recursion limit is reached."""

_DIGITS_MAX = 1000
_SHOWN_MAX = 60


@dataclass(frozen=True, slots=True)
class JsonPlace:
    """A value in a JSON document, and the way to it."""

    value: Any
    path: str = "."
    depth: int = 0

    def refuse(self, message: str, help: str, code: str = "KMC422") -> NoReturn:
        """Raise TraceError about this place."""
        raise TraceError(code, f"at {self.path}: {message}", help=help)

    def expected(self, what: str, help: str) -> NoReturn:
        """Raise TraceError KMC422: this value is not `what`."""
        shown = json.dumps(self.value)
        shown = shown if len(shown) <= _SHOWN_MAX else shown[: _SHOWN_MAX - 3] + "..."
        self.refuse(f"{what} is expected, not {shown}", help)

    def members(self, what: str, help: str) -> dict[str, JsonPlace]:
        """The members of an object, in order; TraceError for anything else."""
        if not isinstance(self.value, dict):
            self.expected(what, help)
        for key in self.value:
            if not key.isprintable():
                self.refuse(f"the name {json.dumps(key)} has control characters", help, "KMC423")
        return {key: self._inner(value, _step(key)) for key, value in self.value.items()}

    def items(self, what: str, help: str, length: int | None = None) -> list[JsonPlace]:
        """The elements of an array, of the given length; TraceError for anything else."""
        if not isinstance(self.value, list) or (length is not None and len(self.value) != length):
            self.expected(what, help)
        return [self._inner(value, f"[{index}]") for index, value in enumerate(self.value)]

    def member(self, name: str, help: str) -> JsonPlace:
        """A member that must be there."""
        members = self.members("an object", help)
        if name not in members:
            self.refuse(f'there is no "{name}"', help)
        return members[name]

    def string(self, what: str, help: str) -> str:
        """A string of printable characters."""
        if not isinstance(self.value, str):
            self.expected(what, help)
        if not self.value.isprintable():
            self.refuse(f"{json.dumps(self.value)} has control characters", help, "KMC423")
        return self.value

    def text(self, what: str, help: str) -> str:
        """A string of lines of printable characters."""
        if not isinstance(self.value, str):
            self.expected(what, help)
        if not all(line.isprintable() for line in self.value.replace("\t", " ").split("\n")):
            self.refuse("the text has control characters", help, "KMC423")
        return self.value

    def integer(self, what: str, help: str) -> int:
        """An integer; TRUE and FALSE are not integers."""
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            self.expected(what, help)
        return self.value

    def _inner(self, value: Any, step: str) -> JsonPlace:
        if self.depth >= DEPTH_MAX:
            self.refuse(
                f"values are nested more than {DEPTH_MAX} levels deep", "no spec has such values: is it a trace?"
            )
        head = "" if self.path == "." and not step.startswith("[") else self.path
        return JsonPlace(value, head + step, self.depth + 1)


def _step(key: str) -> str:
    return f".{key}" if re.fullmatch(r"[A-Za-z_]\w*", key, re.ASCII) else f"[{json.dumps(key)}]"


def first_repeated(identities: Iterable[Hashable]) -> int | None:
    """The index of the first element that an earlier one equals."""
    seen: set[Hashable] = set()
    for index, identity in enumerate(identities):
        if identity in seen:
            return index
        seen.add(identity)
    return None


def parse_json(document: str) -> JsonPlace:
    """The top of a JSON document; TraceError KMC421 for other texts."""
    help = "is the file complete? Save the trace again, or give another file"
    try:
        value = json.loads(document, object_pairs_hook=_object, parse_constant=_refuse_constant, parse_int=_integer)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise TraceError("KMC421", f"not JSON: {error.msg} at {where}", help=help) from None
    except RecursionError:
        raise TraceError("KMC421", "not a trace: values are nested too deeply", help=help) from None
    if re.search(r"\\ud[89a-f]", document, re.IGNORECASE):
        _refuse_lone_surrogates(value)
    return JsonPlace(value)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        index = first_repeated(key for key, _ in pairs)
        name = json.dumps(pairs[index or 0][0])
        raise TraceError("KMC421", f"an object gives {name} twice", help="keep one of the two")
    return members


def _integer(digits: str) -> int:
    return checked_integer(digits)


def checked_integer(digits: str) -> int:
    """The integer that `-?digits` writes; TraceError KMC423 if it is too long for a value of a spec."""
    if len(digits) > _DIGITS_MAX:
        raise TraceError("KMC423", f"an integer has more than {_DIGITS_MAX} digits", help="no spec has such values")
    return int(digits)


def _refuse_constant(name: str) -> NoReturn:
    raise TraceError("KMC421", f"not JSON: {name} is not a value", help="integers only")


def _refuse_lone_surrogates(value: object) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise TraceError(
            "KMC421", "a string holds half of a character (a lone surrogate)", help="save the trace again"
        ) from None
