"""Declarations: shapes as annotations of kmc's language, record classes in an order in which each is known before use.

Numbers in records that are elements of stored sets have the bounds that were seen where other ones are too many.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from keyword import kwlist

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
from kmc.tla.translate.universe import Bounds

LANGUAGE_WORDS = (
    "Bool", "Enum", "IdentSet", "Int", "Map", "MessageBag", "MessageSet", "PartialMap", "Record", "Seq", "Set",
    "constant", "count", "fold", "functions", "product", "sequences", "subsets",
)  # fmt: skip
"""The words of kmc's language that a translated spec may import."""

_TAGS = ("type", "kind", "tag", "op", "cmd", "command")


@dataclass(slots=True)
class Declarer:
    """Writes annotations; the numbers in records that are elements of sets may have tight bounds."""

    t: Translation
    _tight: frozenset[RecordKey] = frozenset()
    _is_tight: bool = False

    def __post_init__(self) -> None:
        fields = [shape for table in self.t.records.fields.values() for shape in table.values()]
        counted = [element for shape in fields for element in _counted(shape)]
        for shape in self.t.shapes:
            is_listed = self.t.is_network(shape) or self.t.is_bag(shape)
            counted.extend(_counted(shape)[1 if is_listed else 0 :])  # a network and a bag list their elements
        tight = [element for element in counted if self.t.universe.needs_tight_bounds(element)]
        self._tight = frozenset(key for element in tight for key in self._classes_within(element))

    @property
    def _bounds(self) -> Bounds:
        return self.t.universe.bounds

    def _classes_within(self, shape: Shape) -> set[RecordKey]:
        """Return the classes of the records in values of a shape, at any depth."""
        found: set[RecordKey] = set()
        waiting = _classes_in(shape)
        while waiting:
            key = waiting.pop()
            if key not in found:
                found.add(key)
                waiting.extend(self._mentioned(key))
        return found

    def annotation(self, shape: Shape, *, is_variable: bool = False) -> str:
        """Return the annotation of a shape."""
        parts = [self._plain(plain, is_variable) for plain in alternatives_of(shape)]
        if not parts:
            self.t.has_unseen = True
            return self.t.unseen
        return " | ".join(parts)

    def _plain(self, shape: PlainShape, is_variable: bool) -> str:
        match shape:
            case BooleanShape():
                return "Bool"
            case NumberShape():
                least, greatest = self._bounds.tight(shape) if self._is_tight else self._bounds.of(shape)
                return f"Int({least}, {greatest})"
            case AtomShape():
                return " | ".join(self.t.names.classes(shape))
            case RecordShape():
                return " | ".join(sorted(class_placeholder(self.t.records, key) for key in shape.classes))
            case SetShape():
                return self._set(shape, is_variable)
            case SequenceShape():
                return f"Seq[{self.annotation(shape.element)}, {self._bounds.capacity(shape.longest)}]"
            case MapShape():
                return self._map(shape, is_variable)

    def _set(self, shape: SetShape, is_variable: bool) -> str:
        if is_variable and self.t.is_network(shape):
            return f"MessageSet[{self.annotation(shape.element)}]"
        if isinstance(shape.element, NumberShape):
            least, greatest = self.t.universe.numbers(shape.element, is_tight=self._is_tight)
            return f"Set[Int({least}, {greatest})]"
        return f"Set[{self._counted(shape.element)}]"

    def _counted(self, shape: Shape) -> str:
        """Return the annotation of what compiled code keeps an entry of for each possible value."""
        was_tight, self._is_tight = self._is_tight, self._is_tight or self.t.universe.needs_tight_bounds(shape)
        try:
            return self.annotation(shape)
        finally:
            self._is_tight = was_tight

    def _map(self, shape: MapShape, is_variable: bool) -> str:
        if is_variable and self.t.is_bag(shape):
            return f"MessageBag[{self.annotation(shape.key)}]"
        value = self.annotation(shape.value)
        if shape.domain is not None and isinstance(shape.key, NumberShape):
            numbers = sorted(number for number in shape.domain if isinstance(number, int))
            if numbers and numbers[-1] - numbers[0] == len(numbers) - 1:
                return f"Map[Int({numbers[0]}, {numbers[-1]}), {value}]"
        key = self._counted(shape.key)
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
            self._is_tight = key in self._tight
            fields = [(name, self.annotation(shape)) for name, shape in self.t.records.fields[key].items()]
            self._is_tight = False
            base = bases.get(key)
            for other in [*self._mentioned(key), *(self._mentioned_by_base(base) if base is not None else [])]:
                write(other)
            shared = self._write_base(base, lines, written) if base is not None else {}
            parent = f"RecordBase{base}_" if base is not None else "Record"
            lines.extend(["", "", f"class {class_placeholder(self.t.records, key)}({parent}):"])
            own = [f"    {field_name(name)}: {text}" for name, text in fields if name not in shared]
            lines.extend(own or ['    """No field more than its base."""'])

        for key in used:
            write(key)
        return lines

    def _write_base(self, index: int, lines: list[str], written: set[object]) -> dict[str, str]:
        self._is_tight = not self._tight.isdisjoint(self.t.bases[index])
        shared = {name: self.annotation(shape) for name, shape in self._shared(index).items()}
        self._is_tight = False
        if index not in written:
            written.add(index)
            lines.extend(["", "", f"class RecordBase{index}_(Record, abstract=True):"])
            lines.extend(f"    {field_name(name)}: {text}" for name, text in shared.items())
        return shared

    def _shared(self, index: int) -> dict[str, Shape]:
        """Return the fields that all classes of a base have, with all values that they have in any."""
        keys = self.t.bases[index]
        names = set.intersection(*(set(key.fields) for key in keys))
        return {name: self.t.records.field_of(RecordShape(keys), name) for name in sorted(names)}

    def _mentioned_by_base(self, index: int) -> list[RecordKey]:
        return [other for shape in self._shared(index).values() for other in _classes_in(shape)]

    def _mentioned(self, key: RecordKey) -> list[RecordKey]:
        return [other for shape in self.t.records.fields[key].values() for other in _classes_in(shape)]


def _counted(shape: Shape) -> list[Shape]:
    """Return the shapes of the elements of sets and of the keys of functions in values of a shape."""
    found: list[Shape] = []
    for plain in alternatives_of(shape):
        match plain:
            case SetShape(element):
                found.extend([element, *_counted(element)])
            case SequenceShape(element):
                found.extend(_counted(element))
            case MapShape(key, value):
                found.extend([key, *_counted(key), *_counted(value)])
    return found


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
    taken = {
        "State",
        "Atom",
        *LANGUAGE_WORDS,
        *kwlist,
        *(group.name for group in t.names.groups),
        *t.fields,
        *t.functions,
    }
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
