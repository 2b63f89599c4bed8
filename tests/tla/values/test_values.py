"""Values of TLA+: what is equal, what comes first, what is printed, what a set without a list contains."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from kmc.errors import EvaluationError
from kmc.lang.tla import TlaMap, TlaRecord, TlaSeq, TlaSet, text
from kmc.tla.values import sequences, sets
from kmc.tla.values.functions import applied, function_of, merged, replaced
from kmc.tla.values.kinds import FALSE, TRUE, FunctionValue, SymbolicSet, TlaModelValue, Value
from kmc.tla.values.order import compare, equal, ordered
from kmc.tla.values.texts import text_of, tree_of

A, B, NIL = TlaModelValue("n2"), TlaModelValue("n10"), TlaModelValue("Nil")


def drawn(source: random.Random, depth: int) -> Value:
    """Draw a value that TLC can compare with every other drawn one of its depth."""
    if depth == 0:
        return source.randrange(3)
    items = [drawn(source, depth - 1) for _ in range(source.randrange(4))]
    if depth == 2:
        return frozenset(items)
    return function_of(dict(zip(source.sample(range(1, 5), len(items)), items, strict=True)))


def test_true_is_not_one() -> None:
    pairs: list[Value] = [(1, TRUE), (TRUE, 1), frozenset((1,)), frozenset((TRUE,)), (FALSE,), (0,)]
    assert len(set(pairs)) == 6
    assert applied(function_of({TRUE: 5, FALSE: 6}), TRUE) == 5


def test_a_function_on_1_to_n_is_a_sequence_however_it_is_made() -> None:
    assert function_of({2: 8, 1: 7}) == (7, 8)
    assert function_of({}) == ()
    assert merged(function_of({2: 8}), function_of({1: 7})) == (7, 8)
    assert isinstance(function_of({0: 7, 1: 8}), FunctionValue)


def test_functions_with_the_same_pairs_are_equal_and_hash_alike() -> None:
    first = function_of({A: 1, B: 2})
    second = merged(function_of({B: 2}), function_of({A: 1}))
    assert first == second
    assert hash(first) == hash(second)
    assert replaced(first, A, 3) == function_of({B: 2, A: 3})
    assert first != function_of({A: 1, NIL: 2})


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (1, "a"),
        (1, TRUE),
        ("a", frozenset()),
        ((), frozenset()),
        ((1, 2), (1, "b")),
        (frozenset((1,)), frozenset(("a",))),
    ],
)
def test_values_of_different_kinds_are_not_compared(first: Value, second: Value) -> None:
    comparisons: list[Callable[[Value, Value], object]] = [equal, compare]
    for comparison in comparisons:
        with pytest.raises(EvaluationError) as caught:
            comparison(first, second)
        assert caught.value.code == "KMC257"


def test_a_model_value_differs_from_everything_else() -> None:
    others: tuple[Value, ...] = (1, "Nil", TRUE, (), frozenset(), A)
    for other in others:
        assert not equal(NIL, other)
    assert equal(NIL, TlaModelValue("Nil"))
    both: Value = frozenset((NIL, 1))
    assert sets.union(frozenset((NIL,)), frozenset((1,))) == both


def test_typed_model_values_are_compared_with_their_type_only() -> None:
    first, second = TlaModelValue("T_a"), TlaModelValue("U_a")
    assert not equal(first, TlaModelValue("T_b"))
    refused: tuple[Value, ...] = (second, 1)
    for other in refused:
        with pytest.raises(EvaluationError, match="T_a is compared with"):
            equal(first, other)


def test_a_set_of_numbers_and_names_is_refused() -> None:
    with pytest.raises(EvaluationError, match='the number 1 is compared with the string "a"'):
        sets.union(frozenset((1, NIL)), frozenset(("a", NIL)))


def test_the_order_is_total_and_agrees_with_equality() -> None:
    source = random.Random(5)
    for depth in (1, 2, 3):
        values = [drawn(source, depth) for _ in range(40)]
        for first in values:
            for second in values:
                assert (compare(first, second) == 0) == (first == second) == equal(first, second)
                assert (compare(first, second) > 0) == (compare(second, first) < 0)


def test_sets_are_ordered_by_size_then_by_elements() -> None:
    powers = tuple(sets.PowerSet(sets.Interval(1, 3)).elements())
    assert powers == ordered(frozenset(powers))
    assert powers[:3] == (frozenset(), frozenset((1,)), frozenset((2,)))


def test_names_are_ordered_as_people_order_them() -> None:
    assert ordered(frozenset((B, A, NIL))) == (NIL, A, B)


def test_values_are_printed_as_tlc_prints_them() -> None:
    record = function_of({"term": 2, "leader": NIL, "votes": frozenset((B, A))})
    assert text_of(record) == "[leader |-> Nil, term |-> 2, votes |-> {n2, n10}]"
    assert text_of(function_of({A: (), B: (TRUE, 'say "hi"')})) == '(n2 :> <<>> @@ n10 :> <<TRUE, "say \\"hi\\"">>)'
    assert text_of(sets.FunctionSet(sets.Interval(1, 2), sets.BOOLEANS)) == "[1..2 -> {FALSE, TRUE}]"


def test_values_become_trees_for_every_format() -> None:
    record = function_of({"log": (1, 2), "of": function_of({A: "x"}), "in": frozenset((TRUE,))})
    expected = (("in", TlaSet((True,))), ("log", TlaSeq((1, 2))), ("of", TlaMap((("n2", "x"),))))
    assert tree_of(record) == TlaRecord(expected)
    assert text(tree_of("x")) == '"x"'


SYMBOLIC: list[SymbolicSet] = [
    sets.Interval(2, 4),
    sets.Interval(4, 2),
    sets.PowerSet(frozenset((1, 2))),
    sets.SubsetsOfSize(2, sets.Interval(1, 4)),
    sets.FunctionSet(sets.Interval(1, 2), frozenset((1, 3))),
    sets.FunctionSet(frozenset((A, B)), sets.BOOLEANS),
    sets.RecordSet({"b": sets.Interval(1, 2), "a": frozenset((A, B))}),
    sets.ProductSet((sets.Interval(1, 2), frozenset((A, B)))),
]


@pytest.mark.parametrize("symbolic", SYMBOLIC, ids=lambda one: one.text())
def test_a_set_without_a_list_agrees_with_its_list(symbolic: SymbolicSet) -> None:
    elements = tuple(symbolic.elements())
    assert symbolic.size() == len(elements) == len(set(elements))
    assert elements == ordered(frozenset(elements))
    assert all(symbolic.contains(element) for element in elements)
    assert equal(symbolic, frozenset(elements))
    larger = sets.union(symbolic, frozenset(elements))
    assert sets.listed(larger) == set(elements)
    assert sets.is_subset(symbolic, larger)
    if isinstance(symbolic, sets.PowerSet):
        with pytest.raises(EvaluationError):  # as in TLC
            symbolic.contains(NIL)
    else:
        assert not symbolic.contains(NIL)


def test_membership_in_infinite_sets() -> None:
    assert sets.member((1, 2), sets.SequenceSet(sets.NATURALS))
    assert not sets.member((1, -2), sets.SequenceSet(sets.NATURALS))
    assert sets.member(frozenset((3,)), sets.PowerSet(sets.INTEGERS))
    assert sets.member("a", sets.union(sets.STRINGS, frozenset((NIL,))))
    odd = sets.difference(sets.NATURALS, frozenset((2,)))
    assert [sets.member(number, odd) for number in (1, 2, 3)] == [True, False, True]
    with pytest.raises(EvaluationError, match="Nat has no list of elements"):
        sets.listed(sets.NATURALS)


def test_operators_of_sequences_agree_with_those_of_python() -> None:
    word = (5, 6, 7)
    assert sequences.concatenated(word, (8,)) == (5, 6, 7, 8)
    assert sequences.part(word, 2, 3) == (6, 7)
    assert sequences.part(word, 3, 2) == ()
    assert (sequences.head(word), sequences.tail(word), sequences.length(word)) == (5, (6, 7), 3)
    assert sequences.appended(word, 8) == (5, 6, 7, 8)
    assert (sequences.length("abc"), sequences.concatenated("ab", "c"), sequences.part("abc", 2, 2)) == (3, "abc", "b")
    for low, high in ((0, 2), (2, 4)):
        with pytest.raises(EvaluationError, match=r"the positions are 1\.\.3"):
            sequences.part(word, low, high)


def test_a_filter_lists_its_elements_once() -> None:
    listings: list[int] = []

    def listed() -> frozenset[Value]:
        listings.append(1)
        return frozenset((1, 2))

    combined = sets.CombinedSet(lambda: "S", lambda _: True, listed)
    assert [*combined.elements(), *combined.elements()] == [1, 2, 1, 2]
    assert listings == [1]


@pytest.mark.parametrize("low", [1, 2, 3])
@pytest.mark.parametrize("high", [2, 3, 60])
def test_subsets_are_among_subsets_as_their_bases_are(low: int, high: int) -> None:
    mine, others = sets.PowerSet(sets.Interval(low, 3)), sets.PowerSet(sets.Interval(2, high))
    assert sets.is_subset(mine, others) == all(sets.member(value, others) for value in mine.elements())
    large = sets.PowerSet(sets.Interval(1, 60))
    assert sets.is_subset(large, sets.PowerSet(sets.INTEGERS))
    assert not sets.is_subset(large, others)
