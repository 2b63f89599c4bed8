"""A value that is copied to a field of another domain: compiled code keeps it, or fails, where the interpreter does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from support.drawing.values import values
from support.oracles.steps import Kernels, differences
from support.specs.small import model_of

from kmc.compiler.ir.emit_python import emit_python
from kmc.compiler.model_kernels import build_kernels
from kmc.errors import SpecError
from kmc.frontend.model import Model
from kmc.lang.types import IntType, RecordType, SetType

NUMBERS = [
    ("Int(0, 3)", "Int(0, 3)", "0", "0"),
    ("Int(0, 9)", "Int(1, 8)", "0", "1"),
    ("Int(2, 4)", "Int(0, 9)", "2", "0"),
    ("Int(-3, 3)", "Int(3, 5)", "0", "3"),
    ("Int(0, 3)", "Int(-3, 0)", "0", "0"),
]
SETS = [
    (f"Set[Int({low}, {high})]", f"Set[Int({other}, {top})]", "set()", "set()")
    for low, high, other, top in [
        *((0, 3, 0, 3), (0, 3, 1, 4), (1, 4, 0, 3), (0, 9, 3, 5), (3, 5, 0, 9), (0, 3, 3, 6), (0, 3, 4, 7)),
        *((0, 63, 0, 63), (0, 63, 1, 64), (1, 64, 0, 63), (0, 63, 63, 63), (0, 63, 64, 70), (0, 63, 90, 95)),
        *((64, 70, 0, 63), (90, 95, 0, 63), (-9, -2, -4, 5), (-4, 5, -9, -2)),
    ]
]
OPTIONAL = [
    ("Opt[Int(0, 3)]", "Opt[Int(1, 4)]", "None", "None"),
    ("Opt[Int(0, 3)]", "Int(0, 2)", "None", "0"),
    ("Int(0, 3)", "Opt[Int(1, 2)]", "0", "None"),
    ("Opt[Role]", "Opt[Role | Int(0, 2)]", "None", "None"),
    ("Opt[Role | Int(0, 2)]", "Opt[Role]", "None", "None"),
    ("Opt[Int(0, 2) | Role]", "Opt[Role | Int(1, 5)]", "None", "None"),
    ("Opt[Pair]", "Opt[Pair | Role]", "None", "None"),
    ("Opt[Pair | Role]", "Opt[Pair]", "None", "None"),
    ("Pair", "Opt[Pair]", "Pair(x=0, y=0)", "None"),
    ("Opt[Pair]", "Pair", "None", "Pair(x=0, y=0)"),
]
COLLECTIONS = [
    ("Seq[Int(0, 3), 4]", "Seq[Int(0, 3), 2]", "[]", "[]"),
    ("Seq[Int(0, 3), 2]", "Seq[Int(1, 9), 4]", "[]", "[]"),
    ("Seq[Int(0, 1), 70]", "Seq[Int(0, 1), 3]", "[]", "[]"),
    ("Seq[Pair, 2]", "Seq[Opt[Pair], 3]", "[]", "[]"),
    ("Seq[Role, 2]", "Opt[Seq[Role, 2]]", "[]", "None"),
    ("Opt[Set[Role]]", "Set[Role]", "None", "set()"),
    ("Set[Role]", "Opt[Set[Role]]", "set()", "None"),
    ("Opt[Map[Role, Bool]]", "Map[Role, Bool]", "None", "{r: True for r in Role}"),
    ("Map[Role, Bool]", "Opt[Map[Role, Bool]]", "{r: True for r in Role}", "None"),
]
SHAPES = [
    ("Shape", "Shape", "Pair(x=0, y=0)", "Point(x=0, p=True)"),
    ("Shape", "Opt[Shape]", "Pair(x=0, y=0)", "None"),
    ("Opt[Shape]", "Shape", "None", "Point(x=0, p=True)"),
    ("Pair", "Shape", "Pair(x=0, y=0)", "Point(x=0, p=True)"),
    ("Opt[Shape]", "Opt[Pair]", "None", "None"),
    ("Point | Role", "Opt[Shape]", "Role.VOTER", "None"),
]


def copying(folder: Path, copies: list[tuple[str, str, str, str]], value: str = "st.a{k}") -> Model:
    """A spec with an action for each copy."""
    fields = "\n".join(f"    a{k}: {kind}\n    b{k}: {other}" for k, (kind, other, _, _) in enumerate(copies))
    first = ", ".join(f"a{k}={mine}, b{k}={other}" for k, (_, _, mine, other) in enumerate(copies))
    actions = "\n".join(
        f"@spec.action\ndef copy{k}(st):\n    yield st.set(b{k}={value.format(k=k)})" for k in range(len(copies))
    )
    source = f"""
