"""Networks of a corpus, read message by message: most messages of a state are in other states too.

Invariant: a network that is read here is encoded as the corpus has it. Any other is left to the code that reads whole
variables, whose errors name the difference.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kmc.errors import KmcError
from kmc.lang.networks import bag_of_messages, set_of_messages
from kmc.lang.tla import Naming, decode, encode
from kmc.lang.types import MessageBagType, MessageSetType, RecordType, Type, UnionType
from kmc.reference.conformance.corpus import canonical_text, raw_text, value_of


class NetworkReader:
    """Reads the networks of one spec's states and remembers their messages."""

    def __init__(self, naming: Naming) -> None:
        self._naming = naming
        self._messages: dict[tuple[tuple[RecordType, ...], str], Any] = {}
        self._texts: dict[Any, str] = {}

    def read(self, declared: Type, raw: Any, text: str) -> Any:
        """Return the network that `raw` represents, whose text is `text`; None unless it comes back as it was."""
        try:
            match declared, raw:
                case MessageSetType(kinds), {"#set": [*elements]}:
                    network: Any = set_of_messages([self._message(kinds, element) for element in elements])
                    own = f'{{"#set":[{_joined(self._text(message) for message in network)}]}}'
                # TLC writes the empty function as a sequence.
                case MessageBagType(kinds), {"#map": [_, *_] as pairs}:
                    network = bag_of_messages([(self._message(kinds, raw_key), _count(n)) for raw_key, n in pairs])
                    counts = (f"[{self._text(message)},{count}]" for message, count in network.counts())
                    own = f'{{"#map":[{_joined(counts)}]}}'
                case _:
                    return None
        except (KmcError, TypeError, ValueError):
            return None
        return network if own == text else None

    def _message(self, kinds: tuple[RecordType, ...], raw: Any) -> Any:
        key = kinds, raw_text(raw)
        if key not in self._messages:
            self._messages[key] = decode(value_of(raw), UnionType(kinds, False), self._naming)
        return self._messages[key]

    def _text(self, message: Any) -> str:
        text = self._texts.get(message)
        if text is None:
            text = self._texts[message] = canonical_text(encode(message, self._naming))
        return text


def _count(raw: Any) -> int:
    if type(raw) is not int or raw < 0:
        raise ValueError("not a count")
    return raw


def _joined(texts: Iterable[str]) -> str:
    return ",".join(sorted(texts))
