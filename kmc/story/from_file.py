"""The story of a trace file alone, without its spec: from its values, and nothing else.

Processes are the keys that several functions share, and the ends of records in sets. The file does not say which
message a step receives, so messages are only sent and gone. Any trace has a story; if no process is recognized, it is a
table of changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from kmc.lang.tla import NIL, Tla, TlaMap, TlaRecord, TlaSeq, TlaSet
from kmc.story.parts.changes import changes_between
from kmc.story.parts.in_words import field_in_words, in_words
from kmc.story.parts.network import kind_with_ends
from kmc.story.parts.notation import Notation
from kmc.story.parts.story import Change, LaneColumn, SentMessage, Story, StoryLoop, StoryStep, Why, first_step
from kmc.trace.trees import identity
from kmc.trace.untyped_trace import UNNAMED, FileStep, TraceFile

_COLUMNS_MAX = 5
_ENDS = (("source", "dest"), ("msource", "mdest"), ("src", "dst"), ("from", "to"), ("sender", "receiver"))
_TAGS = ("type", "mtype", "tag", "kind")


def story_of_file(file: TraceFile) -> Story:
    """The story of a trace whose spec is not at hand."""
    teller = FileTeller.of(file.variables, file.steps)
    steps: list[StoryStep] = []
    before: Mapping[str, Tla] | None = None
    for position, step in enumerate(file.steps, start=1):
        steps.append(teller.step(position, step, before))
        before = steps[-1].variables
    steps[0] = first_step(steps[0], file.about)
    loop = None
    if file.loop is not None:
        closing = teller.step(len(steps) + 1, file.closing, before) if file.closing is not None else None
        loop = StoryLoop(file.loop + 1, closing)
    note = "Told without its spec: which message a step receives, and why the property fails, are not known."
    return replace(teller.story(tuple(steps), file.about, loop), why=_why(file), notes=(note,))


def _functions_of_lanes(variables: Mapping[str, Tla]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The variables that are functions on one set of at least two names, the set that most share, and its names."""
    domains = {name: domain for name, value in variables.items() if len(domain := _domain(value)) > 1}
    shared = Counter(frozenset(domain) for domain in domains.values()).most_common(1)
    if not shared or shared[0][1] < 2:
        return (), ()
    functions = tuple(name for name, domain in domains.items() if frozenset(domain) == shared[0][0])
    return functions, tuple(domains[functions[0]])


def _domain(value: Tla) -> list[str]:
    """The names or numbers that a function is on; empty for anything else."""
    pairs = value.pairs if isinstance(value, TlaMap) else value.fields if isinstance(value, TlaRecord) else ()
    keys = [key for key, _ in pairs]
    return [str(key) for key in keys] if all(isinstance(key, str | int) for key in keys) else []


def _is_network(value: Tla | None) -> bool:
    """Whether a value is a set, or a bag, of records with two ends."""
    return any(_ends(record) is not None for record, _ in _records(value))


def _records(value: Tla | None) -> list[tuple[TlaRecord, int]]:
    """The records in a set, or in a bag with the count of each."""
    match value:
        case TlaSet(elements):
            return [(element, 1) for element in elements if isinstance(element, TlaRecord)]
        case TlaMap(pairs):
            return [(k, n) for k, n in pairs if isinstance(k, TlaRecord) and isinstance(n, int)]
        case _:
            return []


def _ends(record: TlaRecord) -> tuple[str, str] | None:
    """The fields that hold the ends of a message, if it is one."""
    names = {name for name, _ in record.fields}
    return next((ends for ends in _ENDS if names.issuperset(ends)), None)


def _columns(of_lane: Sequence[str], first: Mapping[str, Tla]) -> tuple[LaneColumn, ...]:
    return tuple(LaneColumn(name, name, _holds_sequences(first[name])) for name in of_lane[:_COLUMNS_MAX])


def _holds_sequences(value: Tla) -> bool:
    return isinstance(value, TlaMap) and all(isinstance(item, TlaSeq) for _, item in value.pairs)


def _why(file: TraceFile) -> Why | None:
    """The failure that the file records."""
    name, status = file.about.get("property"), file.about.get("status")
    if name is None and status is None:
        return None
    return Why(name, "", "", (), (), f"{name} fails ({status})." if name and status else f"{name or status}.")


