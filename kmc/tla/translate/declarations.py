"""Declarations: shapes as annotations of kmc's language, record classes in an order in which each is known before use.

A bound that was seen in all states of the model is exact. Every other one is a guess: it is rounded up to whole bits,
with one bit more, and `widening` more where a run found that the guess was too small.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kmc.tla.shapes.shape import (
    AtomShape,
    BooleanShape,
    MapShape,
    NumberShape,
    PlainShape,
    RecordKey,
    RecordShape,
    SequenceShape,
    SetShape,
    Shape,
    alternatives_of,
)
from kmc.tla.translate.literals import class_placeholder
from kmc.tla.translate.names import field_name, text_of_atom, unique
from kmc.tla.translate.translation import Translation

_SET_MEMBERS_MAX = 64
_TAGS = ("type", "kind", "tag", "op", "cmd", "command")


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far bounds are trusted: as they were seen, or widened by some bits."""

    are_exact: bool
    widening: int = 0

    def of(self, shape: NumberShape) -> tuple[int, int]:
        """Return the bounds of a declared number."""
        least, greatest = shape.least, shape.greatest
        if least is None or greatest is None:
            return self._rounded(0 if least is None else least, 7 if greatest is None else greatest)
        return (least, greatest) if self.are_exact and not self.widening else self._rounded(least, greatest)

    def _rounded(self, least: int, greatest: int) -> tuple[int, int]:
        more = self.widening + 1
        highest = (1 << (max(greatest, 1).bit_length() + more)) - 1
        return (0 if least >= 0 else -(1 << (-least).bit_length() + more)), highest

    def capacity(self, longest: int | None) -> int:
        """Return the capacity of a sequence."""
        seen = max(longest if longest is not None else 1, 1)
        if self.are_exact and longest is not None and not self.widening:
            return seen
        return seen + 1 + 2 * self.widening


