"""Constants take what a model gives, their default, or a placeholder; another value is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from support.drawing.values import Role, Server, VoteRequest, record_class

from kmc.errors import ModelError, Span, SpecError
from kmc.lang import constants
from kmc.lang.admission import admitter
from kmc.lang.annotations import Bool, Int, Map, MessageBag, MessageSet, Opt, Pair, PartialMap, Seq, Set
from kmc.lang.constant_values import placeholder, text_of
from kmc.lang.constants import ConstantTable, IdentSet, Operator, constant, constants_of, spawned
from kmc.lang.types import as_type
from kmc.model_files.model_file import Assignment
from kmc.model_files.raw_values import (
    ModelValue,
    Raw,
    RawFunction,
    RawOperator,
    RawRecord,
    RawSequence,
    RawSet,
)

SPAN = Span("m.cfg", 1)
Node = record_class({"epoch": Int(0, 3)}, name="Node")


def given(**values: Raw) -> Mapping[str, Assignment]:
    """What a model gives."""
    return {name: Assignment(name, value, SPAN) for name, value in values.items()}


def members(*names: str) -> RawSet:
    """A set of model values."""
    return RawSet(tuple(ModelValue(name) for name in names))


def value_of(domain: Any, raw: Raw) -> Any:
    """The constant with this domain, to which a model gives a value."""
    with constants_of(given(C=raw)):
        return constant("C", domain, "what it is")


@pytest.mark.parametrize(
    ("domain", "raw", "value"),
    [
        (Bool, True, True),
        (Bool, False, False),
        (Int(-2, 3), -2, -2),
        (Int(-2, 3), 3, 3),
        *((Role, ModelValue(member.title), member) for member in Role),
    ],
)
def test_a_constant_has_the_value_that_the_model_gives(domain: Any, raw: Raw, value: Any) -> None:
    assert value_of(domain, raw) is value


@pytest.mark.parametrize(
    ("domain", "raw", "shown"),
    [
        (Bool, 1, "1, which is not in Bool"),
        (Bool, ModelValue("x"), "x, which is not in Bool"),
        (Int(0, 3), True, "TRUE, which is not in 0..3"),
        (Int(0, 3), False, "FALSE, which is not in 0..3"),
        (Int(0, 3), -1, "-1, which is not in 0..3"),
        (Int(0, 3), 4, "4, which is not in 0..3"),
        (Int(0, 3), "2", '"2", which is not in 0..3'),
        (Role, ModelValue("Observer"), "Observer, which is not in Role"),
        (Role, 0, "0, which is not in Role"),
        (Int(0, 3), members("a", "b"), "{a, b}, which is not in 0..3"),
    ],
)
def test_a_value_outside_of_the_domain_is_refused_in_the_words_of_the_model(domain: Any, raw: Raw, shown: str) -> None:
    with pytest.raises(ModelError, match=r"constant 'C' is ") as caught:
        value_of(domain, raw)
    assert (caught.value.code, caught.value.span) == ("KMC341", SPAN)
    assert caught.value.message.startswith(f"constant 'C' is {shown}")


def test_a_set_of_identifiers_is_a_type_of_its_own() -> None:
    for symmetric in (False, True):
        found = value_of(IdentSet(symmetric, at_most=2), members("a", "b"))
        assert ([member.title for member in found.members], found.symmetric) == (["a", "b"], symmetric)


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (members(), "{}, not a set of 1 to 2 identifiers, symmetric"),
        (members("a", "b", "c"), "{a, b, c}, not a set of 1 to 2 identifiers, symmetric"),
        (RawSet((ModelValue("a"), 1)), "{a, 1}, not a set of 1 to 2 identifiers, symmetric"),
        (3, "3, not a set of 1 to 2 identifiers, symmetric"),
        (ModelValue("a"), "a, not a set of 1 to 2 identifiers, symmetric"),
    ],
)
def test_what_is_not_a_set_of_identifiers_is_refused(raw: Raw, shown: str) -> None:
    with pytest.raises(ModelError) as caught:
        value_of(IdentSet(True, at_most=2), raw)
    assert (caught.value.code, caught.value.message) == ("KMC342", f"constant 'C' is {shown}")


def test_a_constant_that_is_not_given_has_its_default() -> None:
    with constants_of({}) as table:
        assert constant("C", Int(0, 3), "what it is", 2) == 2
        assert constant("D", Bool, "what it is", False) is False
    assert table.missing == []
    assert [(c.raw, c.has_default, c.value) for c in table.declared.values()] == [(None, True, 2), (None, True, False)]


def test_a_constant_that_is_given_does_not_have_its_default() -> None:
    with constants_of(given(C=3)) as table:
        assert constant("C", Int(0, 3), "what it is", 2) == 3
    (declared,) = table.declared.values()
    assert (declared.name, declared.domain, declared.meaning) == ("C", "0..3", "what it is")
    assert (declared.raw, declared.has_default) == (3, True)


def test_constants_that_are_missing_are_listed_and_have_placeholders() -> None:
    with constants_of({}) as table:
        assert constant("A", Int(2, 5), "x") == 2
        assert constant("B", Role, "x") is Role.members[0]
        assert constant("C", Bool, "x") is False
        seats = constant("D", IdentSet(True), "x")
    assert ([member.title for member in seats.members], seats.symmetric) == (["D_1"], True)
    assert table.missing == ["A", "B", "C", "D"]
    assert [declared.has_default for declared in table.declared.values()] == [False] * 4


@pytest.mark.parametrize(
    ("declare", "code"),
    [
        (lambda: constant("no name", Bool, "x"), "KMC166"),
        (lambda: constant("C", Bool, None), "KMC166"),  # type: ignore[arg-type]  # what is refused
        (lambda: constant(None, Bool, "x"), "KMC166"),  # type: ignore[arg-type]  # what is refused
        (lambda: (constant("C", Bool, "x"), constant("C", Bool, "x")), "KMC162"),
        (lambda: constant("C", MessageSet[VoteRequest], "x"), "KMC165"),
        (lambda: constant("C", MessageBag[VoteRequest], "x"), "KMC165"),
        (lambda: constant("C", Set[Server], "x", {1}), "KMC164"),
        (lambda: constant("C", Int(0, 3), "x", 4), "KMC164"),
        (lambda: constant("C", IdentSet(), "x", {"a"}), "KMC164"),
    ],
)
def test_a_mistake_in_a_declaration_is_refused(declare: Any, code: str) -> None:
    with constants_of({}), pytest.raises(SpecError) as caught:
        declare()
    assert caught.value.code == code


def test_constants_are_declared_while_a_spec_is_loaded_only() -> None:
    with constants_of({}) as outer:
        constant("C", Bool, "x")
        with constants_of({}) as inner:
            constant("C", Bool, "x")
        constant("D", Bool, "x")
    assert (table_names(outer), table_names(inner)) == (["C", "D"], ["C"])
    with pytest.raises(SpecError) as caught:
        constant("E", Bool, "x")
    assert caught.value.code == "KMC161"


def table_names(table: ConstantTable) -> list[str]:
    """The constants that were declared."""
    return list(table.declared)


@pytest.mark.parametrize("count", [1, 3])
def test_spawned_identifiers_are_numbered_from_one(count: int) -> None:
    found: Any = spawned("Id", count)
    assert [member.title for member in found.members] == [str(number) for number in range(1, count + 1)]
    assert (found.spawned, found.symmetric, found.started) == (True, False, None)
    started: Any = spawned("Id", count, started="servers")
    assert (started.spawned, started.symmetric, started.started) == (True, True, "servers")


@pytest.mark.parametrize(
    ("count", "started"), [(0, None), (-1, None), (True, None), ("3", None), (3, 7), (3, "no name"), (3, "")]
)
def test_spawned_identifiers_need_a_positive_number_and_the_name_of_a_field(count: Any, started: Any) -> None:
    with pytest.raises(SpecError) as caught:
        spawned("Id", count, started=started)
    assert caught.value.code == "KMC163"


NAMES = ("a", "b", "c")


def places(**fields: Raw) -> RawRecord:
    """A record as a model writes it."""
    return RawRecord(tuple(fields.items()))


def of_every_type() -> dict[str, tuple[Any, Raw, str]]:
    """Constants of many types over a set of identifiers: domain, value in a model, and the value in TLA+."""
    a, b, c = map(ModelValue, NAMES)
    seat = constant("Seat", IdentSet(), "x")
    entry = record_class({"held_by": Opt[seat], "left": Int(0, 3)}, name="Entry")
    return {
        "a member": (seat, b, "b"),
        "a subset": (Set[seat], RawSet((c, a)), "{a, c}"),
        "a set of sets": (Set[Set[seat]], RawSet((RawSet((b, a)), RawSet((c,)))), "{{c}, {a, b}}"),
        "pairs": (Set[Pair[seat]], RawSet((RawSet((c, a)),)), "{{a, c}}"),
        "a function": (Map[seat, Int(0, 9)], RawFunction(((c, 3), (a, 1), (b, 2))), "(a :> 1 @@ b :> 2 @@ c :> 3)"),
        "a table": (Map[seat, Set[seat]], places(a=RawSet(()), b=RawSet((a,)), c=RawSet((b, a))),
                    "(a :> {} @@ b :> {a} @@ c :> {a, b})"),
        "a function on a part": (PartialMap[seat, Bool], RawFunction(((b, True),)), "(b :> TRUE)"),
        "a function on numbers": (Map[Int(1, 2), seat], RawSequence((c, c)), "<<c, c>>"),
        "a sequence": (Seq[seat, 4], RawSequence((b, a, b)), "<<b, a, b>>"),
        "a record": (entry, places(held_by=ModelValue("Nil"), left=2), "[held_by |-> Nil, left |-> 2]"),
        "a record in camelCase": (entry, places(left=0, heldBy=c), "[held_by |-> c, left |-> 0]"),
        "a record as a function": (entry, RawFunction(((ModelValue("held_by"), b), (ModelValue("left"), 1))),
                                   "[held_by |-> b, left |-> 1]"),
        "records": (Set[entry], RawSet((places(heldBy=a, left=1),)), "{[held_by |-> a, left |-> 1]}"),
        "a union": (seat | Int(0, 3) | None, 3, "3"),
        "an empty map": (PartialMap[seat, Bool], RawSequence(()), "<<>>"),
    }  # fmt: skip


def test_a_constant_may_be_of_any_type_but_a_network() -> None:
    with constants_of(given(Seat=members(*NAMES))):
        rows = of_every_type()
        shown = {what: text_of(constants._convert("C", domain, raw, SPAN)) for what, (domain, raw, _) in rows.items()}
    assert shown == {what: expected for what, (_, _, expected) in rows.items()}


def test_a_value_of_any_type_has_a_placeholder_in_its_domain() -> None:
    with constants_of(given(Seat=members(*NAMES))):
        domains = [as_type(domain, "") for domain, _, _ in of_every_type().values()]
    for domain in domains:
        for share in (0.0, 0.4, 1.0):
            value = placeholder(domain, share)
            assert admitter(domain)(value) == value


@pytest.mark.parametrize(
    ("domain", "raw", "part"),
    [
        (Set[Set[Int(0, 3)]], RawSet((RawSet((1, 2)), RawSet((3, 4)))), "4 is not in 0..3"),
        (Seq[Int(0, 3), 1], RawSequence((1, 2)), "2 elements are too many for Seq[0..3, 1]"),
        (Map[Role, Bool], RawFunction(((ModelValue("Candidate"), True),)), "a total map needs exactly the keys"),
        (Map[Role, Bool], members("a"), "{ a } is not in Map"),
        (Node, places(epoch=1, other=2), "[epoch |-> 1, other |-> 2] is not in Node"),
        (Node, places(epoch=9), "9 is not in 0..3"),
        (Set[Role], RawSet(("Leader",)), '"Leader" is not in Role'),
    ],
)
def test_a_part_outside_of_its_domain_is_named(domain: Any, raw: Raw, part: str) -> None:
    with pytest.raises(ModelError) as caught:
        value_of(domain, raw)
    assert (caught.value.code, caught.value.span) == ("KMC341", SPAN)
    assert part in caught.value.notes[0]


def test_a_definition_gives_a_value_and_may_be_named_as_in_tla() -> None:
    def two_steps() -> frozenset[int]:
        return frozenset({1, 2})

    names = {"two_steps": two_steps, "many": frozenset({3}), "of": lambda n: frozenset({n})}
    for name, expected in (("two_steps", {1, 2}), ("TwoSteps", {1, 2}), ("many", {3})):
        assert defined_as(name, names) == expected
    for name in ("of", "three_steps"):
        with pytest.raises(ModelError) as caught:
            defined_as(name, names)
        assert caught.value.code == "KMC358"


def defined_as(name: str, names: Mapping[str, Any]) -> Any:
    """The constant to which a model gives the definition of this name, in a file with these names."""
    with constants_of(given(C=RawOperator(name))):
        # Reason for eval: a definition is one of the file that declares the constant.
        return eval("constant('C', domain, 'x')", {**names, "constant": constant, "domain": Set[Int(0, 3)]})


OPERATORS = {"lower": lambda a, b: a < b, "higher": lambda a, b: a > b, "successor": lambda n: n + 1}


def operator_given(assignments: Mapping[str, Assignment], call: str) -> Any:
    """The constant that such a call declares below the operators."""
    with constants_of(assignments):
        # Reason for eval: an operator is one of the file that declares the constant.
        return eval(call, {**OPERATORS, "constant": constant, "Operator": Operator})


def test_an_operator_is_a_function_above_the_constant_with_so_many_parameters() -> None:
    two = "constant('C', Operator(2), 'x')"
    assert operator_given(given(C=RawOperator("higher")), two) is OPERATORS["higher"]
    assert operator_given(given(C=RawOperator("Higher")), two) is OPERATORS["higher"]
    assert operator_given({}, "constant('C', Operator(1), 'x', successor)") is OPERATORS["successor"]


@pytest.mark.parametrize("raw", [RawOperator("successor"), RawOperator("heigher"), ModelValue("higher"), 3, RawSet(())])
def test_a_model_names_an_operator_that_there_is(raw: Raw) -> None:
    with pytest.raises(ModelError, match="an operator with 2 parameters") as caught:
        operator_given(given(C=raw), "constant('C', Operator(2), 'x')")
    assert caught.value.code == "KMC358"
    assert caught.value.help is not None
    assert "lower" in caught.value.help or "higher" in caught.value.help


@pytest.mark.parametrize(
    ("call", "code"),
    [
        ("constant('C', Operator(0), 'x')", "KMC165"),
        ("constant('C', Operator(2), 'x', successor)", "KMC164"),
        ("constant('C', Operator(2), 'x', 3)", "KMC164"),
        ("constant('C', Operator(3), 'x')", "KMC165"),
    ],
)
def test_a_declared_operator_that_cannot_be_is_refused(call: str, code: str) -> None:
    with pytest.raises(SpecError) as caught:
        operator_given({}, call)
    assert caught.value.code == code
