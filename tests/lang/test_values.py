"""Values of the spec language: equal by value, immutable, ordered for display, written as TLA+ and read back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from support.drawing.values import (
    FetchOk,
    Id,
    Role,
    Server,
    Value,
    VoteRequest,
    any_values,
    record_class,
    typed_pairs,
    typed_values,
)

from kmc.errors import DomainError, TraceError
from kmc.lang.admission import admitter
from kmc.lang.annotations import Bool, Int, Map, MessageBag, MessageSet, Opt, Seq, Set
from kmc.lang.maps import map_literal
from kmc.lang.naming import lower_camel_case
from kmc.lang.networks import MessageBagValue, MessageSetValue, bag_of_messages, set_of_messages
from kmc.lang.order import ordered, sort_key
from kmc.lang.pairs import pair
from kmc.lang.permutation import Swap, permute, swaps
from kmc.lang.records import Message
from kmc.lang.seqs import seq_literal
from kmc.lang.tla import Naming, Tla, TlaMap, TlaRecord, TlaSeq, TlaSet, decode, encode, function, shortened, text
from kmc.lang.types import Type, as_type

S1, S2, S3 = Server
V1, V2 = Value
REQUEST = VoteRequest(source=S1, dest=S2, epoch=1)
OTHER = VoteRequest(source=S2, dest=S1, epoch=1)
REQUEST_TREE = encode(REQUEST)
Node = record_class({"role": Role, "epoch": Int(0, 3), "leader": Opt[Server]}, name="Node")
NODE = Node(role=Role.FOLLOWER, epoch=1, leader=None)

KINDS: dict[str, Any] = {
    "None": None,
    "an identifier": S1,
    "an identifier of another type": V1,
    "a spawned identifier": Id.at(1),
    "a member of an enumeration": Role.FOLLOWER,
    "a number": 7,
    "an empty set": frozenset(),
    "a set": frozenset({S1}),
    "an empty sequence": seq_literal([]),
    "a sequence": seq_literal([S1]),
    "an empty map": map_literal([]),
    "a map on 1..1": map_literal([(1, S1)]),
    "a record": NODE,
    "a record of another type with the same fields": record_class(dict(Node.fields), name="Other")(
        role=Role.FOLLOWER, epoch=1, leader=None
    ),
    "a message": REQUEST,
}


def is_network(value: object) -> bool:
    """Whether a value is a network as a field stores it."""
    return isinstance(value, MessageSetValue | MessageBagValue)


def stored(declared: Any, literal: Any) -> Any:
    """`literal` as a field of type `declared` holds it."""
    return admitter(declared)(literal)


def comparable(drawn: tuple[Any, Any]) -> bool:
    """Whether the language ever compares two such values: Python's `False == 0` is an error there, of any depth."""
    left, right = drawn
    return left != right or text(encode(left)) == text(encode(right))


# A network is equal to a literal set or map, which no field of a network holds.
stored_alike = some.tuples(any_values, any_values).filter(
    lambda drawn: len(set(map(is_network, drawn))) == 1 and comparable(drawn)
)


