"""Networks: sets of messages, and bags that keep delivered messages with count 0.

Both are immutable, and messages are compared by value. Adding a message to a set twice adds it once (kip_996's
network). A bag counts deliveries and never forgets a message, like the function from messages to counts of some TLA+
specs. A network that has been stored in a field knows its type and admits only its messages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, Self

from kmc.errors import EvaluationError
from kmc.lang.guards import truth
from kmc.lang.maps import MapValue

_HASH_MASK = (1 << 61) - 1


class NetworkDomain(Protocol):
    """The type of a network, which decides the message classes, the number of messages, and the largest count."""

    classes: frozenset[type]
    capacity: int
    count_max: int

    def refuse(self, message: Any, size: int, count: int) -> None:
        """Raise DomainError if one of these three is outside its domain."""


class _Network:
    """Messages and their counts; the common part of sets and bags."""

    __slots__ = ("_by_class", "_counts", "_hash", "domain")

    def __init__(self, counts: dict[Any, int], hash_sum: int, domain: NetworkDomain | None) -> None:
        self._counts = counts
        self._hash = hash_sum
        self._by_class: dict[type, list[Any]] | None = None
        self.domain = domain

    def deliverable(self, message_class: Any) -> list[Any]:
        """The messages of all shapes of `message_class` that can be received."""
        if self._by_class is None:
            index: dict[type, list[Any]] = {}
            for message, count in self._counts.items():
                if count:
                    index.setdefault(type(message), []).append(message)
            self._by_class = index
        if len(message_class.shapes) == 1:
            return self._by_class.get(message_class.shapes[0], [])
        return [message for shape in message_class.shapes for message in self._by_class.get(shape, ())]

    def _with(self, changes: Iterable[tuple[Any, int]]) -> Self:
        counts = self._counts.copy()
        total = self._hash
        domain = self.domain
        for message, count in changes:
            if domain is not None and (type(message) not in domain.classes or count > domain.count_max):
                domain.refuse(message, 0, count)
            old = counts.get(message)
            if old is not None:
                total -= hash((message, old))
            total += hash((message, count))
            counts[message] = count
        if domain is not None and len(counts) > domain.capacity:
            domain.refuse(None, len(counts), 0)
        return type(self)(counts, total & _HASH_MASK, domain)

    def with_images(self, images: Iterable[Any]) -> Self:
        """The network with its messages, in the order of iteration, replaced by `images`, which are admissible too."""
        counts = dict(zip(images, self._counts.values(), strict=True))
        return type(self)(counts, sum(map(hash, counts.items())) & _HASH_MASK, self.domain)

    def __contains__(self, message: object) -> bool:
        return message in self._counts

    def __iter__(self) -> Iterator[Any]:
        return iter(self._counts)

    def __len__(self) -> int:
        return len(self._counts)

    def __eq__(self, other: object) -> bool:
        """Equal as sets of messages, or as functions from messages to counts; also to a literal of the source."""
        if isinstance(other, _Network):
            return type(other) is type(self) and self._counts == other._counts
        return self._equals_literal(other)

    def _equals_literal(self, other: object) -> bool:
        raise NotImplementedError

    def __hash__(self) -> int:
        return self._hash


class MessageSetValue(_Network):
    """A set of messages."""

    __slots__ = ()

    def send(self, message: Any) -> MessageSetValue:
        """The set with `message`."""
        return self if message in self._counts else self._with(((message, 1),))

    def send_all(self, messages: Iterable[Any]) -> MessageSetValue:
        """The set with all of `messages`."""
        return self._with([(message, 1) for message in messages if message not in self._counts])

    def discard(self, message: Any) -> MessageSetValue:
        """The set without `message`, whether or not it was there."""
        return self.keep(lambda other: other != message) if message in self._counts else self

    def keep(self, wanted: Callable[[Any], bool]) -> MessageSetValue:
        """The messages for which `wanted` holds."""
        kept = {message: 1 for message in self._counts if truth(wanted(message))}
        total = sum(hash((message, 1)) for message in kept)
        return MessageSetValue(kept, total & _HASH_MASK, self.domain)

    def of(self, message_class: Any) -> frozenset[Any]:
        """The messages of all shapes of `message_class`."""
        return frozenset(self.deliverable(message_class))

    def _equals_literal(self, other: object) -> bool:
        return isinstance(other, frozenset) and self._counts.keys() == other

    def __repr__(self) -> str:
        return "{" + ", ".join(map(repr, self._counts)) + "}"


class MessageBagValue(_Network):
    """A function from messages to delivery counts; iterates its domain, messages with count 0 included."""

    __slots__ = ()

    def count(self, message: Any) -> int:
        """The number of times that `message` can still be delivered; 0 if it was never sent."""
        return self._counts.get(message, 0)

    def add(self, message: Any) -> MessageBagValue:
        """One more delivery of `message`."""
        return self._with(((message, self._counts.get(message, 0) + 1),))

    def add_all(self, messages: Iterable[Any]) -> MessageBagValue:
        """One more delivery of each of the different `messages`."""
        different = dict.fromkeys(messages)
        return self._with([(message, self._counts.get(message, 0) + 1) for message in different])

    def take(self, message: Any) -> MessageBagValue:
        """One delivery less; the message stays with count 0. EvaluationError when its count is 0."""
        if self._counts.get(message, 0) == 0:
            raise EvaluationError(
                "KMC232", "this message cannot be delivered: its count is 0", help="guard with bag.count(m) > 0"
            )
        return self._with(((message, self._counts[message] - 1),))

    def of(self, message_class: Any) -> frozenset[Any]:
        """The messages of all shapes of `message_class`, delivered ones included."""
        return frozenset(message for message in self._counts if isinstance(message, message_class))

    def counts(self) -> Iterable[tuple[Any, int]]:
        """The messages with their counts, in no meaningful order."""
        return self._counts.items()

    def _equals_literal(self, other: object) -> bool:
        return isinstance(other, MapValue) and self._counts == dict(other.items())

    def __repr__(self) -> str:
        return "(" + " @@ ".join(f"{message!r} :> {count}" for message, count in self._counts.items()) + ")"


def set_of_messages(messages: Iterable[Any], domain: NetworkDomain | None = None) -> MessageSetValue:
    """The set of `messages`."""
    return MessageSetValue({}, 0, domain).send_all(messages)


def bag_of_messages(counts: Iterable[tuple[Any, int]], domain: NetworkDomain | None = None) -> MessageBagValue:
    """The bag with the given counts."""
    return MessageBagValue({}, 0, domain)._with(counts)
