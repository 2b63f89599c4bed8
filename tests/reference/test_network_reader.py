"""Networks of a corpus that are read message by message are those that are read whole, and others are not read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.drawing.values import VoteRequest

from kmc.lang.tla import PYTHON_NAMING, decode
from kmc.lang.types import MessageBagType, MessageSetType, RecordType
from kmc.reference.conformance.corpus import value_of
from kmc.reference.conformance.network_reader import NetworkReader

KINDS = (RecordType(VoteRequest),)
SET, BAG = MessageSetType(KINDS, 9), MessageBagType(KINDS, 9, 9)


def message(epoch: Any) -> dict[str, Any]:
    """A message as a corpus has it."""
    return {"dest": "s1", "epoch": epoch, "source": "s2", "type": "VoteRequest"}


def read(declared: Any, raw: Any) -> Any:
    return NetworkReader(PYTHON_NAMING).read(declared, raw, json.dumps(raw, separators=(",", ":")))


@pytest.mark.parametrize(
    ("declared", "raw"),
    [
        (SET, {"#set": []}),
        (SET, {"#set": [message(0), message(3)]}),
        (BAG, {"#map": [[message(1), 0], [message(2), 3]]}),
    ],
)
def test_a_network_is_read_message_by_message(declared: Any, raw: Any) -> None:
    found = read(declared, raw)
    assert found is not None
    assert found == decode(value_of(raw), declared, PYTHON_NAMING)


@pytest.mark.parametrize(
    ("declared", "raw"),
    [
        (SET, {"#set": [message(3), message(0)]}),
        (SET, {"#set": [message(0), message(0)]}),
        (SET, {"#set": [message(9)]}),
        (SET, {"#set": [message(True)]}),
        (SET, {"#set": [message(0)], "more": 1}),
        (SET, {"#map": [[message(0), 1]]}),
        (BAG, {"#map": [[message(2), 1], [message(1), 1]]}),
        (BAG, {"#map": [[message(1), 1], [message(1), 2]]}),
        (BAG, {"#map": [[message(1), True]]}),
        (BAG, {"#map": [[message(1), -1]]}),
        (BAG, {"#map": [[message(1)]]}),
        (BAG, {"#map": [5]}),
        (BAG, {"#map": []}),
    ],
)
def test_a_network_that_does_not_come_back_as_it_was_is_not_read(declared: Any, raw: Any) -> None:
    assert read(declared, raw) is None