class TestEquality:
    @pytest.mark.parametrize(("left", "right"), [(a, b) for a in KINDS for b in KINDS if a != b])
    def test_values_of_different_kinds_are_different(self, left: str, right: str) -> None:
        assert KINDS[left] != KINDS[right]

    @pytest.mark.slow
    @given(typed_pairs)
    def test_equal_values_have_equal_hashes(self, drawn: tuple[Type, Any, Any]) -> None:
        _, left, right = drawn
        assert left != right or hash(left) == hash(right)

    @pytest.mark.slow
    @given(typed_values)
    def test_a_value_made_again_is_equal(self, drawn: tuple[Type, Any]) -> None:
        declared, value = drawn
        again = admitter(declared)(decode(encode(value), declared))
        assert again == value
        assert hash(again) == hash(value)

    @given(some.permutations([REQUEST, OTHER, FetchOk(source=S1, dest=S2, entries=1)]))
    def test_a_network_does_not_know_the_order_of_sending(self, messages: list[Any]) -> None:
        network = set_of_messages([])
        for message in messages:
            network = network.send(message)
        assert network == set_of_messages(reversed(messages))
        assert hash(network) == hash(set_of_messages(reversed(messages)))

    @pytest.mark.parametrize(
        ("changed", "made"),
        [
            (set_of_messages([REQUEST, OTHER]).discard(REQUEST), set_of_messages([OTHER])),
            (set_of_messages([REQUEST]).send(REQUEST).send(OTHER), set_of_messages([OTHER, REQUEST])),
            (set_of_messages([REQUEST, OTHER]).keep(lambda m: m == REQUEST), set_of_messages([REQUEST])),
            (bag_of_messages([(REQUEST, 1)]).add(REQUEST), bag_of_messages([(REQUEST, 2)])),
            (bag_of_messages([(REQUEST, 1)]).take(REQUEST), bag_of_messages([(REQUEST, 0)])),
            (bag_of_messages([]).add_all([OTHER, REQUEST]).take(OTHER), bag_of_messages([(REQUEST, 1), (OTHER, 0)])),
            (bag_of_messages([(REQUEST, 2)]).with_images([OTHER]), bag_of_messages([(OTHER, 2)])),
        ],
    )
    def test_a_network_does_not_know_how_it_came_about(self, changed: Any, made: Any) -> None:
        assert (changed, hash(changed)) == (made, hash(made))

    def test_a_map_does_not_know_the_order_of_its_keys(self) -> None:
        one, other = map_literal([(S1, 1), (S2, 2)]), map_literal([(S2, 2), (S1, 1)])
        assert (one, hash(one)) == (other, hash(other))

    @pytest.mark.parametrize(
        ("network", "literal"),
        [
            (set_of_messages([]), frozenset()),
            (set_of_messages([REQUEST]), frozenset({REQUEST})),
            (bag_of_messages([]), map_literal([])),
            (bag_of_messages([(REQUEST, 2)]), map_literal([(REQUEST, 2)])),
        ],
    )
    def test_a_network_is_equal_to_its_literal_from_either_side(self, network: Any, literal: Any) -> None:
        assert network == literal
        assert literal == network

    @pytest.mark.parametrize(
        ("network", "literal"),
        [
            (set_of_messages([REQUEST]), frozenset()),
            (set_of_messages([]), map_literal([])),
            (bag_of_messages([(REQUEST, 2)]), map_literal([(REQUEST, 1)])),
            (bag_of_messages([]), frozenset()),
            (bag_of_messages([(REQUEST, 1)]), set_of_messages([REQUEST])),
        ],
    )
    def test_a_network_differs_from_another_literal(self, network: Any, literal: Any) -> None:
        assert network != literal
        assert literal != network

    def test_a_stored_sequence_is_equal_to_its_literal(self) -> None:
        literal = seq_literal([1, 2])
        assert stored(Seq[Int(0, 3), 4], literal) == literal
        assert hash(stored(Seq[Int(0, 3), 4], literal)) == hash(literal)


class TestImmutability:
    @pytest.mark.parametrize("value", [NODE, REQUEST, S1, Role.FOLLOWER, seq_literal([1]), frozenset({1})])
    @pytest.mark.parametrize("name", ["epoch", "title", "new"])
    def test_no_attribute_can_be_assigned(self, value: Any, name: str) -> None:
        before = repr(value)
        with pytest.raises(AttributeError):
            setattr(value, name, 1)
        assert repr(value) == before

    @pytest.mark.parametrize(
        "value",
        [NODE, seq_literal([1]), map_literal([(S1, 1)]), set_of_messages([REQUEST]), bag_of_messages([(REQUEST, 1)])],
    )
    def test_no_element_can_be_assigned_or_deleted(self, value: Any) -> None:
        with pytest.raises(TypeError):
            value[S1] = 1
        with pytest.raises(TypeError):
            del value[S1]

    def test_operations_leave_what_they_are_called_on(self) -> None:
        m, log, net, bag = map_literal([(S1, 1)]), seq_literal([1]), set_of_messages([REQUEST]), bag_of_messages([])
        m.set(S1, 2), m.add(S2, 2), m.without(S1), log.append(2), log.upto(0), net.send(OTHER), net.discard(REQUEST)
        bag.add(REQUEST).take(REQUEST)
        NODE.set(epoch=3)
        assert (m, log, net, bag) == (
            map_literal([(S1, 1)]),
            seq_literal([1]),
            set_of_messages([REQUEST]),
            bag_of_messages([]),
        )
        assert NODE.epoch == 1


