r"""Shapes of values: kinds with bounds, joined from values that were seen and from expressions that are assigned.

Invariant: `join` only grows, so joining values and expressions until nothing changes ends. TLA+ compares records by
their fields, so there is one record class for each set of fields in a whole model (`RecordTable`), and a shape only
names classes. A tuple that is an element of a set or mixes kinds is a record without names, of the class of its length:
equal tuples are of one class, whatever was known of their items where they were written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from functools import reduce
from typing import TypeAlias

from kmc.errors import Span
from kmc.tla.shapes.refusal import refusal
from kmc.tla.values.kinds import TlaModelValue

NESTING_MAX = 10
"""The most sequences inside of each other that have a shape."""

_SETS_MAX = 6
"""The most sets inside of each other that have a shape."""

Atom: TypeAlias = str | TlaModelValue
"""A string or a model value: compared, never computed with."""


@dataclass(frozen=True, slots=True)
class BooleanShape:
    """TRUE or FALSE."""


@dataclass(frozen=True, slots=True)
class NumberShape:
    """Numbers; a bound is None where nothing is known of it."""

    least: int | None = None
    greatest: int | None = None


@dataclass(frozen=True, slots=True)
class AtomShape:
    """Strings and model values, each of which is known."""

    atoms: frozenset[Atom]


@dataclass(frozen=True, slots=True)
class SetShape:
    """Sets; the element is `NOTHING` where only the empty set is known."""

    element: Shape


@dataclass(frozen=True, slots=True)
class SequenceShape:
    """Sequences. `items` are the shapes by position while all that were seen have one length; `longest` may be open."""

    element: Shape
    shortest: int = 0
    longest: int | None = None
    items: tuple[Shape, ...] = ()


@dataclass(frozen=True, slots=True)
class MapShape:
    """Functions; `domain` is the only domain that is known, or None where there are several."""

    key: Shape
    value: Shape
    domain: frozenset[object] | None = None


@dataclass(frozen=True, slots=True)
class RecordKey:
    """A record class: its fields in alphabetical order, or the positions of a tuple.

    `kinds` are those of the items of a tuple where tuples of other kinds have other classes (`RecordTable.apart`).
    """

    fields: tuple[str, ...]
    is_tuple: bool = False
    kinds: str = ""


@dataclass(frozen=True, slots=True)
class RecordShape:
    """Records of one of several classes."""

    classes: frozenset[RecordKey]


@dataclass(frozen=True, slots=True)
class UnionShape:
    """Values of several kinds, or of none (`NOTHING`)."""

    alternatives: frozenset[PlainShape]


PlainShape: TypeAlias = BooleanShape | NumberShape | AtomShape | SetShape | SequenceShape | MapShape | RecordShape
Shape: TypeAlias = PlainShape | UnionShape

NOTHING = UnionShape(frozenset())
BOOLEAN = BooleanShape()
NUMBER = NumberShape()


def alternatives_of(shape: Shape) -> tuple[PlainShape, ...]:
    """Return the kinds that a shape joins, in a fixed order."""
    if not isinstance(shape, UnionShape):
        return (shape,)
    return tuple(sorted(shape.alternatives, key=lambda plain: type(plain).__name__))


def join(left: Shape, right: Shape) -> Shape:
    """Return the least shape that covers both."""
    if left == right:
        return left
    plain: list[PlainShape] = []
    for shape in (*alternatives_of(left), *alternatives_of(right)):
        for index, known in enumerate(plain):
            joined = _joined(known, shape)
            if joined is not None:
                plain[index] = joined
                break
        else:
            plain.append(shape)
    return plain[0] if len(plain) == 1 else UnionShape(frozenset(plain))


def join_all(shapes: Iterable[Shape]) -> Shape:
    """Return the join of any number of shapes."""
    start: Shape = NOTHING
    return reduce(join, shapes, start)


def _joined(left: PlainShape, right: PlainShape) -> PlainShape | None:
    """Return the join of two shapes of one kind, None where the kinds differ."""
    match left, right:
        case BooleanShape(), BooleanShape():
            return left
        case NumberShape(), NumberShape():
            return NumberShape(_of_known(min, left.least, right.least), _of_known(max, left.greatest, right.greatest))
        case AtomShape(), AtomShape():
            return AtomShape(left.atoms | right.atoms)
        case SetShape(), SetShape():
            return SetShape(join(left.element, right.element))
        case RecordShape(), RecordShape():
            return RecordShape(left.classes | right.classes)
        case (SequenceShape(), SequenceShape()) | (SequenceShape(), MapShape()) | (MapShape(), SequenceShape()):
            return _joined_sequences(left, right)
        case MapShape(), MapShape():
            return _joined_maps(left, right)
        case _:
            return None


def _of_known(choose: Callable[[int, int], int], left: int | None, right: int | None) -> int | None:
    if left is None or right is None:
        return left if right is None else right
    return choose(left, right)


def _joined_sequences(left: PlainShape, right: PlainShape) -> PlainShape:
    if isinstance(left, SequenceShape) and isinstance(right, SequenceShape):
        same = len(left.items) == len(right.items)
        return SequenceShape(
            join(left.element, right.element),
            min(left.shortest, right.shortest),
            _of_known(max, left.longest, right.longest),
            tuple(map(join, left.items, right.items)) if same else (),
        )
    sequence, function = (left, right) if isinstance(left, SequenceShape) else (right, left)
    if isinstance(sequence, SequenceShape) and sequence.longest != 0 and isinstance(function, MapShape):
        length = len(function.domain or ())
        if length and function.domain == frozenset(range(1, length + 1)):
            # What is written as a sequence may get longer, and each of these functions is a sequence too.
            return _joined_sequences(sequence, SequenceShape(function.value, length, length))
    return _joined_maps(_as_map(left), _as_map(right))


def check_nesting(shape: Shape, place: Span | None = None, holder: str = "") -> None:
    """Raise SpecError KMC812 if too many sequences, or sets, are inside of each other in the values of a holder.

    Such is the shape of a variable that keeps its old value, `x' = <<x, n>>`. Joining two takes twice as long at
    each level, and the code of a set of sets is some times as long as that of its elements.
    """
    for kind, name, most in ((SequenceShape, "sequences", NESTING_MAX), (SetShape, "sets", _SETS_MAX)):
        if _nesting(shape, kind) > most:
            deep = f"{name} that are nested more than {most} deep"
            raise refusal(f"{deep}, as those of {holder} may be" if holder else deep, place)


def check_fields(records: RecordTable, place: Span | None = None) -> None:
    """Raise SpecError KMC812 if the values of a field of a record are nested too deep."""
    for key, fields in records.fields.items():
        for name, shape in fields.items():
            check_nesting(shape, place, f"{name} in {_described(key)}")


def _nesting(shape: Shape, kind: type[PlainShape]) -> int:
    """Count the values of a kind inside of each other, but not those in records, which have one shape a class."""
    more = isinstance(shape, kind)
    match shape:
        case SequenceShape() | SetShape():
            return more + _nesting(shape.element, kind)
        case UnionShape():
            return max((_nesting(plain, kind) for plain in alternatives_of(shape)), default=0)
        case MapShape():
            return max(_nesting(shape.key, kind), _nesting(shape.value, kind))
        case _:
            return 0


def check_classes(records: RecordTable, place: Span | None = None) -> None:
    """Raise SpecError KMC812 if records of a class may hold records of that class: no declaration could end."""
    inside = {key: set().union(*map(classes_in, fields.values())) for key, fields in records.fields.items()}
    for key in sorted(inside, key=str):
        held, waiting = set(inside[key]), list(inside[key])
        while waiting:
            more = inside.get(waiting.pop(), set()) - held
            held |= more
            waiting.extend(more)
        if key in held:
            raise refusal(f"{_described(key)} that hold others of that kind", place)


def _described(key: RecordKey) -> str:
    """Return what the values of a class are called."""
    if key.is_tuple:
        return f"tuples of {len(key.fields)} items of several kinds"
    return f"records with the fields {', '.join(key.fields)}"


def _as_map(shape: PlainShape) -> MapShape:
    """Return a sequence as the function that it is in TLA+."""
    if isinstance(shape, SequenceShape):
        if shape.longest == 0:
            return MapShape(NOTHING, NOTHING, frozenset())
        fixed = frozenset(range(1, shape.shortest + 1)) if shape.shortest == shape.longest else None
        return MapShape(NumberShape(1, shape.longest), shape.element, fixed)
    assert isinstance(shape, MapShape)
    return shape


def _joined_maps(left: MapShape, right: MapShape) -> MapShape:
    return MapShape(
        join(left.key, right.key),
        join(left.value, right.value),
        left.domain if left.domain == right.domain else None,
    )


def tuple_key(length: int) -> RecordKey:
    """Return the class of the tuples of a length."""
    return RecordKey(tuple(f"item{index}" for index in range(1, length + 1)), is_tuple=True)


def fits(shape: Shape, place: Shape) -> bool:
    """Return whether values of a shape are kept as the values of a place are, which is a join with that shape.

    A tuple is a map, a sequence or a record of its own: words of the language say that equal ones of two kinds differ.
    """
    kept = _kept_as(place)
    return all(_fits(plain, kept) for plain in alternatives_of(shape))


def _kept_as(place: Shape) -> dict[type[PlainShape], PlainShape]:
    """Return the kinds of values in a place, with the one kind of functions that tuples are written as in it."""
    kinds = {type(plain): plain for plain in alternatives_of(place)}
    if MapShape in kinds or SequenceShape in kinds:
        record = kinds.pop(RecordShape, None)
        assert record is None or isinstance(record, RecordShape)
        named = frozenset(key for key in record.classes if not key.is_tuple) if record is not None else None
        if named:
            kinds[RecordShape] = RecordShape(named)
    return kinds


def _fits(plain: PlainShape, kept: dict[type[PlainShape], PlainShape]) -> bool:
    match plain, kept.get(type(plain)):
        case _, None:
            return False
        case SetShape(inner), SetShape(element):
            return fits(inner, element)
        case SequenceShape(inner), SequenceShape(element):
            return fits(inner, element)
        case MapShape(key, inner), MapShape(keys, element):
            return fits(key, keys) and fits(inner, element)
        case RecordShape(classes), RecordShape(known):
            return classes <= known
        case _:
            return True


class Apart(Enum):
    """The tuples of one length that are of other classes: none, those with functions or sets as items, by all kinds."""

    NONE = auto()
    BY_COLLECTION = auto()
    BY_KIND = auto()


@dataclass(slots=True)
class RecordTable:
    """The record classes of a model, with the shape of every field: the join of all values and expressions in it.

    A function of strings is a record if `names`, which are the fields that the module writes, has all of its keys.
    `apart` says which tuples of one length are of other classes; no tuple of one class is equal to one of another.
    Functions on 1..n are tuples wherever they are if n is among `tuple_lengths`.
    """

    names: frozenset[str] = frozenset()
    fields: dict[RecordKey, dict[str, Shape]] = field(default_factory=dict)
    apart: Apart = Apart.NONE
    tuple_lengths: frozenset[int] = frozenset()

    @property
    def are_apart(self) -> bool:
        """Return whether tuples of one length may have several classes."""
        return self.apart is not Apart.NONE

    def add(self, key: RecordKey, values: Iterable[Shape]) -> RecordShape:
        """Join the shapes of one more record, in the order of the fields of its class."""
        known = self.fields.setdefault(key, {})
        for name, shape in zip(key.fields, values, strict=True):
            known[name] = join(known.get(name, NOTHING), shape)
        return RecordShape(frozenset((key,)))

    def grow(self, key: RecordKey, values: Iterable[Shape]) -> RecordShape:
        """Join the shapes of the fields of a record that an expression makes, as far as classes do not hold themselves.

        A value that only such a class could hold was never observed: the search stops where one comes.
        """
        self.fields.setdefault(key, dict.fromkeys(key.fields, NOTHING))
        for name, shape in zip(key.fields, values, strict=True):
            self.grow_field(key, name, shape)
        return RecordShape(frozenset((key,)))

    def grow_field(self, key: RecordKey, name: str, shape: Shape) -> None:
        """Join the shape of a field, as `grow` does."""
        before = self.fields[key].get(name, NOTHING)
        if join(before, shape) != before:
            self.fields[key][name] = join(before, self.not_holding(key, shape))

    def not_holding(self, key: RecordKey, shape: Shape) -> Shape:
        """Return a shape without the classes whose records may hold a record of a class."""
        holders, found = {key}, True
        while found:
            found = False
            for other, fields in self.fields.items():
                if other not in holders and any(holders & classes_in(one) for one in fields.values()):
                    holders.add(other)
                    found = True
        return _without(shape, holders)

    def tuple_class(self, items: Sequence[Shape], place: Span | None = None) -> RecordKey:
        """Return the class of the tuples with these items; SpecError KMC812 where it depends on the value of one."""
        key = tuple_key(len(items))
        if not self.are_apart:
            return key
        kinds = [_kinds(item, self.apart) for item in items]
        if any(len(one) != 1 for one in kinds):
            raise refusal("a tuple whose items are of kinds that are not known", place)
        return replace(key, kinds="".join(kind for one in kinds for kind in one))

    def item_shapes(self, length: int) -> list[Shape]:
        """Return what is known of the items of any tuple of a length."""
        return [NOTHING] * length if self.are_apart else self.items_of(tuple_key(length))

    def items_of(self, key: RecordKey) -> list[Shape]:
        """Return what is known of the items of the tuples of a class."""
        known = self.fields.get(key, {})
        return [known.get(name, NOTHING) for name in key.fields]

    def is_record(self, keys: Iterable[object]) -> bool:
        """Return whether a function with these keys is a record."""
        known = list(keys)
        return bool(known) and all(key in self.names for key in known)

    def field_of(self, shape: RecordShape, name: str) -> Shape:
        """Return the shape of a field in those classes that have it."""
        return join_all(self.fields[key][name] for key in shape.classes if name in key.fields)


def tuple_lengths(records: RecordTable) -> frozenset[int]:
    """Return the lengths of the tuples that are kept as records."""
    return frozenset(len(key.fields) for key in records.fields if key.is_tuple)


def mixes_kinds(records: RecordTable) -> bool:
    """Return whether tuples of one length may be of several kinds, or hold other tuples of that length."""
    return any(
        key.is_tuple
        and any(key in classes_in(shape) or len(_kinds(shape, Apart.BY_KIND)) > 1 for shape in fields.values())
        for key, fields in records.fields.items()
    )


def _kinds(shape: Shape, apart: Apart) -> set[str]:
    """Return a letter for each kind of values of a shape. No two values of two kinds are equal."""
    return {_kind(plain, apart) for plain in alternatives_of(shape)}


def _kind(shape: PlainShape, apart: Apart) -> str:
    match shape:
        case SetShape():
            return "s"
        case RecordShape() | MapShape() | SequenceShape():
            return "f"
        case _ if apart is not Apart.BY_KIND:
            return "p"
        case NumberShape():
            return "n"
        case BooleanShape():
            return "b"
        case AtomShape():
            return "a"


def classes_in(shape: Shape) -> frozenset[RecordKey]:
    """Return the classes of the records in values of a shape, fields of records aside."""
    found: set[RecordKey] = set()
    for plain in alternatives_of(shape):
        match plain:
            case RecordShape(classes):
                found |= classes
            case SetShape(element) | SequenceShape(element):
                found |= classes_in(element)
            case MapShape(key, value):
                found |= classes_in(key) | classes_in(value)
    return frozenset(found)


def _without(shape: Shape, dropped: set[RecordKey]) -> Shape:
    """Return a shape without records of some classes."""
    if not dropped & classes_in(shape):
        return shape
    return join_all(_plain_without(plain, dropped) for plain in alternatives_of(shape))


def _plain_without(plain: PlainShape, dropped: set[RecordKey]) -> Shape:
    match plain:
        case RecordShape(classes):
            left = classes - dropped
            return RecordShape(left) if left else NOTHING
        case SetShape(element):
            return SetShape(_without(element, dropped))
        case SequenceShape():
            items = tuple(_without(item, dropped) for item in plain.items)
            return replace(plain, element=_without(plain.element, dropped), items=items)
        case MapShape(key, value):
            return replace(plain, key=_without(key, dropped), value=_without(value, dropped))
        case _:
            return plain
