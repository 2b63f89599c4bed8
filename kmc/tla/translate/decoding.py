"""Decoding: states of a translated spec as states of the module, by the tables that the translation made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kmc.lang.maps import MapValue
from kmc.lang.networks import MessageBagValue, MessageSetValue
from kmc.lang.records import Record
from kmc.lang.seqs import SeqValue
from kmc.lang.symbols import Symbol
from kmc.tla.shapes.shape import Atom, RecordKey
from kmc.tla.translate.declarations import class_names
from kmc.tla.translate.literals import class_placeholder
from kmc.tla.translate.names import ATOM_CLASS, field_name
from kmc.tla.translate.translation import Translation
from kmc.tla.values.functions import function_of
from kmc.tla.values.kinds import Value, truth


@dataclass(frozen=True, slots=True)
class Decoder:
    """The members of the classes of atoms, the keys of record classes, and the fields of the variables."""

    atoms: Mapping[str, tuple[Atom, ...]]
    records: Mapping[str, RecordKey]
    fields: tuple[str, ...]

    def state(self, state: Any) -> tuple[Value, ...]:
        """Return a state of the spec as a state of the module."""
        return tuple(self.value(getattr(state, field)) for field in self.fields)

    def value(self, value: Any) -> Value:
        """Return a value of the spec as a value of TLA+."""
        match value:
            case bool():
                return truth(value)
            case int():
                return value
            case Symbol():
                return self.atoms[type(value).__name__][value.index]
            case SeqValue():
                return tuple(map(self.value, value))
            case frozenset() | MessageSetValue():
                return frozenset(map(self.value, value))
            case MessageBagValue():
                return function_of({self.value(key): value.count(key) for key in value})
            case MapValue():
                return function_of({self.value(key): self.value(item) for key, item in value.items()})
            case Record():
                return self._record(value)
        raise TypeError(f"no value of a spec: {value!r}")

    def _record(self, value: Any) -> Value:
        key = self.records[type(value).__name__]
        items: dict[Value, Value] = {name: self.value(getattr(value, field_name(name))) for name in key.fields}
        return tuple(items.values()) if key.is_tuple else function_of(items)


def decoder_of(t: Translation) -> Decoder:
    """Return the decoder of a finished translation."""
    names = class_names(t)
    atoms = {group.name: group.atoms for group in t.names.groups}
    return Decoder(
        {**atoms, ATOM_CLASS: tuple(t.names.others)},
        {names[class_placeholder(t.records, key)]: key for key in t.records.fields},
        t.fields,
    )
