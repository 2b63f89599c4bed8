"""Random states of a model, and random values of any type, without Hypothesis.

Hypothesis takes a tenth of a second to draw a state of many variables, since it records each choice in order to shrink
it. A test that needs many states, and shows the one that differs, draws them here.
"""

from __future__ import annotations

from random import Random
from typing import Any

from kmc.frontend.model import Model
from kmc.lang.admission import admitter
from kmc.lang.domains import members
from kmc.lang.maps import map_literal
from kmc.lang.networks import bag_of_messages, set_of_messages
from kmc.lang.seqs import seq_literal
from kmc.lang.types import (
    BoolType,
    EnumType,
    IdentType,
    IntType,
    MapType,
    MessageBagType,
    MessageSetType,
    PairType,
    RecordType,
    SeqType,
    SetType,
    Type,
    UnionType,
)

ELEMENTS_MAX = 3
"""Most elements of a set."""

MESSAGES_MAX = 4
"""Most different messages of a network."""


def random_state(model: Model, chance: Random) -> Any:
    """A state of a model, whether it reaches it or not."""
    state_class: Any = model.spec.state_class
    return random_value(RecordType(state_class), chance)


def random_value(declared: Type, chance: Random) -> Any:
    """A value of a type, as stored."""
    return admitter(declared)(_literal(declared, chance))


def _literal(declared: Type, chance: Random) -> Any:
    match declared:
        case BoolType() | IntType() | EnumType() | IdentType() | PairType():
            return chance.choice(list(members(declared)))
        case UnionType(alternatives, optional):
            chosen = chance.choice([*alternatives, *[None] * optional])
            return None if chosen is None else _literal(chosen, chance)
        case SetType(element):
            return frozenset(random_value(element, chance) for _ in range(chance.randint(0, ELEMENTS_MAX)))
        case SeqType(element, capacity):
            # Most logs are short, and some are full.
            length = min(capacity, chance.choice((0, 1, 2, chance.randint(0, capacity), capacity)))
            return seq_literal([_literal(element, chance) for _ in range(length)])
        case MapType(key, value, total):
            keys = list(members(key))
            chosen_keys = keys if total else chance.sample(keys, chance.randint(0, len(keys)))
            return map_literal((key, _literal(value, chance)) for key in chosen_keys)
        case RecordType(cls):
            shape = chance.choice(cls.shapes)
            return shape(**{field: _literal(kind, chance) for field, kind in shape.fields.items()})
        case MessageSetType(messages):
            return set_of_messages(_messages(messages, chance))
        case MessageBagType(messages):
            different = dict.fromkeys(_messages(messages, chance))
            return bag_of_messages((message, chance.randint(0, 3)) for message in different)


def _messages(kinds: tuple[Any, ...], chance: Random) -> list[Any]:
    declared = UnionType(kinds, False)
    return [random_value(declared, chance) for _ in range(chance.randint(0, MESSAGES_MAX))]
