"""The text of a translated spec: declarations and functions, with the place of every line in the module."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass

from kmc.errors import Span
from kmc.lang.naming import camel_case
from kmc.tla.shapes.refusal import refusal
from kmc.tla.shapes.shape import Atom
from kmc.tla.translate.declarations import LANGUAGE_WORDS, Declarer, class_names
from kmc.tla.translate.formatting import formatted, unparsed
from kmc.tla.translate.names import ATOM_CLASS
from kmc.tla.translate.shared_codes import WORD
from kmc.tla.translate.support import functions_used
from kmc.tla.translate.temporal_atoms import STATE_ATOM, STEP_ATOM
from kmc.tla.translate.translation import WrittenLine
from kmc.tla.translate.translator import SpecFunction, TranslatedParts

_INDENT = "    "
_END_OF_CHOICE = "}[0]"
_STATEMENT_MAX = 1_000_000
_TEXT_MAX = 8_000_000
"""The characters of a statement, and of all, up to which code is written: Python's parser needs hundreds of bytes for
each, and the largest public module that has a translation takes 300,000.
"""


@dataclass(frozen=True, slots=True)
class SpecText:
    """The file of a spec: its lines, and the place of each in the module, None for one without."""

    lines: tuple[str, ...]
    places: tuple[Span | None, ...]

    @property
    def text(self) -> str:
        """The whole file."""
        return "\n".join(self.lines) + "\n"


def laid_out(parts: TranslatedParts) -> SpecText:
    """Write a translated model as one file."""
    writer = _Writer(parts)
    return writer.write()


class _Writer:
    def __init__(self, parts: TranslatedParts) -> None:
        self._parts = parts
        self._t = parts.t
        self._declarer = Declarer(parts.t)
        self._names: dict[str, str] = {}
        self._choices: list[tuple[re.Pattern[str], Span]] = []

    def write(self) -> SpecText:
        self._names = class_names(self._t)
        self._choices = [
            (re.compile(".+".join(map(re.escape, WORD.split(unparsed(_renamed(text, self._names)))))), place)
            for text, place in self._t.choices.items()
        ]
        body = self._functions()
        classes = [(_renamed(line, self._names), None) for line in self._declarer.classes()]
        state = [(_renamed(line, self._names), place) for line, place in self._state()]
        helpers: list[tuple[str, Span | None]] = [(line, None) for line in functions_used(line for line, _ in body)]
        text = [*self._atoms(), *classes, *state, *helpers, *body]
        table = self._table()
        used = {word for line in (*table, *(line for line, _ in text)) for word in re.findall(r"\w+", line)}
        imports = [word for word in LANGUAGE_WORDS if word in used]
        head = [
            f'"""{self._t.model.module}, translated from TLA+."""',
            "",
            f"from kmc.lang import {', '.join(imports)}",
            "from kmc.spec import spec",
            "",
            *table,
        ]
        lines = [(line, None) for line in head] + text
        return SpecText(tuple(line for line, _ in lines), tuple(place for _, place in lines))

    def _table(self) -> list[str]:
        model = self._t.model
        pairs = ", ".join(
            f'{json.dumps(name)}: "{field}"' for name, field in zip(model.variables, self._t.fields, strict=True)
        )
        lines = [f"spec.variables({{{pairs}}})"]
        if self._parts.symmetry is not None:
            name, groups = self._parts.symmetry
            lines.append(f'spec.symmetry("{name}", {", ".join(groups)})')
        if self._parts.view is not None:
            name, dropped = self._parts.view
            quoted = ", ".join(f'"{field}"' for field in dropped)
            lines.append(f'spec.view("{name}", drop=[{quoted}])')
        constants = [group for group in self._t.names.groups if group.is_symmetric]
        declared = [
            f'{group.name} = constant("{group.name}", IdentSet(symmetric=True), "the constant {group.name}")'
            for group in constants
        ]
        return [*declared, *lines]

    def _atoms(self) -> list[tuple[str, Span | None]]:
        lines: list[tuple[str, Span | None]] = []
        for group in self._t.names.groups:
            if not group.is_symmetric:
                lines.extend(self._enumeration(group.name, group.atoms))
        if self._t.names.others:
            lines.extend(self._enumeration(ATOM_CLASS, tuple(self._t.names.others)))
        return lines

    def _enumeration(self, name: str, atoms: tuple[Atom, ...]) -> list[tuple[str, Span | None]]:
        members = [self._t.names.source_of(atom).partition(".")[2] for atom in atoms]
        if len(members) == 1:
            body = f"{members[0]} = 0"
        else:
            body = f"{', '.join(members)} = range({len(members)})"
        return [("", None), ("", None), (f"class {name}(Enum):", None), (f"{_INDENT}{body}", None)]

    def _state(self) -> list[tuple[str, Span | None]]:
        lines: list[tuple[str, Span | None]] = [("", None), ("", None), ("class State(Record):", None)]
        for field, shape in zip(self._t.fields, self._t.shapes, strict=True):
            lines.append((f"{_INDENT}{field}: {self._declarer.annotation(shape, is_variable=True)}", None))
        return lines

    def _functions(self) -> list[tuple[str, Span | None]]:
        lines: list[tuple[str, Span | None]] = []
        _refuse_long(line for part in (*self._t.helpers.values(), *_lines_of(self._parts.functions)) for line in part)
        for helper in _used_helpers(self._t.helpers, self._parts.functions):
            lines.extend([("", None), ("", None)] if not helper.depth else [])
            lines.extend((text, helper.place) for text in _formatted(helper, self._names))
        for function in self._parts.functions:
            lines.extend([("", None), ("", None), *_function(function, self._names)])
        return [(text, self._place(text, place)) for text, place in lines]

    def _place(self, line: str, place: Span | None) -> Span | None:
        """Return the place of the CHOOSE that a line has, if it has one, and else that of the whole statement."""
        if _END_OF_CHOICE not in line:
            return place
        found = {chosen for text, chosen in self._choices if text.search(line)}
        return found.pop() if len(found) == 1 else place


def _lines_of(functions: list[SpecFunction]) -> list[list[WrittenLine]]:
    return [list(function.lines) for function in functions]


def _refuse_long(lines: Iterable[WrittenLine]) -> None:
    """Raise SpecError KMC812 for code that is too long, at the place of the statement that is."""
    total = 0
    for line in lines:
        total += len(line.text)
        if len(line.text) > _STATEMENT_MAX or total > _TEXT_MAX:
            raise refusal(f"this construct, whose code has {max(len(line.text), total):,} characters", line.place)


def _function(function: SpecFunction, names: dict[str, str]) -> list[tuple[str, Span | None]]:
    first = {"init": "", **dict.fromkeys(("action_property", "action_constraint", STEP_ATOM), "st, nxt")}
    parameters = first.get(function.kind, "st") + function.signature
    source = f"TLA+: {function.original}, line {function.place.line}."
    place = function.place
    decorators = [] if function.kind in (STATE_ATOM, STEP_ATOM) else [f"@spec.{_decorator(function)}"]
    return [
        *((decorator, place) for decorator in decorators),
        (f"def {function.name}({parameters}):", place),
        *((f"{_INDENT}{line}" if line else "", place) for line in _docstring(function.comment, source)),
        *(
            (text, line.place)
            for line in _merged(function.lines)
            for text in formatted(_renamed(line.text, names), line.depth)
        ),
    ]


def _docstring(comment: str, source: str) -> list[str]:
    """Return a docstring with the first paragraph of a comment and the place in the module."""
    paragraph = " ".join(comment.strip().split("\n\n")[0].split())
    plain = re.sub(r"[^ -~]|[\\\"]", "", paragraph).strip()
    if not re.search(r"\w", plain):
        return [f'"""{source}"""']
    text = plain if plain.endswith((".", "!", "?", ":")) else f"{plain}."
    first, *others = textwrap.wrap(text, 105, break_long_words=False)
    return [f'"""{first}', *others, "", source, '"""']


def _used_helpers(helpers: dict[str, list[WrittenLine]], functions: list[SpecFunction]) -> list[WrittenLine]:
    """Return the lines of the helpers that functions call, directly or through others."""
    text = "\n".join(line.text for function in functions for line in function.lines)
    kept: list[WrittenLine] = []
    for name, lines in reversed(helpers.items()):
        if f"{name}_level_" in text:
            kept = [*lines, *kept]
            text += "\n".join(line.text for line in lines)
    return kept


def _formatted(line: WrittenLine, names: dict[str, str]) -> list[str]:
    """Return a line of a helper, in several lines if it is long."""
    return [line.text] if not line.depth else formatted(_renamed(line.text, names), line.depth)


def _decorator(function: SpecFunction) -> str:
    """Return the decorator, with the name of an action that the language would write in another way."""
    is_shown_otherwise = function.kind == "action" and camel_case(function.name) != function.name
    return f'action(title="{function.name}")' if is_shown_otherwise else function.kind


def _merged(lines: list[WrittenLine]) -> list[WrittenLine]:
    """Join an `if` and the `if` that is all of its body."""
    result: list[WrittenLine] = []
    index = 0
    while index < len(lines):
        line = lines[index]
        end = _end(lines, index)
        if line.text.startswith("if ") and index + 1 < end and not _has_else(lines, end, line.depth):
            inner = lines[index + 1]
            whole = _end(lines, index + 1) == end
            if inner.text.startswith("if ") and whole:
                test = f"if ({line.text[3:-1]}) and ({inner.text[3:-1]}):"
                body = [WrittenLine(other.depth - 1, other.text, other.place) for other in lines[index + 2 : end]]
                lines = [*lines[:index], WrittenLine(line.depth, test, inner.place), *body, *lines[end:]]
                continue
        result.append(line)
        index += 1
    return result


def _end(lines: list[WrittenLine], index: int) -> int:
    """Return where the block that a line begins ends."""
    end = index + 1
    while end < len(lines) and lines[end].depth > lines[index].depth:
        end += 1
    return end


def _has_else(lines: list[WrittenLine], end: int, depth: int) -> bool:
    return end < len(lines) and lines[end].depth == depth and lines[end].text.startswith(("else:", "elif "))


def _renamed(line: str, names: dict[str, str]) -> str:
    return re.sub(r"\bRecord(?:Class|Base)\d+_\b", lambda found: names[found.group()], line)
