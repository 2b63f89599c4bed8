"""A story as data for the page's scripts: JSON, each value of the states once.

Values are interned: `values` lists each different one, in which parts are indices of others, and a state maps its
variables to indices. Equal values have equal indices, so that scripts find changes by comparing numbers, and a state
costs little more than the changes of its step.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any, TypeAlias, assert_never

from kmc.lang.tla import Tla, TlaMap, TlaRecord, TlaSeq, TlaSet, TlaText, quoted
from kmc.story.parts.lanes import at_lane, in_column
from kmc.story.parts.notation import Notation
from kmc.story.parts.story import Change, LaneColumn, SentMessage, Story, StoryStep

Json: TypeAlias = "bool | int | str | list[Json] | dict[str, Json] | None"

_LIMIT_NAMES = frozenset({"highwatermark", "hwm", "commitindex"})
"""The names for the length of the committed part of a log, in a title of a column or in a variable's name."""


def page_data(story: Story) -> dict[str, Any]:
    """The story for `window.kmc`: see `values.js` for how scripts read it."""
    values = Values(story.notation)
    steps = [step_data(step, values) for step in story.steps]
    loop, committed = story.loop, committed_column(story)
    return {
        "notation": story.notation.value,
        "about": dict(sorted(story.about.items())),
        "variables": list(story.variables),
        "lanes": list(story.lanes),
        "columns": [asdict(column) for column in story.columns],
        "networks": list(story.networks),
        "archives": list(story.archives),
        "watched": list(story.watched),
        "ofLane": list(story.of_lane),
        "logs": [asdict(log) for log in logs_of(story)],
        "committed": None if committed is None else asdict(committed),
        "steps": steps,
        "messages": [_message_data(message, values) for message in story.messages],
        "loop": None if loop is None else {
            "backTo": loop.back_to,
            "closing": None if loop.closing is None else step_data(loop.closing, values),
            "fairness": list(loop.fairness),
            "failsFrom": loop.fails_from,
        },
        "why": None if story.why is None else asdict(story.why),
        "notes": list(story.notes),
        "values": values.listed,
    }  # fmt: skip


class Values:
    """The different values, in `listed`; a part of a value precedes the value.

    `[kind, ...]` with `set`, `seq` (indices of elements), `map` (of keys and values in turn), `rec` (names and indices
    in turn); anything else is written as it is.
    """

    def __init__(self, notation: Notation = Notation.WORDS) -> None:
        self._notation = notation
        self.listed: list[Json] = []
        self._known: dict[tuple[object, ...], int] = {}
        self._seen: dict[int, tuple[Tla, int]] = {}
        """Compare by identity: states share the objects that no step between them has changed."""

    def index(self, tree: Tla) -> int:
        """The index of a value, listed now if it was not."""
        seen = self._seen.get(id(tree))
        if seen is None:
            self._seen[id(tree)] = seen = (tree, self._index(tree))
        return seen[1]

    def _index(self, tree: Tla) -> int:
        match tree:
            case TlaText() if self._notation is Notation.TLA:
                return self._of(("text", tree), quoted(tree))
            case bool() | int() | str():
                return self._of((type(tree).__name__, tree), tree)
            case TlaSet(elements):
                indices = [self.index(element) for element in elements]
                return self._of(("set", frozenset(indices)), ["set", *indices])
            case TlaSeq(elements):
                return self._listed("seq", [self.index(element) for element in elements])
            case TlaMap(pairs):
                return self._listed("map", [self.index(inner) for pair in pairs for inner in pair])
            case TlaRecord(fields):
                return self._listed("rec", [inner for name, value in fields for inner in (name, self.index(value))])
            case _:
                assert_never(tree)

    def _listed(self, kind: str, items: list[Any]) -> int:
        return self._of((kind, *items), [kind, *items])

    def _of(self, key: tuple[object, ...], listed: Json) -> int:
        if key not in self._known:
            self._known[key] = len(self.listed)
            self.listed.append(listed)
        return self._known[key]


def step_data(step: StoryStep, values: Values) -> dict[str, Any]:
    """A step, with the state it leads to as indices into `values`."""
    return {
        "number": step.number,
        "action": step.action,
        "label": step.label,
        "arguments": [list(argument) for argument in step.arguments],
        "actor": step.actor,
        "received": step.received,
        "sent": list(step.sent),
        "lost": list(step.lost),
        "changes": [_change_data(change) for change in step.changes],
        "doc": step.doc,
        "place": step.place,
        "matters": step.matters,
        "note": step.note,
        "majorities": list(step.majorities),
        "abstract": step.abstract,
        "state": {name: values.index(tree) for name, tree in step.variables.items()},
    }


def _change_data(change: Change) -> dict[str, Any]:
    return {"path": list(change.path), "lane": change.lane, "old": change.old, "new": change.new}


def _message_data(message: SentMessage, values: Values) -> dict[str, Any]:
    return {
        "number": message.number,
        "kind": message.kind,
        "source": message.source,
        "dest": message.dest,
        "fields": [list(field) for field in message.fields],
        "brief": message.brief,
        "sentAt": message.sent_at,
        "receivedAt": list(message.received_at),
        "lostAt": message.lost_at,
        "goneAt": message.gone_at,
        "value": values.index(message.value),
    }


def logs_of(story: Story) -> tuple[LaneColumn, ...]:
    """The places that hold a sequence for every process in every state."""
    return tuple(
        place for place in _places(story) if all(_is_log(s.variables, place, story.lanes) for s in story.steps)
    )


def _places(story: Story) -> Iterator[LaneColumn]:
    """The variables of processes; of those that hold records, their fields."""
    first = story.steps[0].variables
    for name in story.of_lane:
        records = [at_lane(first[name], lane) for lane in story.lanes]
        fields = next((record.fields for record in records if isinstance(record, TlaRecord)), ())
        yield from (LaneColumn(f"{name}.{field}", name, fields=(field,)) for field, _ in fields)
        if not fields:
            yield LaneColumn(name, name)


def _is_log(state: Mapping[str, Tla], column: LaneColumn, lanes: Iterable[str]) -> bool:
    trees = [in_column(state, column, lane) for lane in lanes]
    present = [tree for tree in trees if tree is not None]
    return bool(present) and all(isinstance(tree, TlaSeq) for tree in present)


def committed_column(story: Story) -> LaneColumn | None:
    """The column with the number of committed entries of a process's log, recognized by its name or its title."""
    for column in (*story.columns, *_places(story)):
        if re.sub("[^a-z]", "", column.title.rpartition(".")[2].lower()) in _LIMIT_NAMES:
            return column
    return None