class TestDisplay:
    @pytest.mark.parametrize(
        ("value", "expected"),
        [
            (None, "Nil"),
            (True, "TRUE"),
            (-2, "-2"),
            (S1, "s1"),
            (Id.at(2), "2"),
            (Role.FENCED_LEADER, "FencedLeader"),
            (frozenset({S2, S1}), "{s1, s2}"),
            (frozenset({frozenset({S2, S1}), frozenset()}), "{{}, {s1, s2}}"),
            (seq_literal([2, 1]), "<<2, 1>>"),
            (map_literal([(S2, 1), (S1, 2)]), "(s1 :> 2 @@ s2 :> 1)"),
            (map_literal([(2, S2), (1, S1)]), "<<s1, s2>>"),
            (map_literal([]), "<<>>"),
            (NODE, "[role |-> Follower, epoch |-> 1, leader |-> Nil]"),
            (REQUEST, "[type |-> VoteRequest, source |-> s1, dest |-> s2, epoch |-> 1]"),
            (set_of_messages([OTHER, REQUEST]), f"{{{text(encode(REQUEST))}, {text(encode(OTHER))}}}"),
            (bag_of_messages([(REQUEST, 0)]), f"({text(encode(REQUEST))} :> 0)"),
        ],
    )
    def test_a_value_is_shown_as_in_tla(self, value: Any, expected: str) -> None:
        assert text(encode(value)) == expected

    @pytest.mark.slow
    @given(typed_pairs)
    def test_values_of_one_type_look_equal_only_if_they_are(self, drawn: tuple[Type, Any, Any]) -> None:
        _, left, right = drawn
        assert (text(encode(left)) == text(encode(right))) == (left == right)


class TestOrder:
    @pytest.mark.slow
    @given(stored_alike)
    def test_two_values_are_at_one_place_only_if_equal(self, drawn: tuple[Any, Any]) -> None:
        left, right = drawn
        assert (sort_key(left) == sort_key(right)) == (left == right)

    @pytest.mark.slow
    @given(typed_pairs)
    def test_two_values_of_one_type_are_at_one_place_only_if_equal(self, drawn: tuple[Type, Any, Any]) -> None:
        _, left, right = drawn
        assert (sort_key(left) == sort_key(right)) == (left == right)

    @pytest.mark.parametrize(("left", "right"), [(False, 0), (True, 1), (frozenset({True}), frozenset({1}))])
    def test_a_boolean_comes_before_the_number_that_python_takes_it_for(self, left: Any, right: Any) -> None:
        assert sort_key(left) < sort_key(right)

    @pytest.mark.slow
    @given(stored_alike)
    def test_of_two_values_one_comes_first(self, drawn: tuple[Any, Any]) -> None:
        left, right = drawn
        before, after = sort_key(left) < sort_key(right), sort_key(right) < sort_key(left)
        assert before + after + (left == right) == 1

    @pytest.mark.slow
    @given(some.lists(any_values, min_size=3, max_size=3))
    def test_the_order_goes_on_over_what_lies_between(self, drawn: list[Any]) -> None:
        first, middle, last = map(sort_key, drawn)
        assert not (first < middle < last) or first < last

    @pytest.mark.slow
    @given(some.lists(any_values, max_size=5), some.randoms(use_true_random=False))
    def test_the_display_order_does_not_depend_on_the_order_before(self, drawn: list[Any], random: Any) -> None:
        mixed = drawn.copy()
        random.shuffle(mixed)
        assert ordered(mixed) == ordered(drawn)

    def test_a_set_has_one_place_however_it_lies_in_memory(self) -> None:
        # 0 and 8 want the same place in a small hash table, so they lie there in the order in which they came.
        one, other = frozenset([0, 8]), frozenset([8, 0])
        assert list(one) != list(other)
        assert sort_key(one) == sort_key(other)

    def test_kinds_come_one_after_the_other(self) -> None:
        network, bag = set_of_messages([REQUEST]), bag_of_messages([(REQUEST, 1)])
        kinds = [None, True, 0, S1, seq_literal([S1]), frozenset({S1}), map_literal([(S1, 1)]), NODE, network, bag]
        assert ordered(reversed(kinds)) == kinds

    def test_what_is_not_a_value_has_no_place(self) -> None:
        with pytest.raises(TypeError, match="not a value of the spec language"):
            sort_key("text")


