"""The proposals of `kmc.compiler.checks.unread`, as abstractions of the interpreter's states."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from kmc.actions.abstraction import Abstraction
from kmc.compiler.checks.unread.conditions import SOME
from kmc.compiler.checks.unread.unread_state import (
    DeliveredMessages,
    OlderMessages,
    Unread,
    UnreadField,
    destination,
    held_by,
    records_in,
)
from kmc.errors import Span
from kmc.lang.maps import MapValue
from kmc.lang.networks import MessageBagValue, MessageSetValue, bag_of_messages, set_of_messages
from kmc.lang.records import Record, State
from kmc.lang.seqs import SeqValue
from kmc.lang.types import (
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

Records = Mapping[type, list[Any]]
"""Records that states hold, by their class, in the order in which they were met."""


def records_of(states: Iterable[State]) -> Records:
    """The records that the states hold, the states themselves too."""
    met: dict[type, dict[Any, None]] = {}
    for state in states:
        for record in _records(state):
            met.setdefault(type(record), {})[record] = None
    return {cls: list(records) for cls, records in met.items()}


def dropping(proposal: Unread, state_class: RecordMeta, met: Records, span: Span) -> Abstraction:
    """The abstraction that drops what is proposed; a cleared field gets a value that the records met have there."""
    match proposal:
        case UnreadField():
            function = _clearing(proposal, _blank(proposal, met), state_class)
        case DeliveredMessages():
            function = _without_delivered(proposal)
        case OlderMessages():
            function = _without_older(proposal)
    return Abstraction(str(proposal), function, span, "")


def _clearing(unread: UnreadField, blank: Any, state_class: RecordMeta) -> Callable[[Any], Any]:
    """Return the function that gives the field the value `blank` wherever nothing reads it."""

    @cache
    def cleared(record: Any) -> Any:
        changes = {name: change(getattr(record, name)) for name, change in inside(_class_of(record)).items()}
        if _applies(unread, record):
            changes[unread.name] = blank
        changed = record.set(**changes) if changes else record
        return record if changed == record else changed

    @cache
    def inside(cls: RecordMeta) -> dict[str, Callable[[Any], Any]]:
        changes = ((name, _change(declared, unread.record, cleared)) for name, declared in cls.fields.items())
        return {name: change for name, change in changes if change is not None}

    return cleared if unread.record is not state_class else cleared.__wrapped__


def _change(declared: Type, wanted: RecordMeta, cleared: Callable[[Any], Any]) -> Callable[[Any], Any] | None:
    """Return the function that changes the records of class `wanted` in a value of this type; None if it holds none."""
    if not any(wanted in (part, *records_in(part)) for part in held_by(declared)):
        return None
    match declared:
        case RecordType():
            return cleared
        case UnionType(alternatives, _):
            of_records = any(isinstance(kind, RecordType) for kind in alternatives)
            return lambda value: cleared(value) if of_records and isinstance(value, Record) else value
        case SetType(element):
            of_members = _change(element, wanted, cleared)
            return None if of_members is None else lambda value: frozenset(map(of_members, value))
        case SeqType(element, _):
            of_elements = _change(element, wanted, cleared)
            return (
                None if of_elements is None else lambda value: tuple.__new__(type(value), list(map(of_elements, value)))
            )
        case MapType(_, value_type, _):
            of_values = _change(value_type, wanted, cleared)
            return (
                None
                if of_values is None
                else lambda value: MapValue({key: of_values(item) for key, item in value.items()}, value.domain)
            )
        case MessageSetType():
            return lambda value: set_of_messages(map(cleared, value), value.domain)
        case MessageBagType():
            return lambda value: _bag_cleared(value, cleared)
        case _:
            return None


def _bag_cleared(bag: MessageBagValue, cleared: Callable[[Any], Any]) -> MessageBagValue:
    counts: Counter[Any] = Counter()
    images = [(cleared(message), message, count) for message, count in bag.counts()]
    if all(image is message for image, message, _ in images):
        return bag
    for image, _, count in images:
        counts[image] += count
    return bag_of_messages(counts.items(), bag.domain)


def _without_delivered(unread: DeliveredMessages) -> Callable[[Any], Any]:
    def drop(state: Any) -> Any:
        bag = getattr(state, unread.network)
        kept = [(message, count) for message, count in bag.counts() if count or not _is_of(unread.record, message)]
        return state.set(**{unread.network: bag_of_messages(kept, bag.domain)}) if len(kept) < len(bag) else state

    return drop


def _without_older(unread: OlderMessages) -> Callable[[Any], Any]:
    def drop(state: Any) -> Any:
        network, receivers = getattr(state, unread.network), dict(getattr(state, unread.receivers).items())

        def is_kept(message: Any) -> bool:
            if not _is_of(unread.record, message):
                return True
            receiver = receivers.get(getattr(message, str(destination(unread.record))))
            return receiver is None or getattr(message, unread.name) >= getattr(receiver, unread.receiver_field)

        if all(map(is_kept, network)):
            return state
        if isinstance(network, MessageBagValue):
            kept: Any = bag_of_messages([(m, n) for m, n in network.counts() if is_kept(m)], network.domain)
        else:
            kept = network.keep(is_kept)
        return state.set(**{unread.network: kept})

    return drop


def _class_of(record: Any) -> Any:
    return type(record)


def _is_of(cls: Any, record: Any) -> bool:
    """Return whether a record has exactly this class, and no subclass of it."""
    return type(record) is cls


def _applies(unread: UnreadField, record: Any) -> bool:
    if not _is_of(unread.record, record):
        return False
    if unread.test is None:
        return True
    value = getattr(record, unread.test)
    return value in unread.values or (SOME in unread.values and value is not None)


def _blank(unread: UnreadField, met: Records) -> Any:
    """Return the value that a cleared field gets: its first value in the sample where nothing reads it."""
    unread_ones = (record for record in met.get(unread.record, ()) if _applies(unread, record))
    return next((getattr(record, unread.name) for record in unread_ones), None)


def _records(value: Any) -> Iterator[Any]:
    if isinstance(value, Record):
        yield value
        for _, item in value.items():
            yield from _records(item)
    elif isinstance(value, MapValue):
        for key, item in value.items():
            yield from _records(key)
            yield from _records(item)
    elif isinstance(value, frozenset | SeqValue | MessageSetValue | MessageBagValue):
        for item in value:
            yield from _records(item)
