"""Operations of records, messages, maps, sequences, networks and sets of identifiers, and what each refuses."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from support.drawing.values import (
    FetchDiverging,
    FetchOk,
    FetchResponse,
    Id,
    Role,
    Server,
    Value,
    VoteRequest,
    VoteResponse,
    record_class,
)

from kmc.errors import DomainError, EvaluationError, SpecError
from kmc.lang.admission import admitter
from kmc.lang.annotations import Bool, Int, Map, MessageBag, MessageSet, Opt, PartialMap, Seq
from kmc.lang.enums import Enum, EnumMeta
from kmc.lang.maps import map_literal
from kmc.lang.networks import bag_of_messages, set_of_messages
from kmc.lang.pairs import pair, pairs
from kmc.lang.seqs import seq_literal
from kmc.lang.set_ranges import subsets

S1, S2, S3 = Server
V1, V2 = Value
REQUEST = VoteRequest(source=S1, dest=S2, epoch=1)
OTHER = VoteRequest(source=S2, dest=S1, epoch=1)
Node = record_class({"role": Role, "epoch": Int(0, 3), "leader": Opt[Server]}, name="Node")
NODE = Node(role=Role.FOLLOWER, epoch=1, leader=None)


def stored(declared: Any, literal: Any) -> Any:
    """`literal` as a field of type `declared` holds it."""
    return admitter(declared)(literal)


class TestRecord:
    def test_a_field_that_is_set_changes_alone(self) -> None:
        assert NODE.set(epoch=2, leader=S1) == Node(role=Role.FOLLOWER, epoch=2, leader=S1)

    @pytest.mark.parametrize("name", ["count", "index", "sort", "fields_"])
    def test_a_name_that_is_not_a_field_has_no_value(self, name: str) -> None:
        with pytest.raises(AttributeError):
            getattr(NODE, name)

    def test_a_field_may_have_the_name_of_a_method_of_tuples(self) -> None:
        assert record_class({"count": Int(0, 3), "index": Int(0, 3)})(count=1, index=2).index == 2

    @pytest.mark.parametrize(
        "use",
        [
            lambda: NODE[1],
            lambda: len(NODE),
            lambda: list(NODE),
            lambda: 1 in NODE,
            lambda: NODE + NODE,
            lambda: NODE * 2,
            lambda: NODE < NODE,
            lambda: NODE >= NODE,
        ],
    )
    def test_a_record_is_not_a_tuple(self, use: Any) -> None:
        with pytest.raises(EvaluationError):
            use()

    @pytest.mark.parametrize(
        ("make", "code", "message"),
        [
            (lambda: Node(Role.FOLLOWER), "KMC211", "Node takes its fields by name"),
            (lambda: Node(role=Role.FOLLOWER, epoch=1, lead=None), "KMC212", "Node has no field 'lead'"),
            (lambda: Node(role=Role.FOLLOWER, epoch=1, leader=None, no=1), "KMC212", "Node has no field 'no'"),
            (lambda: NODE.set(epoch=1, lead=None), "KMC212", "Node has no field 'lead'"),
            (lambda: FetchResponse(source=S1, dest=S2), "KMC213", "FetchResponse is abstract"),
            (lambda: Node(role=Role.FOLLOWER, leader=None), "KMC214", "Node needs a value for 'epoch'"),
            (lambda: Node(role=Role.FOLLOWER, epoch=4, leader=None), "KMC201", "'epoch' of Node: 4 is not in 0..3"),
            (lambda: NODE.set(epoch=True), "KMC201", "'epoch' of Node: True is not in 0..3"),
            (lambda: NODE.set(leader=V1), "KMC201", "'leader' of Node: v1 is not in Server {s1, s2, s3} | None"),
        ],
    )
    def test_a_record_has_its_fields_and_values_of_their_domains(self, make: Any, code: str, message: str) -> None:
        with pytest.raises(EvaluationError) as caught:
            make()
        assert (caught.value.code, caught.value.message) == (code, message)

    @pytest.mark.parametrize(
        "name",
        ["set", "items", "fields", "shapes", "tag", "abstract", "kmc_type", "source_field", "dest_field", "_hidden"],
    )
    def test_a_name_of_an_attribute_of_records_is_not_one_of_a_field(self, name: str) -> None:
        with pytest.raises(SpecError, match=f"'{name}' cannot be the name of a field of Odd"):
            record_class({name: Int(0, 3)}, name="Odd")

    @pytest.mark.parametrize("name", ["title", "index", "members", "kmc_type"])
    def test_a_name_of_an_attribute_of_enumerations_is_not_one_of_a_member(self, name: str) -> None:
        with pytest.raises(SpecError, match=f"'{name}' cannot be the name of a member of Odd"):
            EnumMeta("Odd", (Enum,), {name: 0})

    def test_fields_are_inherited_in_front(self) -> None:
        assert list(FetchOk.fields) == ["source", "dest", "entries"]


class TestMessageShapes:
    ok = FetchOk(source=S1, dest=S2, entries=1)
    diverging = FetchDiverging(source=S1, dest=S2, offset=1, request=REQUEST)

    def test_an_abstract_message_has_the_shapes_that_derive_from_it(self) -> None:
        assert FetchResponse.shapes == (FetchOk, FetchDiverging)

    def test_all_shapes_share_the_type_of_their_base(self) -> None:
        assert {FetchOk.tag, FetchDiverging.tag} == {FetchResponse.tag} == {"FetchResponse"}

    def test_isinstance_tells_the_shapes_apart(self) -> None:
        assert isinstance(self.ok, FetchOk)
        assert not isinstance(self.ok, FetchDiverging)
        assert isinstance(self.ok, FetchResponse)
        assert not isinstance(REQUEST, FetchResponse)

    def test_the_network_gives_all_shapes_of_a_base(self) -> None:
        network = set_of_messages([self.ok, self.diverging, REQUEST])
        assert network.of(FetchResponse) == {self.ok, self.diverging}
        assert network.of(FetchOk) == {self.ok}

    def test_the_network_holds_back_messages_that_were_delivered(self) -> None:
        bag = bag_of_messages([(self.ok, 0), (self.diverging, 2)])
        assert bag.deliverable(FetchResponse) == [self.diverging]
        assert bag.of(FetchResponse) == {self.ok, self.diverging}


class TestMap:
    counts = stored(PartialMap[Server, Int(0, 3)], map_literal([(S1, 1), (S2, 2)]))

    def test_lookup(self) -> None:
        assert self.counts[S2] == 2

    def test_keys_length_and_membership(self) -> None:
        assert (self.counts.keys(), len(self.counts), S3 in self.counts) == ({S1, S2}, 2, False)

    def test_items_and_values(self) -> None:
        assert (dict(self.counts.items()), sorted(self.counts.values())) == ({S1: 1, S2: 2}, [1, 2])

    def test_set_changes_one_key(self) -> None:
        assert self.counts.set(S1, 3) == map_literal([(S1, 3), (S2, 2)])

    def test_add_and_without_are_opposites(self) -> None:
        assert self.counts.add(S3, 0).without(S3) == self.counts

    @pytest.mark.parametrize(
        ("use", "message"),
        [
            (lambda m: m[S3], "s3 is not a key of this map"),
            (lambda m: m[None], "None is not a key of this map"),
            (lambda m: m.set(S3, 1), "s3 is not a key of this map, so it cannot be changed"),
            (lambda m: m.add(S1, 1), "s1 is already a key of this map"),
            (lambda m: m.without(S3), "s3 is not a key of this map"),
            (lambda m: m.set(S1, 4), "s1 of this map: 4 is not in 0..3"),
            (lambda m: m.add(S3, -1), "s3 of this map: -1 is not in 0..3"),
            (lambda m: m.add(V1, 1), "v1 is not in Server {s1, s2, s3}"),
        ],
    )
    def test_what_a_map_refuses(self, use: Any, message: str) -> None:
        with pytest.raises(EvaluationError) as caught:
            use(self.counts)
        assert caught.value.message == message

    def test_a_key_is_removed_by_value(self) -> None:
        held = map_literal([(pair(S1, S2), 1), (pair(S1, S3), 2)])
        assert held.without(pair(S2, S1)) == map_literal([(pair(S1, S3), 2)])

    def test_a_total_map_has_every_key(self) -> None:
        with pytest.raises(DomainError, match="missing: s2, s3"):
            stored(Map[Server, Int(0, 3)], map_literal([(S1, 1)]))

    def test_a_map_without_a_key_may_still_be_stored_as_partial(self) -> None:
        total = stored(Map[Server, Bool], map_literal([(s, True) for s in Server]))
        assert stored(PartialMap[Server, Bool], total.without(S1)).keys() == {S2, S3}


class TestSeq:
    log = stored(Seq[Int(0, 9), 3], seq_literal([5, 6]))

    def test_offsets_count_from_one(self) -> None:
        assert [(o, self.log.at(o)) for o in self.log.offsets()] == [(1, 5), (2, 6)]

    def test_append_and_upto_are_opposites(self) -> None:
        assert self.log.append(7).upto(2) == self.log

    def test_membership_and_length(self) -> None:
        assert (5 in self.log, 7 in self.log, len(self.log)) == (True, False, 2)

    @pytest.mark.parametrize("offset", [0, 3, -1, True, None, S1])
    def test_no_element_is_outside_of_its_offsets(self, offset: Any) -> None:
        with pytest.raises(EvaluationError, match="has no offset"):
            self.log.at(offset)

    @pytest.mark.parametrize("length", [-1, 3, True, None])
    def test_no_prefix_is_longer_than_the_sequence(self, length: Any) -> None:
        with pytest.raises(EvaluationError, match="has no prefix"):
            self.log.upto(length)

    @pytest.mark.parametrize("name", ["count", "index"])
    def test_a_method_of_tuples_is_not_one_of_sequences(self, name: str) -> None:
        with pytest.raises(AttributeError):
            getattr(self.log, name)

    @pytest.mark.parametrize(
        "use",
        [
            lambda log: log[-1],
            lambda log: log[9:],
            lambda log: log + 1,
            lambda log: log * 2,
            lambda log: 2 * log,
            lambda log: log < log,
            lambda log: log >= log,
        ],
    )
    def test_a_sequence_has_no_operators_of_tuples(self, use: Any) -> None:
        with pytest.raises(EvaluationError):
            use(self.log)

    def test_an_append_past_the_capacity_is_refused(self) -> None:
        with pytest.raises(DomainError, match="holds at most 3 elements, but this append can make it 4"):
            self.log.append(7).append(8)

    def test_a_prefix_keeps_its_capacity(self) -> None:
        with pytest.raises(DomainError, match="holds at most 3"):
            self.log.upto(1).append(1).append(2).append(3)


class TestMessageSet:
    net = stored(MessageSet[VoteRequest | VoteResponse, 2], frozenset({REQUEST}))

    def test_sending_again_changes_nothing(self) -> None:
        assert self.net.send(REQUEST) == self.net

    def test_send_all_and_discard_are_opposites(self) -> None:
        assert self.net.send_all({OTHER, REQUEST}).discard(OTHER) == self.net

    def test_discarding_what_is_not_there_changes_nothing(self) -> None:
        assert self.net.discard(OTHER) == self.net

    def test_keep_filters(self) -> None:
        assert self.net.send(OTHER).keep(lambda m: m.source == S2) == frozenset({OTHER})

    def test_a_filtered_network_knows_its_messages(self) -> None:
        with pytest.raises(DomainError, match="VoteResponse, not FetchOk"):
            self.net.keep(lambda m: True).send(FetchOk(source=S1, dest=S1, entries=0))

    def test_a_network_past_its_capacity_is_refused(self) -> None:
        with pytest.raises(DomainError, match="holds at most 2 messages, but this step can make it 3"):
            self.net.send_all({VoteRequest(source=S3, dest=S1, epoch=e) for e in (1, 2)})


class TestMessageBag:
    bag = stored(MessageBag[VoteRequest, 2, 2], map_literal([(REQUEST, 1)]))

    def test_add_counts(self) -> None:
        added = self.bag.add(REQUEST).add(OTHER)
        assert (added.count(REQUEST), added.count(OTHER)) == (2, 1)

    def test_take_keeps_the_message_with_count_0(self) -> None:
        taken = self.bag.take(REQUEST)
        assert (taken.count(REQUEST), REQUEST in taken, len(taken)) == (0, True, 1)

    def test_a_message_that_was_never_sent_has_count_0(self) -> None:
        assert (self.bag.count(OTHER), OTHER in self.bag) == (0, False)

    def test_add_all_counts_each_once(self) -> None:
        assert dict(self.bag.add_all({REQUEST, OTHER}).counts()) == {REQUEST: 2, OTHER: 1}

    def test_a_message_kept_with_count_0_makes_another_bag(self) -> None:
        assert self.bag.take(REQUEST) != stored(MessageBag[VoteRequest, 2, 2], map_literal([]))

    def test_nothing_is_taken_from_count_0(self) -> None:
        with pytest.raises(EvaluationError, match="its count is 0"):
            self.bag.take(REQUEST).take(REQUEST)

    def test_a_count_past_its_bound_is_refused(self) -> None:
        with pytest.raises(DomainError, match="at most 2 times, but this step makes it 3"):
            self.bag.add(REQUEST).add(REQUEST)

    def test_a_bag_past_its_capacity_is_refused(self) -> None:
        with pytest.raises(DomainError, match="holds at most 2 messages, but this step can make it 3"):
            self.bag.add_all({VoteRequest(source=S3, dest=S1, epoch=e) for e in (1, 2)})

    def test_another_message_is_refused(self) -> None:
        with pytest.raises(DomainError, match="holds VoteRequest, not VoteResponse"):
            self.bag.add(VoteResponse(source=S1, dest=S1, granted=True, leader=None))


class TestSetsOfIdentifiers:
    def test_a_pair_has_no_order(self) -> None:
        assert pair(S1, S2) == pair(S2, S1)

    def test_a_pair_needs_two_members(self) -> None:
        with pytest.raises(EvaluationError, match="a pair needs two different members"):
            pair(S1, S1)

    def test_none_is_in_no_pair(self) -> None:
        with pytest.raises(EvaluationError, match="a pair is of identifiers, not None"):
            pair(None, S1)

    def test_a_set_with_none_has_no_pairs(self) -> None:
        with pytest.raises(EvaluationError, match="a pair is of identifiers, not None"):
            pairs({None})

    def test_pairs_are_all_of_two_different_members(self) -> None:
        assert pairs(Server) == {pair(S1, S2), pair(S1, S3), pair(S2, S3)}

    @given(some.sets(some.integers(0, 9), max_size=7))
    def test_a_set_has_two_to_the_power_of_its_size_subsets(self, elements: set[int]) -> None:
        found = list(subsets(elements))
        assert len(found) == len(set(found)) == 2 ** len(elements)
        assert all(subset <= elements for subset in found)

    def test_subsets_come_smallest_first(self) -> None:
        assert [len(subset) for subset in subsets(Server)] == [0, 1, 1, 1, 2, 2, 2, 3]

    def test_a_fresh_identifier_is_the_first_that_is_not_used(self) -> None:
        first, second, third = Id
        assert (Id.fresh(frozenset()), Id.fresh({first}), Id.fresh({first, third})) == (first, second, second)

    def test_there_is_no_fresh_identifier_when_all_are_used(self) -> None:
        with pytest.raises(EvaluationError, match="all 3 identifiers of Id are in use"):
            Id.fresh(set(Id))

    def test_a_type_of_identifiers_is_the_collection_of_its_members(self) -> None:
        assert (len(Server), list(Server), S1 in Server, V1 in Server) == (3, [S1, S2, S3], True, False)
