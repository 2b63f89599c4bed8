"""A session: one person's way through the states of a model, as a history of trees, and the searches it starts.

Invariant: commands of one session take effect one after another. A search reads the state it begins at, and its result
is one more command once it has ended; until then the person can go on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from operator import is_not
from threading import Lock
from typing import Any, assert_never

from kmc.errors import CommandLineError, InternalError, KmcError
from kmc.explorer.commands import (
    Begin,
    Bookmark,
    GoTo,
    HideExpression,
    LongCommand,
    QuickCommand,
    Redo,
    RunUntil,
    ShowExpression,
    TakeMove,
    Undo,
    WalkRandomly,
    refused,
)
from kmc.explorer.explored_model import ExploredModel, MovesOfState
from kmc.explorer.ground import Ground
from kmc.explorer.judging import failing
from kmc.explorer.search_terms import SeekLimits, SeekProgress, SeekResult, WaitedFor
from kmc.explorer.seeking import Seeker
from kmc.explorer.state_tree import VISITED_MAX, StateTree, TreeHistory, VisitedState
from kmc.explorer.telling_paths import PathTeller, ToldState
from kmc.explorer.watching import Watching
from kmc.result import TraceStep
from kmc.story.parts.story import StoryLoop
from kmc.views.page.data import page_data

INITIAL_STATES_MAX = 10_000
"""The greatest number of initial states that are listed."""
STATES_MAX = 10_000_000
SECONDS_MAX = 600.0


class InitialStates:
    """The initial states of a model, made as they are needed."""

    def __init__(self, explored: ExploredModel) -> None:
        self._made: list[Any] = []
        self._coming: Iterator[Any] = explored.initial_states()
        self._error: KmcError | None = None
        self._lock = Lock()

    def first(self, count: int) -> list[Any]:
        """The first `count` states, fewer where there are no more; KmcError where the spec fails."""
        with self._lock:
            missing = max(0, min(count, INITIAL_STATES_MAX) - len(self._made))
            if missing and self._error is not None:
                raise self._error
            try:
                self._made.extend(islice(self._coming, missing))
            except KmcError as error:  # the iterator has ended: whoever asks later meets the same error
                self._error = error
                raise
            return self._made[:count]


@dataclass(slots=True)
class RunningSearch:
    """A search that was started from a state: its goal, its progress, and its result once it has ended."""

    number: int
    start: int
    sentence: str
    progress: SeekProgress = field(default_factory=SeekProgress)
    result: SeekResult | None = None
    error: KmcError | None = None

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self.result is not None or self.error is not None


@dataclass(frozen=True, slots=True)
class ToldLine:
    """The states from the initial one on, as a story's steps and as data for the page; `number` is new for each.

    `watched` are the texts of the expressions whose values it has.
    """

    number: int
    told: tuple[ToldState, ...]
    watched: tuple[str, ...]
    data: dict[str, Any]


class ExplorerSession:
    """One person's session. Its methods may be called from any thread."""

    def __init__(self, ground: Ground, initial: InitialStates) -> None:
        self.ground = ground
        self.initial = initial
        self.lock = Lock()
        self.history = TreeHistory(present=ground.opening)
        self.search: RunningSearch | None = None
        self.explored = ground.explored
        self.teller = PathTeller(ground.explored)
        self.watching = Watching(ground.explored, ground.watched)
        self._failing: dict[int, tuple[VisitedState, tuple[str, ...]]] = {}
        """Compare by identity, with the state itself, so that no other object gets its identity."""
        self._moves: tuple[Any, MovesOfState] | None = None
        self._lines = 0
        self._line: ToldLine | None = None

    @property
    def tree(self) -> StateTree:
        """The visited states, and the current one."""
        return self.history.present

    def told_line(self, line: tuple[VisitedState, ...]) -> ToldLine:
        """A line with its story, which is made anew only if the line, or the watched expressions, have changed."""
        told, texts = tuple(self.teller.explained(line)), self.watching.texts
        known = self._line
        if (
            known is None
            or known.watched != texts
            or len(known.told) != len(told)
            or any(map(is_not, known.told, told))
        ):
            self._lines += 1
            story = replace(self.teller.story(line, self.ground.about), loop=self._cycle_of(told))
            self._line = known = ToldLine(self._lines, told, texts, page_data(self.watching.beside(story, line)))
        return known

    def _cycle_of(self, told: Sequence[ToldState]) -> StoryLoop | None:
        """The cycle of the trace that was opened, where the line is that trace."""
        cycle = self.ground.cycle
        if cycle is None or [state.visited.number for state in told] != list(range(cycle.length)):
            return None
        last = told[-1]
        closing = None if cycle.closing is None else last.teller.fork().step(
            last.visited.state, cycle.closing, cycle.length + 1, None
        )  # fmt: skip
        return StoryLoop(cycle.back_to, closing)

    def moves(self) -> MovesOfState:
        """The moves that are possible and impossible in the current state; there must be such a state."""
        here = self.here()
        if self._moves is None or self._moves[0] is not here.state:
            self._moves = (here.state, self.explored.moves(here.state))
        return self._moves[1]

    def failing(self, visited: VisitedState) -> tuple[str, ...]:
        """The properties that fail in a visited state of the tree, or on the step to it."""
        known = self._failing.get(id(visited))
        if known is None or known[0] is not visited:
            before = None if visited.parent is None else self.tree.visited[visited.parent].state
            known = (visited, failing(self.explored.judged(before, visited.state)))
            self._failing[id(visited)] = known
        return known[1]

    def here(self) -> VisitedState:
        """The state in which the person is; CommandLineError KMC670 before an initial state was chosen."""
        if self.tree.here is None:
            raise refused("no initial state has been chosen", "choose one from the list")
        return self.tree.here

    def begin_at_once(self) -> None:
        """Begin in the first initial state, without a command that could be undone."""
        first = TraceStep(self.initial.first(1)[0])
        self.history = TreeHistory(present=StateTree().after_steps([(first, None)]))

    def carry_out(self, command: QuickCommand) -> None:
        """Carry out a command; KmcError KMC670 for a state or move that is not there, or as of `kmc eval` for an
        expression.
        """
        match command:
            case Undo():
                self.history = self.history.undone()
            case Redo():
                self.history = self.history.redone()
            case ShowExpression(text):
                self.watching.show(text, self.tree.path(self.tree.at))
            case HideExpression(text):
                self.watching.hide(text)
            case _:
                self.history = self.history.then(self._changed(command))

    def _changed(self, command: Begin | TakeMove | GoTo | Bookmark) -> StateTree:
        tree = self.tree
        match command:
            case Begin(initial):
                states = self.initial.first(initial + 1)
                if initial >= len(states):
                    raise refused(f"the model has no initial state number {initial + 1}", "choose one from the list")
                return tree.restarted().after_steps([(TraceStep(states[initial]), None)])
            case TakeMove(at, index):
                if at != tree.at:
                    raise refused("the session has moved on to another state", "load the page again")
                moves = self.moves().enabled
                if index >= len(moves):
                    raise refused(f"this state has no move number {index + 1}", "choose one from the list")
                return tree.after_steps([(moves[index].step, moves[index].message)])
            case GoTo(to):
                return tree.restarted() if to is None else tree.moved(self._visited(to))
            case Bookmark(of, name):
                return tree.named(self._visited(of), name.strip()[:80])
            case _:
                assert_never(command)

    def _visited(self, number: int) -> int:
        if number >= len(self.tree.visited):
            raise refused(f"state {number} has not been visited", "choose one from the tree")
        return number

    def start_search(self, command: LongCommand) -> RunningSearch:
        """A search from where the person is, to be run by `run_search`; at most one runs in a session."""
        if self.search is not None and not self.search.is_over:
            raise refused("a search is running", "cancel it first, or wait until it has ended")
        here = self.here()
        if isinstance(command, WalkRandomly):
            steps = min(command.steps, VISITED_MAX)
            sentence = f"random walk of {steps} steps, seed {command.seed}"
        else:
            sentence = f"run until {self._wanted(command).sentence}"
        number = self.search.number + 1 if self.search is not None else 1
        self.search = RunningSearch(number, here.number, sentence)
        return self.search

    def _wanted(self, command: RunUntil) -> WaitedFor:
        if not command.name and command.what != "property":
            raise refused("there is nothing to wait for", "name it")
        return self.explored.wanted(command.what, command.name)

    def run_search(self, search: RunningSearch, command: LongCommand, start: Any) -> None:
        """Run a search to its end, without the lock, and go where it found something, with the lock."""
        try:
            result = self._seek(search, command, start)
        except KmcError as error:
            search.error = error
            return
        except Exception as error:
            message = f"a search ended with an unexpected error: {type(error).__name__}: {error}"
            search.error = InternalError("KMC935", message, help="report this, with the spec and the command")
            return
        with self.lock:
            try:
                if result.steps:  # from a state that is still there: no command removes one
                    self.history = self.history.then(self.tree.moved(search.start).after_steps(result.steps))
                search.result = result
            except CommandLineError as error:
                search.error = error

    def _seek(self, search: RunningSearch, command: LongCommand, start: Any) -> SeekResult:
        seeker = Seeker(self.explored)
        match command:
            case WalkRandomly(steps, seed):
                limits = SeekLimits(VISITED_MAX, SECONDS_MAX)
                return seeker.at_random(start, None, min(steps, VISITED_MAX), seed, limits, search.progress)
            case RunUntil(how=how, states=states, seed=seed):
                wanted = self._wanted(command)
                limits = SeekLimits(min(max(states, 1), STATES_MAX), SECONDS_MAX)
                if how == "random":
                    return seeker.at_random(start, wanted, 200, seed, limits, search.progress)
                return self.explored.shortest_way(start, wanted, limits, search.progress)
            case _:
                assert_never(command)

    def cancel(self) -> None:
        """Let the running search end, if there is one."""
        if self.search is not None:
            self.search.progress.is_cancelled = True