@dataclass(slots=True)
class Declarer:
    """Writes annotations; `places` of numbers and sequences are widened by `bounds`."""

    t: Translation
    bounds: Bounds

    def annotation(self, shape: Shape, *, is_variable: bool = False) -> str:
        """Return the annotation of a shape."""
        parts = [self._plain(plain, is_variable) for plain in alternatives_of(shape)]
        return " | ".join(parts) or "Bool"

    def _plain(self, shape: PlainShape, is_variable: bool) -> str:
        match shape:
            case BooleanShape():
                return "Bool"
            case NumberShape():
                least, greatest = self.bounds.of(shape)
                return f"Int({least}, {greatest})"
            case AtomShape():
                return " | ".join(self.t.names.classes(shape))
            case RecordShape():
                return " | ".join(sorted(class_placeholder(self.t.records, key) for key in shape.classes))
            case SetShape():
                return self._set(shape, is_variable)
            case SequenceShape():
                return f"Seq[{self.annotation(shape.element)}, {self.bounds.capacity(shape.longest)}]"
            case MapShape():
                return self._map(shape, is_variable)

    def _set(self, shape: SetShape, is_variable: bool) -> str:
        if is_variable and any(isinstance(plain, RecordShape) for plain in alternatives_of(shape.element)):
            return f"MessageSet[{self.annotation(shape.element)}]"
        if isinstance(shape.element, NumberShape):
            least, greatest = self.bounds.of(shape.element)
            return f"Set[Int({least}, {min(greatest, least + _SET_MEMBERS_MAX - 1)})]"
        return f"Set[{self.annotation(shape.element)}]"

    def _map(self, shape: MapShape, is_variable: bool) -> str:
        if isinstance(shape.key, RecordShape) and is_variable:
            return f"MessageBag[{self.annotation(shape.key)}]"
        value = self.annotation(shape.value)
        if shape.domain is not None and isinstance(shape.key, NumberShape):
            numbers = sorted(number for number in shape.domain if isinstance(number, int))
            if numbers and numbers[-1] - numbers[0] == len(numbers) - 1:
                return f"Map[Int({numbers[0]}, {numbers[-1]}), {value}]"
        key = self.annotation(shape.key)
        members = self.t.names.members_of(key) if key.isidentifier() else ()
        is_total = shape.domain is not None and members and set(members) == shape.domain
        return f"{'Map' if is_total else 'PartialMap'}[{key}, {value}]"

    def classes(self) -> list[str]:
        """Return the lines that declare all record classes that are used, and the bases that tests name."""
        used = list(self.t.records.fields)
        lines: list[str] = []
        bases = {key: index for index, base in enumerate(self.t.bases) for key in base}
        written: set[object] = set()

        def write(key: RecordKey) -> None:
            if key in written:
                return
            written.add(key)
            fields = [(name, self.annotation(shape)) for name, shape in self.t.records.fields[key].items()]
            for other in self._mentioned(key):
                write(other)
            base = bases.get(key)
            shared = self._write_base(base, lines, written) if base is not None else {}
            parent = f"RecordBase{base}_" if base is not None else "Record"
            lines.extend(["", "", f"class {class_placeholder(self.t.records, key)}({parent}):"])
            own = [f"    {field_name(name)}: {text}" for name, text in fields if name not in shared]
            lines.extend(own or ['    """No field more than its base."""'])

        for key in used:
            write(key)
        return lines

    def _write_base(self, index: int, lines: list[str], written: set[object]) -> dict[str, str]:
        keys = sorted(self.t.bases[index], key=str)
        names = set.intersection(*(set(key.fields) for key in keys))
        shared = {
            name: self.annotation(self.t.records.field_of(RecordShape(frozenset(keys)), name)) for name in sorted(names)
        }
        if index not in written:
            written.add(index)
            lines.extend(["", "", f"class RecordBase{index}_(Record, abstract=True):"])
            lines.extend(f"    {field_name(name)}: {text}" for name, text in shared.items())
        return shared

    def _mentioned(self, key: RecordKey) -> list[RecordKey]:
        return [other for shape in self.t.records.fields[key].values() for other in _classes_in(shape)]


def _classes_in(shape: Shape) -> list[RecordKey]:
    found: list[RecordKey] = []
    for plain in alternatives_of(shape):
        match plain:
            case RecordShape():
                found.extend(sorted(plain.classes, key=str))
            case SetShape() | SequenceShape():
                found.extend(_classes_in(plain.element))
            case MapShape():
                found.extend([*_classes_in(plain.key), *_classes_in(plain.value)])
    return found


def class_names(t: Translation) -> dict[str, str]:
    """Return the names of record classes and bases: a tag such as `type = "Vote"` gives the best one."""
    taken = {"State", "Atom", "Record", *(group.name for group in t.names.groups), *t.fields, *t.functions}
    names: dict[str, str] = {}
    for key in t.records.fields:
        name = unique(_class_name(t, key), taken)
        taken.add(name)
        names[class_placeholder(t.records, key)] = name
    for index, _ in enumerate(t.bases):
        name = unique("Shapes", taken)
        taken.add(name)
        names[f"RecordBase{index}_"] = name
    return names


def _class_name(t: Translation, key: RecordKey) -> str:
    if key.is_tuple:
        return f"Tuple{len(key.fields)}"
    for field, shape in t.records.fields[key].items():
        if field.lower().endswith(_TAGS) and isinstance(shape, AtomShape) and len(shape.atoms) == 1:
            (atom,) = shape.atoms
            tag = _camel(text_of_atom(atom))
            if tag.isidentifier():
                return tag
    text = "".join(_camel(name) for name in key.fields[:3])
    return text if text.isidentifier() else "Fields"


def _camel(text: str) -> str:
    words = re.findall(r"[A-Za-z0-9]+", text)
    return "".join(word[:1].upper() + word[1:] for word in words)
