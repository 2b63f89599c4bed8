"""Messages through a trace: where each was sent, delivered or lost.

A network is a field of the state that an action receives from; in a bag, a message with count 0 is not there. Beside a
network, any other field of messages is an archive of those that were processed. If no action receives, a field of
messages is a variable like any other: an action that removes a message from it may deliver it or lose it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kmc.frontend.loader import Spec
from kmc.lang.networks import MessageBagValue
from kmc.lang.order import ordered
from kmc.lang.records import Message, State
from kmc.lang.tla import Naming, encode
from kmc.lang.types import BoolType, IntType, MessageBagType, MessageSetType, Type
from kmc.story.parts.in_words import field_in_words, in_words
from kmc.story.parts.lanes import ends, lane_name
from kmc.story.parts.story import SentMessage


def network_fields(spec: Spec) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The fields of the state that messages are received from, and those that only keep messages.

    A network of plain records is neither: it is a variable like any other.
    """
    received = {action.network for action in spec.actions if action.network is not None}
    if not received:
        return (), ()
    fields = [f for f, t in spec.state_class.fields.items() if _is_network(t)]
    return tuple(f for f in fields if f in received), tuple(f for f in fields if f not in received)


def _is_network(declared: Type) -> bool:
    if not isinstance(declared, MessageSetType | MessageBagType):
        return False
    return any(issubclass(shape, Message) for record in declared.messages for shape in record.cls.shapes)


@dataclass(slots=True)
class Post:
    """Follows the messages of one trace: `step` once for each state, in order."""

    naming: Naming
    fields: Sequence[str]
    messages: list[SentMessage] = field(default_factory=list)
    _there: dict[tuple[str, Any], list[int]] = field(default_factory=dict)
    """The numbers of the copies of each message in each network that can still be delivered."""

    def fork(self) -> Post:
        """One that follows another continuation of the trace."""
        there = {key: list(copies) for key, copies in self._there.items()}
        return Post(self.naming, self.fields, list(self.messages), there)

    def step(
        self, number: int, state: State, received: Any | None
    ) -> tuple[int | None, tuple[int, ...], tuple[int, ...]]:
        """Take the state `number`: the numbers of the message received, of those sent, and of those lost."""
        taken, sent, lost = None, [], []
        for network in self.fields:
            now = _counts(getattr(state, network))
            if received is not None and taken is None and self._there.get((network, received)):
                taken = self._there[network, received][0]
                self._received(taken, number)
                if now.get(received, 0) < len(self._there[network, received]):
                    self._gone(self._there[network, received].pop(0), number)
            for message in ordered(frozenset(m for n, m in self._there if n == network)):
                copies = self._there[network, message]
                while len(copies) > now.get(message, 0):
                    lost.append(copies.pop(0))
                    self.messages[lost[-1] - 1] = replace(self.messages[lost[-1] - 1], lost_at=number)
                    self._gone(lost[-1], number)
            for message in ordered(frozenset(now)):
                copies = self._there.setdefault((network, message), [])
                while len(copies) < now[message]:
                    sent.append(self._send(message, number))
                    copies.append(sent[-1])
        return taken, tuple(sent), tuple(lost)

    def _received(self, number: int, at: int) -> None:
        message = self.messages[number - 1]
        self.messages[number - 1] = replace(message, received_at=(*message.received_at, at))

    def _gone(self, number: int, at: int) -> None:
        self.messages[number - 1] = replace(self.messages[number - 1], gone_at=at)

    def _send(self, message: Any, at: int) -> int:
        number = len(self.messages) + 1
        self.messages.append(_sent_message(message, number, at, self.naming))
        return number


def kind_with_ends(kind: str, source: str | None, dest: str | None) -> str:
    """`FetchRequest n1 -> n2`, or `? -> n2` without a sender, `n1 -> any` without a receiver; the kind without both."""
    return " ".join(filter(None, (kind, arrow_text(source, dest))))


def arrow_text(source: str | None, dest: str | None) -> str:
    """`n1 -> n2`; empty for a message without ends."""
    return "" if source is None and dest is None else f"{source or '?'} -> {dest or 'any'}"


def brief_of(message: Any, naming: Naming) -> str:
    """A message in a few words, for a story."""
    return _sent_message(message, 1, 1, naming).brief


def _counts(network: Any) -> dict[Any, int]:
    if isinstance(network, MessageBagValue):
        return {message: count for message, count in network.counts() if count}
    return dict.fromkeys(network, 1)


def _sent_message(message: Any, number: int, at: int, naming: Naming) -> SentMessage:
    cls: Any = type(message)
    source, dest = (None if end is None else lane_name(end, naming) for end in ends(message))
    named = ((n, field_in_words(naming.field(n), naming.tag), v) for n, v in message.items())
    of_ends = (cls.source_field, cls.dest_field) if isinstance(message, Message) else ()
    shown = [(n, name, v) for n, name, v in named if n not in of_ends]
    fields = tuple((name, in_words(encode(value, naming))) for _, name, value in shown)
    integers = [text for (n, _, _), text in zip(shown, fields, strict=True) if isinstance(cls.fields[n], IntType)]
    flags = [name if value else f"not {name}" for n, name, value in shown if isinstance(cls.fields[n], BoolType)]
    brief = kind_with_ends(cls.tag, source, dest)
    details = [" ".join(words) for words in integers[:1]] + flags
    value = encode(message, naming)
    return SentMessage(number, cls.tag, source, dest, fields, ", ".join([brief, *details]), at, value=value)