class TestTla:
    def test_a_spawned_identifier_is_a_number_and_another_one_a_name(self) -> None:
        assert (encode(Id.at(2)), encode(S1)) == (2, "s1")

    @pytest.mark.slow
    @pytest.mark.parametrize("naming", [Naming(), Naming(lower_camel_case, "mtype")], ids=["as in Python", "camelCase"])
    @given(drawn=typed_values)
    def test_a_value_written_as_tla_is_read_back(self, naming: Naming, drawn: tuple[Type, Any]) -> None:
        declared, value = drawn
        assert admitter(declared)(decode(encode(value, naming), declared, naming)) == value

    @pytest.mark.slow
    @given(typed_values)
    def test_what_is_read_back_is_written_alike(self, drawn: tuple[Type, Any]) -> None:
        declared, value = drawn
        tree = encode(value)
        assert encode(decode(tree, declared)) == tree

    @pytest.mark.parametrize(
        ("declared", "tree"),
        [
            (Bool, 1),
            (Int(0, 3), True),
            (Int(0, 3), 4),
            (Int(0, 3), -1),
            (Server, "s9"),
            (Id, True),
            (Id, 4),
            (Set[Server], TlaSeq(("s1",))),
            (Seq[Server, 3], TlaSet(("s1",))),
            (Map[Server, Bool], TlaSet(())),
            (Opt[Int(0, 3)], "nil"),
            (Int(0, 3) | Server, "Nil"),
            (Server | VoteRequest, TlaRecord((("source", "s1"),))),
            (VoteRequest, TlaRecord((("type", "VoteResponse"), ("source", "s1"), ("dest", "s2"), ("epoch", 1)))),
            (VoteRequest, TlaRecord((("source", "s1"), ("dest", "s2"), ("epoch", 1)))),
            (MessageBag[VoteRequest], TlaMap(((REQUEST_TREE, -1),))),
            (MessageBag[VoteRequest], TlaMap(((REQUEST_TREE, True),))),
            (MessageSet[VoteRequest], TlaSet(("Nil",))),
        ],
    )
    def test_a_tree_outside_of_the_type_is_refused(self, declared: Any, tree: Tla) -> None:
        with pytest.raises(TraceError) as caught:
            decode(tree, as_type(declared, "here"))
        assert caught.value.code == "KMC411"

    def test_a_function_on_the_first_numbers_is_a_sequence(self) -> None:
        assert function([(1, "a"), (2, "b")]) == TlaSeq(("a", "b"))
        assert function([(0, "a"), (1, "b")]) == TlaMap(((0, "a"), (1, "b")))
        assert decode(TlaSeq((True, False)), Map[Int(1, 2), Bool]) == map_literal([(1, True), (2, False)])

    def test_a_text_of_an_error_has_at_most_eighty_characters(self) -> None:
        assert shortened("a" * 80) == "a" * 80
        assert shortened("a" * 81) == "a" * 77 + "..."


