"""The interface of a model to the explorer: its states, steps, verdicts and explanations, in any spec language.

Invariant: the session, the page and the searches know a model only by `ExploredModel`. Names, places and predicates are
those of its `Model`; whatever runs or explains something is a method. A state is an immutable value that can be hashed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from kmc.errors import KmcError
from kmc.explorer.judging import JudgedProperty
from kmc.explorer.search_terms import SeekLimits, SeekProgress, SeekResult, WaitedFor
from kmc.frontend.model import Model
from kmc.lang.tla import Tla
from kmc.result import Trace, TraceStep
from kmc.story.explain.obstacles import Obstacle
from kmc.story.parts.story import SentMessage, Story, StoryLoop, StoryStep
from kmc.trace.untyped_trace import TraceFile


@dataclass(frozen=True, slots=True)
class Move:
    """A step that a state allows; `ways` is how often the next-state relation generates it."""

    step: TraceStep
    message: Any = None
    ways: int = 1


@dataclass(frozen=True, slots=True)
class MovesOfState:
    """The steps of a state, whether some action has none, and the actions whose evaluation fails, by their labels."""

    enabled: tuple[Move, ...]
    has_disabled: bool
    failing: tuple[tuple[str, KmcError], ...] = ()


@dataclass(frozen=True, slots=True)
class FailureReason:
    """Why a property fails: a sentence, which may be empty, and the names and values that decide it."""

    sentence: str
    pairs: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ExpressionWords:
    """The words of the page for expressions: their kind with an article, an example, and the two truth values.

    `truth` is the text of false, then that of true.
    """

    kind: str
    example: str
    truth: tuple[str, str]


@dataclass(frozen=True, slots=True)
class OpenedTrace:
    """The steps of a trace that the model allows, its infinite continuation, its facts, and notes for the person.

    `loop` is the number of the state, counted from 1, that follows the last one by the step `closing`; None for a trace
    that ends, or of which some steps are not allowed.
    """

    steps: tuple[TraceStep, ...]
    about: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    loop: int | None = None
    closing: TraceStep | None = None


class WatchedExpression(Protocol):
    """An expression over a state that a person watches."""

    @property
    def text(self) -> str:
        """The expression as it was typed, without blanks around it."""
        ...

    def shown_in(self, state: Any) -> Tla:
        """Return its value in a state; KmcError where it has none."""
        ...


class StoryTeller(Protocol):
    """Tells the steps of one trace in order. `fork` returns a teller of another continuation of the same trace."""

    @property
    def messages(self) -> Sequence[SentMessage]:
        """The messages of the states explained so far, by number."""
        ...

    def fork(self) -> StoryTeller:
        """Return a teller of another continuation; it does not change the story of this one."""
        ...

    def knows_lanes_of(self, state: Any) -> bool:
        """Return whether the story has all processes that occur in a state."""
        ...

    def step(self, before: Any | None, step: TraceStep, number: int, message: Any | None = None) -> StoryStep:
        """Return the step that leads from `before` to state `number`, and receives `message` if that is known."""
        ...

    def story(self, steps: Sequence[StoryStep], about: Mapping[str, str], loop: StoryLoop | None = None) -> Story:
        """Return the story of these steps, all of which this teller has explained."""
        ...


class ExploredModel(Protocol):
    """A model that a person walks. Its methods may be called from any thread."""

    @property
    def model(self) -> Model:
        """Its names, properties and places, to be read only."""
        ...

    @property
    def action_names(self) -> Sequence[str]:
        """The names of its actions, each once."""
        ...

    @property
    def expression_words(self) -> ExpressionWords:
        """The words of the page for expressions."""
        ...

    def initial_states(self) -> Iterator[Any]:
        """Enumerate the different initial states; KmcError if there is none, or where the model fails."""
        ...

    def values_of(self, state: Any) -> Mapping[str, str]:
        """Return the variables of a state with their values as texts."""
        ...

    def moves(self, state: Any) -> MovesOfState:
        """Return all that can and cannot happen in a state, in an order that depends on values only."""
        ...

    def obstacles(self, state: Any) -> Sequence[Obstacle]:
        """Return why each action that is not enabled in a state is not."""
        ...

    def judged(self, before: Any | None, state: Any) -> Iterator[JudgedProperty]:
        """Yield each property with its verdict on a state, and on the step to it from `before` if that is given."""
        ...

    def is_inside(self, before: Any | None, state: Any) -> bool:
        """Return whether a search goes on in a state: all constraints are true, of the state and of the step to it."""
        ...

    def why_fails(self, name: str, before: Any | None, state: Any) -> FailureReason:
        """Explain why a property that was judged as failing fails."""
        ...

    def teller(self, states: Sequence[Any]) -> StoryTeller:
        """Return a teller of a trace; the processes of its story are those that occur in `states`, some of its own."""
        ...

    def expression(self, text: str) -> WatchedExpression:
        """Read an expression over a state; KmcError for a mistake in it."""
        ...

    def wanted(self, what: str, name: str) -> WaitedFor:
        """Return the condition that a property fails, a goal is reached, an action is enabled, or an expression is
        true; CommandLineError KMC670 or KMC671 for one that the model does not have.
        """
        ...

    def shortest_way(self, start: Any, wanted: WaitedFor, limits: SeekLimits, progress: SeekProgress) -> SeekResult:
        """Return the shortest way from a state to where a condition is met, within the constraints."""
        ...

    def trace_file(self, trace: Trace, status: str, violated: str | None, *, is_start_given: bool) -> TraceFile:
        """Return a trace in the form for files, as `kmc.trace.files.trace_file`."""
        ...