class Role(Enum):
    FOLLOWER, LEADER, VOTER = range(3)
class Shape(Record, abstract=True):
    x: Int(0, 2)
class Pair(Shape):
    y: Int(0, 9)
class Point(Shape):
    p: Bool
class State(Record):
{fields}
@spec.init
def init():
    yield State({first})
{actions}
"""
    return model_of(folder, source, "CHECK_DEADLOCK FALSE")


KINDS = {
    "numbers": NUMBERS,
    "sets of numbers": SETS,
    "optional values": OPTIONAL,
    "collections": COLLECTIONS,
    "shapes": SHAPES,
}


@pytest.mark.slow
@pytest.mark.parametrize("title", KINDS)
def test_a_copy_is_kept_or_refused_as_in_the_interpreter(title: str, tmp_path: Path) -> None:
    # An action each, alone in its spec's kernels: one that fails ends the expansion of a state.
    for number, copy in enumerate(KINDS[title]):
        model = copying(tmp_path / str(number), [copy])
        kernels = Kernels(model, emit_python(build_kernels(model).module).call)
        assert list(differences(kernels, drawn_states(model)))[:2] == [], copy[:2]


def drawn_states(model: Model) -> list[Any]:
    """States with drawn values, the same in every run; for sets of numbers, those with the least and greatest too."""
    cls: Any = model.spec.state_class
    found: list[Any] = []

    @settings(max_examples=30)
    @given(values(RecordType(cls)))
    def draw(state: Any) -> None:
        found.append(state)

    draw()
    match cls.fields["a0"]:
        case SetType(IntType(low, high)):
            numbers = [(), (low,), (high,), (low, high), range(low, high + 1), (high - 1,), (min(low + 1, high),)]
            found += [found[0].set(a0=frozenset(some)) for some in numbers]
        case IntType(low, high):
            found += [found[0].set(a0=number) for number in range(low, high + 1)]
    return found


@pytest.mark.parametrize(
    ("kind", "first", "value", "why"),
    [
        ("Role | Int(0, 2)", "0", "None", "None as"),
        ("Pair | Role", "Role.VOTER", "None", "None as"),
        ("Pair", "Pair(x=0, y=0)", "None", "this value as"),
        ("Int(0, 2)", "0", "None", "this value as"),
        ("Opt[Role]", "None", "Pair(x=0, y=0)", "this value as"),
        ("Opt[Role | Int(0, 2)]", "None", "Pair(x=0, y=0)", "this value as"),
        ("Opt[Pair | Role]", "None", "3", "this value as"),
    ],
)
def test_a_value_that_a_field_never_has_is_refused(kind: str, first: str, value: str, why: str, tmp_path: Path) -> None:
    model = copying(tmp_path, [(kind, kind, first, first)], value=value)
    with pytest.raises(SpecError, match=why) as caught:
        build_kernels(model)
    assert caught.value.code == "KMC811"


@pytest.mark.parametrize(
    ("kind", "other"),
    [("Seq[Role, 2]", "PartialMap[Role, Bool]"), ("PartialMap[Role, Bool]", "Seq[Role, 2]"), ("Pair", "Set[Role]")],
)
def test_a_value_of_another_kind_is_refused(kind: str, other: str, tmp_path: Path) -> None:
    first = {"Seq[Role, 2]": "[]", "Pair": "Pair(x=0, y=0)", "Set[Role]": "set()", "PartialMap[Role, Bool]": "{}"}
    with pytest.raises(SpecError, match="this value as") as caught:
        build_kernels(copying(tmp_path, [(kind, other, first[kind], first[other])]))
    assert caught.value.code == "KMC811"


@pytest.mark.parametrize("value", ["[]", "[1]", "[1, 2]", "[1, 2, 3]", "[3, 4]"])
def test_a_sequence_that_is_written_is_kept_or_fails_as_in_the_interpreter(value: str, tmp_path: Path) -> None:
    model = copying(tmp_path, [("Seq[Int(0, 3), 2]", "Seq[Int(0, 3), 2]", "[]", "[]")], value=value)
    kernels = Kernels(model, emit_python(build_kernels(model).module).call)
    assert list(differences(kernels, drawn_states(model)))[:2] == []


@pytest.mark.parametrize("value", ["a + b", "a - b", "b - a", "a * b", "-a", "-(a - b)", "0 + a", "a - 0", "a * 0"])
@pytest.mark.parametrize(("kind", "other"), [("Int(-3, 3)", "Int(-2, 4)"), ("Int(2, 5)", "Int(0, 2)")])
def test_a_number_that_is_computed_is_kept_or_fails_as_in_the_interpreter(
    value: str, kind: str, other: str, tmp_path: Path
) -> None:
    computed = value.replace("a", "st.a{k}").replace("b", "st.b{k}")
    model = copying(tmp_path, [(kind, other, "2", "0")], value=computed)
    states = [model.spec.state_class(a0=a, b0=b) for a in range(-3, 6) for b in range(-2, 5) if is_in(model, a, b)]
    kernels = Kernels(model, emit_python(build_kernels(model).module).call)
    assert list(differences(kernels, states))[:2] == []


def is_in(model: Model, *numbers: int) -> bool:
    """Whether numbers are in the domains of the fields."""
    kinds = [kind for kind in model.spec.state_class.fields.values() if isinstance(kind, IntType)]
    return all(kind.low <= number <= kind.high for kind, number in zip(kinds, numbers, strict=True))


MAPS = [
    ("Int(0, 3)", "Int(0, 9)", "st.k", "7", "{k: 0 for k in range(0, 4)}"),
    ("Int(0, 9)", "Int(0, 999)", "st.k * 3", "999", "{k: 0 for k in range(0, 10)}"),
    ("Int(0, 3)", "Seq[Int(0, 3), 40]", "st.k", "[3, 1]", "{k: [] for k in range(0, 4)}"),
    ("Int(0, 3)", "Int(0, 99)", "3 - st.k", "st.k", "{k: 0 for k in range(0, 4)}"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("keys", "entry", "key", "value", "first"), MAPS)
def test_entries_of_a_map_are_read_and_changed_at_any_place(
    keys: str, entry: str, key: str, value: str, first: str, tmp_path: Path
) -> None:
    source = f"""