class TestAdmission:
    @pytest.mark.slow
    @given(typed_values)
    def test_a_stored_value_is_admitted_as_it_is(self, drawn: tuple[Type, Any]) -> None:
        declared, value = drawn
        assert admitter(declared)(value) == value

    def test_a_record_derived_later_may_stand_for_its_base(self) -> None:
        base = record_class({"epoch": Int(0, 3)}, name="Base")
        holder = record_class({"item": base, "others": Set[base]}, name="Holder")
        derived = record_class({"more": Bool}, base, "Derived")
        value = derived(epoch=1, more=True)
        assert holder(item=value, others=frozenset({value})).item == value

    def test_a_message_derived_later_may_travel(self) -> None:
        base = record_class({"source": Server, "dest": Server}, Message, "Base")
        network = stored(MessageSet[base], frozenset())
        derived = record_class({"more": Bool}, base, "Derived")
        assert len(network.send(derived(source=S1, dest=S1, more=True))) == 1

    def test_the_first_wrong_element_in_display_order_is_named(self) -> None:
        with pytest.raises(DomainError, match="v1 is not in Server"):
            stored(Set[Server], frozenset({V2, V1}))


SWAPS = swaps([Server, Value])


class TestPermutation:
    def test_all_permutations_of_all_types_are_there_the_identity_first(self) -> None:
        assert len(SWAPS) == 6 * 2
        assert all(member == image for member, image in SWAPS[0].items())

    @pytest.mark.slow
    @given(any_values)
    def test_the_identity_changes_nothing(self, value: Any) -> None:
        assert permute(value, SWAPS[0], {}) == value

    @pytest.mark.slow
    @given(any_values, some.sampled_from(SWAPS), some.sampled_from(SWAPS))
    def test_one_permutation_after_another_is_their_product(self, value: Any, first: Swap, second: Swap) -> None:
        both = {member: second[image] for member, image in first.items()}
        assert permute(permute(value, first, {}), second, {}) == permute(value, both, {})

    @pytest.mark.slow
    @given(any_values, some.sampled_from(SWAPS))
    def test_the_inverse_takes_back(self, value: Any, swap: Swap) -> None:
        inverse = {image: member for member, image in swap.items()}
        assert permute(permute(value, swap, {}), inverse, {}) == value

    @pytest.mark.slow
    @given(typed_pairs, some.sampled_from(SWAPS))
    def test_different_values_stay_different(self, drawn: tuple[Type, Any, Any], swap: Swap) -> None:
        _, left, right = drawn
        memo: dict[Any, Any] = {}
        assert (permute(left, swap, memo) == permute(right, swap, memo)) == (left == right)

    @pytest.mark.slow
    @given(typed_values, some.sampled_from(SWAPS))
    def test_a_permuted_value_is_in_the_domain(self, drawn: tuple[Type, Any], swap: Swap) -> None:
        declared, value = drawn
        image = permute(value, swap, {})
        assert admitter(declared)(image) == image
        assert hash(admitter(declared)(image)) == hash(image)

    def test_the_images_of_equal_maps_admit_what_the_maps_admit(self) -> None:
        swap: Swap = {S1: S2, S2: S1}
        memo: dict[Any, Any] = {}
        pairs = map_literal([(member, 1) for member in Server])
        small, large = (admitter(as_type(Map[Server, Int(0, most)], "a map"))(pairs) for most in (1, 9))
        assert permute(small, swap, memo) == permute(large, swap, memo)
        assert permute(large, swap, memo).set(S1, 9)[S1] == 9
        with pytest.raises(DomainError, match="9"):
            permute(small, swap, memo).set(S1, 9)

    def test_only_identifiers_are_permuted(self) -> None:
        swap = {S1: S2, S2: S1, S3: S3}
        node = Node(role=Role.CANDIDATE, epoch=2, leader=S1)
        assert permute(node, swap, {}) == node.set(leader=S2)
        assert permute(map_literal([(S1, V1)]), swap, {}) == map_literal([(S2, V1)])
        assert permute(pair(S1, S3), swap, {}) == pair(S2, S3)
