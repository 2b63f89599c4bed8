"""State that no guard and no property of a model reads any more, as far as its text says.

A field that nothing reads, or that is read only where another field of its record has certain values, can be dropped or
cleared elsewhere; a message that is kept after its delivery, or that is older than its receiver, can often be dropped.
These are proposals: whether a step or a property notices is tried on states (`kmc.checking.unread.savings`), and
`kmc check --verify-abstractions` decides it for an abstraction.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from kmc.compiler.checks.unread.conditions import Values, domains
from kmc.compiler.checks.unread.reads import FieldRead, Reads, TooManyReads
from kmc.frontend.model import Model
from kmc.invariants.kinds import KINDS
from kmc.lang.records import Message
from kmc.lang.tla import NIL
from kmc.lang.types import (
    IntType,
    MapType,
    MessageBagType,
    MessageSetType,
    RecordMeta,
    RecordType,
    SeqType,
    SetType,
    Type,
    UnionType,
)


@dataclass(frozen=True, slots=True)
class UnreadField:
    """A field of a record that nothing reads where `test`, another field of it, has one of these values; never, without
    a test.
    """

    record: RecordMeta
    name: str
    test: str | None = None
    values: Values = frozenset()

    def __str__(self) -> str:
        """`votes of Node while state is FOLLOWER or VOTED`."""
        what = f"{self.name} of {self.record.__name__}"
        if self.test is None:
            return what
        shown = sorted(NIL if value is None else str(value) for value in self.values)
        return f"{what} while {self.test} is {' or '.join(shown)}"


@dataclass(frozen=True, slots=True)
class DeliveredMessages:
    """The messages of a class that a bag keeps with count 0."""

    network: str
    record: RecordMeta

    def __str__(self) -> str:
        """`VoteResponse in messages after its delivery`."""
        return f"{self.record.__name__} in {self.network} after its delivery"


@dataclass(frozen=True, slots=True)
class OlderMessages:
    """The messages of a class whose field is less than a field of their receiver, a record of the map `receivers`."""

    network: str
    record: RecordMeta
    name: str
    receivers: str
    receiver_field: str

    def __str__(self) -> str:
        """`VoteResponse in messages while its epoch < current_epoch of its receiver`."""
        older = f"its {self.name} < {self.receiver_field} of its receiver"
        return f"{self.record.__name__} in {self.network} while {older}"


Unread: TypeAlias = UnreadField | DeliveredMessages | OlderMessages


def unread_state(model: Model) -> tuple[Unread, ...]:
    """Return the fields and messages that the source of the model does not read; empty if it has too many calls."""
    classes = tuple(dict.fromkeys(records_in(model.spec.state_class)))
    reads = Reads(frozenset(name for cls in classes for name in cls.fields), domains(classes))
    try:
        _read_all(model, reads)
    except (TooManyReads, RecursionError):
        return ()
    return (*_fields(classes, reads), *_messages(model.spec.state_class, reads))


def _read_all(model: Model, reads: Reads) -> None:
    spec = model.spec
    for action in (*spec.actions, *spec.other_actions):
        reads.function(action.function)
        if action.message is not None:
            reads.read.add(FieldRead(str(action.network), None, frozenset()))
            named = {parameter.message_field for parameter in action.parameters} | {destination(action.message)}
            reads.read |= {FieldRead(name, None, frozenset()) for name in named if name is not None}
    for kind in KINDS:
        for prop in model.of(kind):
            reads.function(prop.function)
    for temporal in model.temporal:
        reads.function(temporal.formula)
    for abstraction in model.abstractions:
        reads.function(abstraction.function)


def _fields(classes: tuple[RecordMeta, ...], reads: Reads) -> Iterator[UnreadField]:
    matter = _mattering(reads)
    deciding: dict[str, list[FieldRead]] = {}
    for read in reads.read:
        if read.sake is None or (read.sake in matter and read.sake != read.name):
            deciding.setdefault(read.name, []).append(read)
    for cls in classes:
        for name in cls.fields:
            if name not in matter:
                yield UnreadField(cls, name)
                continue
            for test in cls.fields:
                if test == name or test not in reads.domains:
                    continue
                domain = reads.domains[test]
                live = frozenset[object]().union(*(dict(read.known).get(test, domain) for read in deciding[name]))
                if live < domain and _is_set_anew(name, test, live, reads):
                    yield UnreadField(cls, name, test, domain - live)


def _mattering(reads: Reads) -> frozenset[str]:
    """The fields that decide something, or that the new value of such a field is made of."""
    matter = {read.name for read in reads.read if read.sake is None}
    while True:
        more = {read.name for read in reads.read if read.sake in matter} - matter
        if not more:
            return frozenset(matter)
        matter |= more


def _is_set_anew(name: str, test: str, live: Values, reads: Reads) -> bool:
    """Return whether every expression that sets `test` to a live value sets the field too, as far as constants tell."""
    for written in reads.written:
        values, before = dict(written.constants).get(test), dict(written.known).get(test)
        if name not in written.names and values is not None and values & live and not (before and before <= live):
            return False
    return True


def _messages(state: RecordMeta, reads: Reads) -> Iterator[Unread]:
    for network, declared in state.fields.items():
        if not isinstance(declared, MessageSetType | MessageBagType):
            continue
        for cls in dict.fromkeys(shape for kind in declared.messages for shape in kind.cls.shapes):
            if isinstance(declared, MessageBagType):
                yield DeliveredMessages(network, cls)
            if not issubclass(cls, Message):
                continue  # a plain record has no receiver
            end = destination(cls)
            if end is None:
                continue
            receiver = cls.fields[end]
            for receivers, held in state.fields.items():
                if isinstance(held, MapType) and held.key == receiver and isinstance(held.value, RecordType):
                    for name, other in sorted(reads.compared):
                        mine, its = cls.fields.get(name), held.value.cls.fields.get(other)
                        if isinstance(mine, IntType) and isinstance(its, IntType):
                            yield OlderMessages(network, cls, name, receivers, other)


def destination(message: Any) -> str | None:
    """The field of a message class that names its receiver, if it has one."""
    name: str | None = message.dest_field
    return name


def records_in(cls: RecordMeta) -> Iterator[RecordMeta]:
    """Yield a record class and the classes of all records that its fields can hold, some of them several times."""
    yield cls
    for declared in cls.fields.values():
        for held in held_by(declared):
            yield from records_in(held)


def held_by(declared: Type) -> Iterator[RecordMeta]:
    """Yield the classes, by shape, of the records that a value of this type is or holds."""
    for part in _parts(declared):
        yield from part.cls.shapes


def _parts(declared: Type) -> Iterator[RecordType]:
    match declared:
        case RecordType():
            yield declared
        case UnionType(alternatives, _):
            for inner in alternatives:
                yield from _parts(inner)
        case SetType(element) | SeqType(element, _):
            yield from _parts(element)
        case MapType(key, value, _):
            yield from _parts(key)
            yield from _parts(value)
        case MessageSetType(messages, _):
            yield from messages
        case MessageBagType(messages, _, _):
            yield from messages
        case _:
            pass