class Holder(Record):
    before: Bool
    m: Map[{keys}, {entry}]
    behind: Int(0, 5)
class State(Record):
    a0: Map[{keys}, {entry}]
    b: Holder
    k: Int(0, 3)
    found: {entry}
@spec.init
def init():
    for found in [{value.replace("st.k", "3")}]:
        yield State(a0={first}, b=Holder(before=True, m={first}, behind=5), k=0, found=found)
@spec.action
def read(st):
    yield st.set(found=st.a0[{key}])
@spec.action
def read_inner(st):
    yield st.set(found=st.b.m[{key}])
@spec.action
def read_changed(st):
    yield st.set(found=st.a0.set({key}, {value})[st.k])
@spec.action
def change(st):
    yield st.set(b=Holder(before=st.b.before, m=st.a0.set({key}, {value}), behind=4))
@spec.action
def change_one(st):
    yield st.set(b=Holder(before=True, m=st.b.m.set(2, {value}), behind=st.b.behind))
"""
    model = model_of(tmp_path, source, "CHECK_DEADLOCK FALSE")
    kernels = Kernels(model, emit_python(build_kernels(model).module).call)
    assert list(differences(kernels, drawn_states(model)))[:2] == []


@pytest.mark.parametrize(("entry", "capacity"), [("Int(0, 9)", 5), ("Int(0, 999)", 10), ("Seq[Int(0, 3), 40]", 3)])
def test_elements_of_a_sequence_that_was_just_made_are_read_at_any_place(
    entry: str, capacity: int, tmp_path: Path
) -> None:
    last = "[1]" if entry.startswith("Seq") else "7"
    source = f"""
