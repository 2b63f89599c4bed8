"""A story: a trace in terms of processes and messages, from which every view for people is drawn.

A *lane* is a process, named by its value in words: it sends or receives messages, or has a record in a map of the
state. States are numbered from 1, as TLC numbers them; the first step is the initial state. Texts are ready to be
shown: values look as in `kmc.story.parts.in_words`, and a spawned identifier, whose TLA+ name is a number, carries a
letter (`s1`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from kmc.lang.tla import Tla
from kmc.story.parts.notation import Notation
from kmc.trace.untyped_trace import GIVEN


@dataclass(frozen=True, slots=True)
class Change:
    """A place of the state that a step changed, down to the field: `log`, `n1`, `[3]`, `epoch`.

    `path` begins with the TLA+ variable. `lane` is the process that the place belongs to, None for a variable of the
    whole system. `old` is None for an addition, `new` for a removal: an element of the set at `path` if `of_set`, else
    the key or the offset that `path` ends with. The contents of a network are not listed here: they are `sent`,
    `received` and `lost` messages.
    """

    path: tuple[str, ...]
    lane: str | None
    old: str | None
    new: str | None
    of_set: bool = False

    @property
    def place(self) -> str:
        """`log[3].epoch of n1`."""
        rest = list(self.path)
        if self.lane is not None:
            del rest[rest.index(self.lane, 1)]
        place = ".".join(rest).replace(".[", "[")
        return f"{place} of {self.lane}" if self.lane is not None else place


@dataclass(frozen=True, slots=True)
class SentMessage:
    """A message that was sent once, `number` counted in the order of sending.

    `fields` omit both ends. `brief` is `FetchRequest n1 -> n2, epoch 2`; an end that it does not have is None.
    `sent_at` is the state in whose network the message first is; `received_at` are the states that its deliveries
    lead to, `lost_at` the state from which it is gone without a delivery. `gone_at` is the state from which no copy of
    it is left, None while one can still be delivered. `value` is the whole record, as states hold it.
    """

    number: int
    kind: str
    source: str | None
    dest: str | None
    fields: tuple[tuple[str, str], ...]
    brief: str
    sent_at: int
    received_at: tuple[int, ...] = ()
    lost_at: int | None = None
    gone_at: int | None = None
    value: Tla = ""

    @property
    def name(self) -> str:
        """The name of the message in views: `m3`."""
        return f"m{self.number}"


@dataclass(frozen=True, slots=True)
class StoryStep:
    """A state and the step that led to it.

    `label` names the step, with the ends of a message that was received: `HandleBeginQuorumRequest n1 -> n2, epoch 2`,
    and with the parameters that are not fields of it: `Promise(a1) p1 -> any, epoch 2`. `actor` is the lane that acts,
    None if no single process does. `received`, `sent` and `lost` are numbers of messages. `doc` is the first line of
    the action's docstring, `place` its source place (`lock/spec.py:9`). A step that does not matter for the failure
    has `matters` False, and the reason in `note`. `variables` is the state that the step leads to. `majorities` are
    lines: which votes the action counted as one. `abstract` is what the step is in the spec that a refinement names:
    `voting: Vote(a1)`.
    """

    number: int
    action: str | None
    label: str
    arguments: tuple[tuple[str, str], ...]
    actor: str | None
    received: int | None
    sent: tuple[int, ...]
    lost: tuple[int, ...]
    changes: tuple[Change, ...]
    doc: str
    place: str
    variables: Mapping[str, Tla]
    matters: bool = True
    note: str = ""
    majorities: tuple[str, ...] = ()
    abstract: str = ""

    @property
    def has_sent(self) -> str:
        """The verb for the messages of a step: a first state holds the messages that are under way there."""
        return "holds" if self.number == 1 else "sends"


def first_step(step: StoryStep, about: Mapping[str, str]) -> StoryStep:
    """The first state of a trace, with the label of one that a person gave where `about` says so."""
    return replace(step, label="Given state") if about.get("start") == GIVEN else step


@dataclass(frozen=True, slots=True)
class LaneColumn:
    """A column of the table of processes: a `title`, and the TLA+ variable whose value at a lane it shows.

    `fields` lead into a record there: `("epoch",)` for `node.epoch`. With `length`, the length of that sequence is
    shown, and its last element beside it.
    """

    title: str
    variable: str
    length: bool = False
    fields: tuple[str, ...] = ()

    def shows(self, path: Sequence[str]) -> bool:
        """Whether a change of this path, which begins with a variable and a lane, is shown by the column."""
        inside = tuple(path[2:])
        both = min(len(inside), len(self.fields))
        return path[0] == self.variable and inside[:both] == self.fields[:both]


@dataclass(frozen=True, slots=True)
class ComparedValue:
    """An expression of a property and its value where the property fails: `node1.leader`, `n1`."""

    expression: str
    value: str


@dataclass(frozen=True, slots=True)
class Why:
    """The reason why a property fails: its name, docstring and place, and the instance of it that fails.

    `instance` are the values of its bound variables (`s`, `n1`), `compared` those that decide it in the last state.
    `sentence` says the same in one line, or describes the failure if there is no property (a deadlock, an error).
    `step` says how the last step changed the compared places, or which action a lasso lacks; it is empty if that adds
    nothing.
    """

    property: str | None
    doc: str
    place: str
    instance: tuple[tuple[str, str], ...]
    compared: tuple[ComparedValue, ...]
    sentence: str
    step: str = ""

    def beside_the_sentence(self) -> tuple[ComparedValue, ...]:
        """The values, without those that the sentence lists as they are, as it does of a deadlock."""
        return tuple(value for value in self.compared if f"{value.expression}: {value.value}" not in self.sentence)


@dataclass(frozen=True, slots=True)
class StoryLoop:
    """The infinite continuation of a behaviour: after the last state comes state `back_to` again, by the step
    `closing`.

    `closing` is None where the behaviour stutters in its last state. `fairness` are lines: why the cycle is fair. One
    that belongs to the line before it is indented.
    """

    back_to: int
    closing: StoryStep | None
    fairness: tuple[str, ...] = ()
    fails_from: int | None = None


@dataclass(frozen=True, slots=True)
class Story:
    """The whole trace for people. `about` is that of the trace file (spec, model, status, property, ...).

    `variables` are in the order of display; those in `networks` hold messages that can be received, those in `archives`
    messages that were. A lane's records are the variables in `of_lane`, functions of the lane. `spec_word` names the
    spec on a command line (`./reg`), empty without it; `commands` lead here again, if a command did. `watched` are
    variables that are not of the spec: expressions that a person watches. `notation` is that of values in
    texts.
    """

    about: Mapping[str, str]
    variables: tuple[str, ...]
    lanes: tuple[str, ...]
    columns: tuple[LaneColumn, ...]
    steps: tuple[StoryStep, ...]
    messages: tuple[SentMessage, ...]
    networks: tuple[str, ...] = ()
    archives: tuple[str, ...] = ()
    of_lane: tuple[str, ...] = ()
    loop: StoryLoop | None = None
    why: Why | None = None
    notes: tuple[str, ...] = field(default=())
    spec_word: str = ""
    commands: tuple[str, ...] = ()
    watched: tuple[str, ...] = ()
    notation: Notation = Notation.WORDS

    def messages_removed(self, step: StoryStep) -> tuple[SentMessage, ...]:
        """The messages that a step removes from a network, delivered or not; not those that it is known to lose."""
        return tuple(m for m in self.messages if m.gone_at == step.number and m.number not in step.lost)

    def message(self, number: int) -> SentMessage:
        """The message with this number."""
        return self.messages[number - 1]

    def arrow(self, message: SentMessage, step: StoryStep) -> tuple[str | None, str | None]:
        """The processes between which a diagram draws `message`, which `step` receives or loses.

        A message without a receiver goes to the process that receives it, one without ends from the one that sends it.
        """
        source, dest = message.source, message.dest
        if source is None and dest is None:
            source = self.steps[message.sent_at - 1].actor
        if dest is None and step.received == message.number:
            dest = step.actor
        return source, dest
