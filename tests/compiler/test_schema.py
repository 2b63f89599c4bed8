"""A schema travels as JSON: the classes made of it have the names, members, shapes, fields and layout of the first."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.drawing.values import (
    FetchResponse,
    Id,
    Role,
    Server,
    Value,
    VoteRequest,
    record_class,
    types,
    values,
)

from kmc.lang.annotations import Bool, Int
from kmc.lang.enums import EnumMeta
from kmc.lang.naming import lower_camel_case
from kmc.lang.records import Message
from kmc.lang.tla import Naming, encode, text
from kmc.lang.types import IdentMeta, MessageBagType, MessageSetType, RecordMeta, RecordType, SymbolMeta
from kmc.runtime.codec import decode_row, encode_row
from kmc.runtime.schema import Schema, described, restored
from kmc.runtime.state_layout import row_layout
from kmc.spec.variables import Variable, VariableTable, default_table


def travelled(state_class: Any, table: VariableTable | None = None) -> Schema:
    """A schema after it was written as JSON and read back."""
    data = json.loads(json.dumps(described(Schema(state_class, table or default_table(state_class)))))
    return restored(data)


def classes_in(part: Any) -> list[Any]:
    """The classes that a type or a class mentions, each once, in the order in which a reader meets them."""
    found: dict[Any, None] = {}

    def meet(each: Any) -> None:
        if isinstance(each, SymbolMeta | RecordMeta):
            if each in found:
                return
            found[each] = None
        if isinstance(each, RecordMeta):
            inherited = [base for base in each.__mro__ if isinstance(base, RecordMeta) and base.fields]
            for inner in (*inherited, *each.shapes, *each.fields.values()):
                meet(inner)
        elif isinstance(each, tuple):
            for inner in each:
                meet(inner)
        elif is_dataclass(each):
            for field in fields(each):
                meet(getattr(each, field.name))

    meet(part)
    return list(found)


def outline(cls: Any) -> object:
    """All that a schema keeps of one class, as text and numbers."""
    match cls:
        case IdentMeta():
            return "identifiers", cls.__name__, members_of(cls), cls.symmetric, cls.spawned
        case EnumMeta():
            return "enum", cls.__name__, members_of(cls)
    base = next(base for base in cls.__mro__[1:] if isinstance(base, RecordMeta))
    ends = (cls.source_field, cls.dest_field) if issubclass(cls, Message) else None
    declared = [(name, repr(kind)) for name, kind in cls.fields.items()]
    return "record", cls.__name__, base.__name__, declared, cls.tag, cls.abstract, ends, repr(cls.shapes)


def members_of(cls: Any) -> list[tuple[str, int]]:
    """The members of a class by what a person sees."""
    return [(member.title, member.index) for member in cls.members]


Letter: Any = record_class(
    {"to": Server, "n": Int(0, 3), "from_": Server}, Message, "Letter", source="from_", dest="to", tag="Post"
)
Parcel: Any = record_class({"weight": Int(-5, 9)}, Letter, "Parcel")
Fragile: Any = record_class({"worth": Int(0, 9), "n": Int(0, 7)}, Parcel, "Fragile")
MIXED = record_class(
    {
        "server": Server,
        "id": Id,
        "role": Role,
        "value": Value | None,
        "sent": MessageSetType((RecordType(Letter), RecordType(VoteRequest)), 7),
        "bag": MessageBagType((RecordType(FetchResponse),), 5, 3),
    },
    name="State",
)


def test_classes_come_back_with_all_that_a_reader_sees_of_them() -> None:
    again = travelled(MIXED).state_class
    assert [outline(cls) for cls in classes_in(again)] == [outline(cls) for cls in classes_in(MIXED)]
    assert {cls.__name__ for cls in classes_in(again)} == {
        *("State", "Server", "Value", "Id", "Role", "VoteRequest"),
        *("Letter", "Parcel", "Fragile", "FetchResponse", "FetchOk", "FetchDiverging"),
    }


def mutual_families() -> dict[str, Any]:
    """Two families in each of which a shape holds one of the other: Crate holds an Apple, and Box a Crate."""
    fruit = record_class({"ripe": Bool}, name="Fruit", abstract=True)
    apple = record_class({"seeds": Int(0, 1)}, fruit, "Apple")
    holder = record_class({"full": Bool}, name="Holder", abstract=True)
    crate = record_class({"apple": apple}, holder, "Crate")
    record_class({"crate": crate}, fruit, "Box")
    record_class({"size": Int(0, 1)}, holder, "Bag")
    return {"crate": crate, "holder": holder, "fruit": fruit}


@pytest.mark.parametrize("order", [*permutations(["crate", "holder", "fruit"])], ids=" ".join)
def test_shapes_of_families_that_mention_each_other_come_back_once(order: tuple[str, ...]) -> None:
    families = mutual_families()
    state = record_class({name: families[name] for name in order}, name="State")
    again = travelled(state).state_class
    assert [outline(cls) for cls in classes_in(again)] == [outline(cls) for cls in classes_in(state)]
    assert row_layout(again).fixed.layout == row_layout(state).fixed.layout


stored = types.filter(lambda kind: not isinstance(kind, MessageSetType | MessageBagType))


@pytest.mark.slow
@given(st.lists(stored, min_size=1, max_size=3))
def test_types_come_back_as_they_were(kinds: list[Any]) -> None:
    state = record_class({f"f{place}": kind for place, kind in enumerate(kinds)}, name="State")
    again = travelled(state).state_class
    assert [outline(cls) for cls in classes_in(again)] == [outline(cls) for cls in classes_in(state)]


@pytest.mark.slow
@given(values(RecordType(MIXED)))
def test_a_row_means_the_same_on_both_sides(state: Any) -> None:
    again = travelled(MIXED).state_class
    found = decode_row(encode_row(state), again)
    assert text(encode(found, Naming())) == text(encode(state, Naming()))
    assert encode_row(found) == encode_row(state)


def test_a_type_of_another_kmc_is_not_guessed() -> None:
    data = described(Schema(MIXED, default_table(MIXED)))
    data["classes"][data["state"]]["fields"][0][1] = ["bitmap", 3]
    with pytest.raises(ValueError, match="describes no type"):
        restored(data)


def test_the_table_of_variables_comes_back() -> None:
    variables = (Variable("role", "role", None), Variable("epochs", "nodes", "epoch"))
    for naming in (Naming(), Naming(lower_camel_case, "kind"), Naming(str, "type")):
        again = travelled(MIXED, VariableTable(variables, naming, None)).variables
        assert again.variables == variables
        assert (again.naming.field("current_epoch"), again.naming.tag) == (
            naming.field("current_epoch"),
            naming.tag,
        )
