"""The search driver: the loop over levels, its limits, interrupts and progress, for every way of holding the levels.

A search is breadth first. A subclass makes the levels, in memory (`breadth_first.Search`) or in shards
(`kmc.shards.sharded_search.ShardedSearch`), saves them and counts; this class decides after each level whether the
search continues and what ends it. The search for a trace is the same driver over other levels (`go_to`).

Invariant: a level with a finding is finished, so counts, levels and findings depend on the model alone.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable

from kmc.engine.layout.search_outcome import SearchOutcome, Settings
from kmc.engine.native.signals import calling_on_signal
from kmc.errors import InternalError, SystemFault
from kmc.process import cpu_seconds
from kmc.reference.search_end import search_end
from kmc.result import Bound, Counters, Limits

PROGRESS_SECONDS = 1.0


class LevelSearch(ABC):
    """One run of a search; `progress` is called about once a second, in the calling thread."""

    ends_when_refuted = True
    """Whether the search itself ends at the level whose steps refute a temporal property; else see `ended_at`."""

    def __init__(self, settings: Settings, progress: Callable[[Counters], None] | None) -> None:
        self._settings = settings
        self._limits = settings.limits
        self._progress = progress
        self._began = self._reported = time.monotonic()
        self._seconds_before, self._cpu_before, self._cpu_began = 0.0, 0.0, cpu_seconds()
        self._cpu_elsewhere = 0.0
        self._stopped: Bound | None = None
        self._stopping = self._interrupted = False
        self.target: int | None = None
        """The level to which a search for a trace goes; None for any other search."""

    # The members that a subclass supplies.

    @property
    @abstractmethod
    def depth(self) -> int:
        """The number of levels that have states, whether their rows are kept or not."""

    @property
    @abstractmethod
    def _distinct(self) -> int:
        """The number of states of all levels."""

    @property
    @abstractmethod
    def _has_failed(self) -> bool:
        """Whether there is a finding."""

    @property
    @abstractmethod
    def _has_successors_beyond(self) -> bool:
        """Whether the last level has successors that were new and, being beyond the bound, not stored."""

    @abstractmethod
    def _first_level(self) -> bool:
        """Move to the initial states, or to the state of a saved search; False without states, or when stopped."""

    @abstractmethod
    def _next_level(self, *, store: bool) -> bool:
        """Make the next level and move to it; False if it has no states, or when stopped.

        Without `store`, states are checked and neither kept nor counted.
        """

    @abstractmethod
    def _end_level(self) -> None:
        """Look at each level that is not the last when it ends, and save it if that is due."""

    @abstractmethod
    def _stop_making(self) -> None:
        """Let the level in work end soon, unfinished."""

    @abstractmethod
    def _save_at_the_end(self, *, cut_short: bool) -> None:
        """Save the last whole level if the search was cut short, or if the work that follows is long."""

    @abstractmethod
    def _save_after(self, fault: SystemFault) -> None:
        """Save the levels that a fault of memory or of a disk has left whole; do nothing for other faults."""

    @abstractmethod
    def _finish(self) -> None:
        """After the last level: give back the resources that only the search needs."""

    @abstractmethod
    def counters(self) -> Counters:
        """The counters so far."""

    @abstractmethod
    def _outcome(self) -> SearchOutcome:
        """The outcome of the search."""

    @abstractmethod
    def close(self) -> None:
        """Give back the resources that the search holds outside of this process; nothing can be looked up
        afterwards.
        """

    def ended_at(self, levels: int) -> SearchOutcome:
        """The outcome of a search that ends when it has made so many levels; not for one that `ends_when_refuted`."""
        raise AssertionError(f"this search ends by itself, not at level {levels} afterwards")

    def _is_refuted(self) -> bool:
        """Whether the steps of the levels so far refute a temporal property."""
        return False

    def _has_memory(self) -> bool:
        """Whether the limit of memory allows to go on; if not, the search has been stopped."""
        return True

    # The driver.

    def run(self) -> SearchOutcome:
        """Explore until done, a finding, a limit or Ctrl-C; where it was cut short, save the last level that ended.

        SystemFault if a file or memory fails; the files saved then are as good as after a crash.
        """
        self._reported = time.monotonic()
        with calling_on_signal(self._interrupt):
            try:
                self._explore()
                self._save_at_the_end(cut_short=self._stopped is not None or self._interrupted)
            except SystemFault as fault:
                self._save_after(fault)
                raise
            except KeyboardInterrupt:
                # The second Ctrl-C: wherever it comes, the files saved before are whole.
                self._interrupted = True
        # The limit that ended the search does not stop queries about its levels afterwards.
        self._limits = Limits()
        self._finish()
        return self._outcome()

    def go_to(self, level: int) -> None:
        """Make the levels up to this one, for a query about them; InternalError KMC930 if there are fewer.

        The search is closed if that fails or is interrupted.
        """
        self.target = level
        try:
            self._explore()
            if self.depth < level:
                raise InternalError("KMC930", f"level {level} was not found again")
        # Ctrl-C too leaves no files behind.
        except BaseException:
            self.close()
            raise

    def _explore(self) -> None:
        """Make level after level, up to the target if there is one."""
        has_states = self._first_level()
        while not self._ends(has_states=has_states):
            self._end_level()
            self._look_at_limits()
            if self._stopping:
                return
            depth = self._limits.depth
            has_states = self._next_level(store=depth is None or self.depth < depth)
        if self._stopped is None and self._has_successors_beyond:
            self._stopped = Bound.DEPTH

    def _ends(self, *, has_states: bool) -> bool:
        """Whether the search ends with the last level, which is whole."""
        if self.target is not None:
            return not has_states or self.depth >= self.target
        end = search_end(
            keep_going=self._settings.keep_going,
            has_states=has_states,
            has_failed=self._has_failed,
            is_refuted=self._is_refuted,
        )
        return end is not None

    def _look_at_limits(self) -> None:
        """At the end of a level; the number of states is a limit only here."""
        states = self._limits.states
        if states is not None and self.depth > 1 and self._distinct >= states:
            self._stop(Bound.STATES)
        self._poll()

    def _poll(self) -> None:
        """Look at time and memory, and report progress: often, while a level is made."""
        now = time.monotonic()
        seconds = self._limits.seconds
        if seconds is not None and now - self._began >= seconds:
            self._stop(Bound.TIME)
        elif self._has_memory() and self._progress is not None and now - self._reported >= PROGRESS_SECONDS:
            self._reported = now
            self._progress(self.counters())

    def _interrupt(self) -> None:
        self._interrupted = True
        self._stop()

    def _stop(self, bound: Bound | None = None) -> None:
        self._stopped = self._stopped or bound
        self._stopping = True
        self._stop_making()

    @property
    def _seconds(self) -> float:
        """The duration of the search, with that of the runs before it."""
        return self._seconds_before + time.monotonic() - self._began

    @property
    def _cpu_seconds(self) -> float:
        return self._cpu_before + self._cpu_elsewhere + cpu_seconds() - self._cpu_began