class State(Record):
    a0: Seq[{entry}, {capacity}]
    k: Int(0, {capacity})
    found: {entry}
@spec.init
def init():
    yield State(a0=[], k=0, found={last})
@spec.action
def read(st):
    require(0 < st.k <= len(st.a0))
    yield st.set(found=st.a0.at(st.k))
@spec.action
def read_appended(st):
    require(len(st.a0) < {capacity} and 0 < st.k <= len(st.a0) + 1)
    yield st.set(found=st.a0.append({last}).at(st.k))
@spec.action
def read_truncated(st):
    require(0 < st.k <= len(st.a0))
    yield st.set(a0=st.a0.upto(st.k), found=st.a0.upto(st.k).at(1))
"""
    model = model_of(tmp_path, source, "CHECK_DEADLOCK FALSE")
    kernels = Kernels(model, emit_python(build_kernels(model).module).call)
    assert list(differences(kernels, drawn_states(model)))[:2] == []


@pytest.mark.parametrize(
    "kind", ["Opt[Role | Int(0, 2)]", "Opt[Int(0, 2) | Role]", "Opt[Pair | Role]", "Opt[Role | Pair]", "Opt[Pair]"]
)
def test_what_a_value_of_a_union_is_can_be_asked(kind: str, tmp_path: Path) -> None:
    value = "3 if st.a{k} is None else 2 if isinstance(st.a{k}, Pair) else 1 if isinstance(st.a{k}, Role) else 0"
    model = copying(tmp_path, [(kind, "Int(0, 3)", "None", "0")], value=value)
    kernels = Kernels(model, emit_python(build_kernels(model).module).call)
    assert list(differences(kernels, drawn_states(model)))[:2] == []


RECORDS = """
class Role(Enum):
    FOLLOWER, LEADER, VOTER = range(3)
class Pair(Record):
    x: Int(0, 2)
    y: Int(0, 9)
class Triple(Record):
    x: Int(0, 2)
    z: Bool
class Wide(Record):
    x: Int(0, 2)
    y: Seq[Int(0, 3), 40]
class Later(Record):
    first: Int(0, 9)
    x: Int(0, 2)
class Other(Record):
    x: Int(1, 3)
class Code(Record):
    z: Int(0, 1)
class Named(Record):
    w: Bool
    x: Role | Int(0, 2)
class Late(Record):
    u: Int(0, 700)
    x: Int(-1, 1)
    z: Bool
class State(Record):
    before: Bool
    a0: {kind}
    found: {found}
@spec.init
def init():
    yield State(before=True, a0={first}, found={zero})
@spec.action
def read(st):
    yield st.set(found=st.a0.{name})