@dataclass(slots=True)
class FileTeller:
    """Tells the steps of a trace in order from their values, and follows the records in its networks."""

    variables: tuple[str, ...]
    of_lane: tuple[str, ...]
    columns: tuple[LaneColumn, ...]
    networks: tuple[str, ...]
    lanes: tuple[str, ...]
    notation: Notation
    messages: list[SentMessage] = field(default_factory=list)
    _there: dict[tuple[str, object], list[int]] = field(default_factory=dict)

    @classmethod
    def of(cls, variables: Sequence[str], steps: Sequence[FileStep], notation: Notation = Notation.WORDS) -> FileTeller:
        """Return a teller that knows the processes and networks of some steps of a trace, the first one among them."""
        first = steps[0].variables
        of_lane, keys = _functions_of_lanes(first)
        networks = tuple(name for name in variables if any(_is_network(step.variables.get(name)) for step in steps))
        teller = cls(tuple(variables), of_lane, _columns(of_lane, first), networks, keys, notation)
        teller.lanes = tuple(dict.fromkeys((*keys, *sorted(teller.ends_in(steps)))))
        return teller

    @property
    def compared(self) -> tuple[str, ...]:
        """The variables that are not networks."""
        return tuple(name for name in self.variables if name not in self.networks)

    def fork(self) -> FileTeller:
        """Return a teller of another continuation of the trace; it does not change the story of this one."""
        there = {key: list(copies) for key, copies in self._there.items()}
        return replace(self, messages=list(self.messages), _there=there)

    def knows(self, variables: Mapping[str, Tla]) -> bool:
        """Return whether all processes and networks of a state are among those of the story."""
        networks = {name for name in self.variables if _is_network(variables.get(name))}
        return networks <= {*self.networks} and self.ends_in([FileStep(variables)]) <= {*self.lanes}

    def story(self, steps: tuple[StoryStep, ...], about: Mapping[str, str], loop: StoryLoop | None) -> Story:
        """Return the story with these steps, all told by this teller."""
        return Story(
            about=dict(about),
            variables=self.variables,
            lanes=self.lanes,
            columns=self.columns,
            steps=steps,
            messages=tuple(self.messages),
            networks=self.networks,
            of_lane=self.of_lane,
            loop=loop,
            notation=self.notation,
        )

    def with_functions(self, variables: Mapping[str, Tla]) -> dict[str, Tla]:
        """Return the variables as the steps of the story have them: functions of processes are not records."""
        return {name: self._as_function(name, value) for name, value in variables.items()}

    def ends_in(self, steps: Sequence[FileStep]) -> set[str]:
        """All ends of messages."""
        ends: set[str] = set()
        for step in steps:
            for network in self.networks:
                for record, _ in _records(step.variables.get(network)):
                    values = dict(record.fields)
                    ends |= {in_words(values[end]) for end in _ends(record) or ()}
        return ends

    def lane_at(self, path: Sequence[str]) -> str | None:
        """The process that a place belongs to: the first part of its path with the name of one."""
        return next((key for key in path[1:] if key in self.lanes), None)

    def step(self, number: int, step: FileStep, before: Mapping[str, Tla] | None) -> StoryStep:
        """The step that leads to state `number`."""
        variables = self.with_functions(step.variables)
        sent = self._messages(number, variables)
        changes = (
            ()
            if before is None
            else changes_between(before, variables, self.compared, self.lane_at, self.notation.shown)
        )
        arguments = tuple((name, self.notation.shown(value)) for name, value in step.arguments)
        ends = [in_words(value) for _, value in step.arguments]
        return StoryStep(
            number=number,
            action=step.action,
            label=_label(step, number, arguments),
            arguments=arguments,
            actor=self._actor(ends, changes),
            received=None,
            sent=sent,
            lost=(),
            changes=changes,
            doc="",
            place=f"{step.location.path}:{step.location.line}" if step.location is not None else "",
            variables=variables,
        )

    def _as_function(self, name: str, value: Tla) -> Tla:
        """A record whose fields are processes is a function of them: some formats do not distinguish the two."""
        return TlaMap(value.fields) if name in self.of_lane and isinstance(value, TlaRecord) else value

    def _actor(self, arguments: Sequence[str], changes: Sequence[Change]) -> str | None:
        named = next((value for value in arguments if value in self.lanes), None)
        changed = {change.lane for change in changes if change.lane is not None}
        return named if named is not None else changed.pop() if len(changed) == 1 else None

    def _messages(self, number: int, variables: Mapping[str, Tla]) -> tuple[int, ...]:
        """The numbers of the messages that are new in a state."""
        sent: list[int] = []
        for network in self.networks:
            now = {(network, identity(record)): (record, count) for record, count in _records(variables.get(network))}
            for key, copies in self._there.items():
                while key[0] == network and len(copies) > now.get(key, (None, 0))[1]:
                    gone = copies.pop(0) - 1
                    self.messages[gone] = replace(self.messages[gone], gone_at=number)
            for key, (record, count) in now.items():
                copies = self._there.setdefault(key, [])
                while len(copies) < count:
                    sent.append(len(self.messages) + 1)
                    copies.append(sent[-1])
                    self.messages.append(_message(record, sent[-1], number, self.notation))
        return tuple(sent)


def _label(step: FileStep, number: int, arguments: Sequence[tuple[str, str]]) -> str:
    if step.action is None:
        return "Initial state" if number == 1 else UNNAMED
    return f"{step.action}({', '.join(value for _, value in arguments)})" if arguments else step.action


def _message(record: TlaRecord, number: int, at: int, notation: Notation) -> SentMessage:
    values = dict(record.fields)
    ends = _ends(record)
    source, dest = (_end(values[end]) for end in ends) if ends is not None else (None, None)
    tag = next((name for name in _TAGS if isinstance(values.get(name), str)), "")
    kind = in_words(values[tag]) if tag else "message"
    left_out = {tag, *(ends or ())}
    fields = tuple((field_in_words(n, tag), notation.shown(v)) for n, v in record.fields if n not in left_out)
    details = [f"{field_in_words(n, tag)} {v}" for n, v in record.fields
               if n not in left_out and isinstance(v, int) and not isinstance(v, bool)]  # fmt: skip
    brief = ", ".join([kind_with_ends(kind, source, dest), *details[:1]])
    return SentMessage(number, kind, source, dest, fields, brief, at, value=record)


def _end(value: Tla) -> str | None:
    """A sender or receiver, None for Nil."""
    return None if value == NIL else in_words(value)