"""


def reading(folder: Path, kind: str, name: str) -> Model:
    """A spec that reads a field of a union."""
    first = "None" if kind.startswith("Opt") else "Pair(x=0, y=0)"
    number = "Role | Int(0, 2)" if "Named" in kind else "Int(0, 2)"
    found, zero = ("Bool", "False") if name == "z" else (number, "0")
    first = first if "Pair" in kind or "Opt" in kind else "Triple(x=0, z=False)"
    source = RECORDS.format(kind=kind, first=first, name=name, found=found, zero=zero)
    return model_of(folder, source, "CHECK_DEADLOCK FALSE")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *(
            (kind, "x")
            for kind in (
                "Opt[Pair]", "Pair | Triple", "Opt[Pair | Triple]", "Pair | Role", "Role | Pair", "Pair | Wide",
                "Opt[Role | Triple | Pair]", "Opt[Pair | Wide]", "Opt[Role | Wide | Pair]",
            )
        ),
        ("Pair | Later", "first"),
        ("Pair | Later", "x"),
        ("Pair | Other", "x"),
        ("Opt[Pair | Other | Later | Role]", "x"),
        ("Opt[Triple | Late]", "z"),
        ("Role | Pair | Wide | Late", "x"),
        ("Pair | Named | Role", "x"),
        ("Pair | Wide", "y"),
        ("Opt[Late | Named | Other]", "x"),
        ("Opt[Pair | Triple]", "y"),
        ("Opt[Role | Wide | Pair | Later]", "first"),
    ],
)  # fmt: skip
def test_a_field_of_records_in_a_union_is_read_where_it_is_there(kind: str, name: str, tmp_path: Path) -> None:
    model = reading(tmp_path, kind, name)
    kernels = Kernels(model, emit_python(build_kernels(model).module).call)
    assert list(differences(kernels, drawn_states(model)))[:2] == []


@pytest.mark.parametrize(
    ("kind", "name", "why"),
    [
        ("Triple | Code", "z", "'z', which differs between the alternatives"),
        ("Opt[Pair | Wide]", "z", "'z', which differs between the alternatives"),
        ("Opt[Role]", "x", "a field of Role"),
        ("Opt[Pair]", "z", "'z', which differs between the alternatives"),
    ],
)
def test_a_field_that_records_of_a_union_do_not_share_is_refused(
    kind: str, name: str, why: str, tmp_path: Path
) -> None:
    with pytest.raises(SpecError) as caught:
        build_kernels(reading(tmp_path, kind, name))
    assert (caught.value.code, why in caught.value.message) == ("KMC811", True), caught.value.message


NARROWED = """
class Role(Enum):
    FOLLOWER, LEADER, VOTER = range(3)
class Pair(Record):
    x: Int(0, 2)
    y: Int(0, 9)
class Triple(Record):
    x: Int(0, 2)
    z: Bool
class State(Record):
    before: Bool
    a0: {kind}
    found: {declared}
@spec.init
def init():
    yield State(before=True, a0={first}, found={first})
@spec.action
def read(st):
    yield st.set(found=st.a0)
"""


@pytest.mark.parametrize(
    ("kind", "declared", "first"),
    [
        ("Pair | Role", "Pair", "Pair(x=0, y=0)"),
        ("Pair | Role", "Role", "Role.LEADER"),
        ("Opt[Role | Triple | Pair]", "Pair", "Pair(x=0, y=0)"),
        ("Opt[Role | Triple | Pair]", "Triple", "Triple(x=0, z=True)"),
        ("Opt[Role | Int(1, 5)]", "Role", "Role.VOTER"),
        ("Opt[Role | Int(1, 5)]", "Int(0, 5)", "4"),
        ("Opt[Role | Bool]", "Bool", "True"),
        ("Role | Int(0, 9) | Pair", "Int(2, 5)", "2"),
    ],
)
def test_a_value_of_a_union_is_stored_where_one_of_its_types_is_declared(
    kind: str, declared: str, first: str, tmp_path: Path
) -> None:
    text = NARROWED.format(kind=kind, declared=declared, first=first)
    model = model_of(tmp_path, text, "CHECK_DEADLOCK FALSE")
    kernels = Kernels(model, emit_python(build_kernels(model).module).call)
    assert list(differences(kernels, drawn_states(model)))[:2] == []


def test_a_union_without_the_declared_type_is_refused(tmp_path: Path) -> None:
    text = NARROWED.format(kind="Pair | Role", declared="Triple", first="Pair(x=0, y=0)")
    text = text.replace("found=Pair(x=0, y=0))", "found=Triple(x=0, z=True))")
    with pytest.raises(SpecError) as caught:
        build_kernels(model_of(tmp_path, text, "CHECK_DEADLOCK FALSE"))
    assert caught.value.code == "KMC811"
