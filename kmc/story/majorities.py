"""Which votes were a majority when a step was taken: seen where the spec itself counts them.

A spec counts in functions of two names, `is_quorum(votes, ensemble)` and `majority_count(ensemble)`, the second
compared with a `count(... for k in ensemble)`. The action is run once more, and what these were given is noted; so
nothing is told that the spec has not counted. A spec that counts in another way is told without it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from kmc.actions.action import Action
from kmc.errors import KmcError
from kmc.lang.order import ordered
from kmc.lang.symbols import SymbolMeta

_QUORUM, _LEAST = "is_quorum", "majority_count"


@dataclass(frozen=True, slots=True)
class Majority:
    """The members of an ensemble that counted, and what was asked: the offset, say, by the name of its variable."""

    counted: tuple[Any, ...]
    ensemble: tuple[Any, ...]
    asked: tuple[tuple[str, int], ...] = ()


def majorities(
    action: Action, files: Collection[str], before: Any, message: Any | None, arguments: tuple[Any, ...], after: Any
) -> tuple[Majority, ...]:
    """The majorities that `action` found on its way from `before` to `after`; of several for one line, the last."""
    given = arguments if message is None else (message, *arguments)
    watch = _Watch(frozenset(files))
    try:
        with _watched(watch):
            any(successor == after for successor in action.function(before, *given))
    except KmcError:
        return ()
    return tuple(watch.found.values())


@contextmanager
def _watched(watch: Callable[[FrameType, str, Any], object]) -> Iterator[None]:
    known = sys.getprofile()
    sys.setprofile(watch)
    try:
        yield
    finally:
        sys.setprofile(known)


@dataclass(slots=True)
class _Watch:
    """Notes what the functions of a spec return while an action runs."""

    files: frozenset[str]
    found: dict[tuple[str, int], Majority] = field(default_factory=dict)
    _counts: dict[FrameType, dict[Any, bool]] = field(default_factory=dict)
    """For a frame of the spec, the members that its last `count` went through, and whether each counted."""
    _counting: dict[FrameType, FrameType] = field(default_factory=dict)

    def __call__(self, frame: FrameType, event: str, given: Any) -> None:
        """What `sys.setprofile` calls."""
        code = frame.f_code
        if event != "return" or code.co_filename not in self.files:
            return
        if code.co_name == "<genexpr>" and isinstance(given, bool):
            self._note(frame, given)
        elif code.co_name == _QUORUM and given is True:
            votes, ensemble = (frame.f_locals.get(name) for name in code.co_varnames[:2])
            self._keep(frame, votes, ensemble)
        elif code.co_name == _LEAST and isinstance(given, int) and frame.f_back is not None:
            ensemble = _members(frame.f_locals.get(code.co_varnames[0]))
            counts = self._counts.get(frame.f_back, {})
            if ensemble is not None and counts.keys() == ensemble and sum(counts.values()) >= given:
                self._keep(frame, frozenset(k for k, counted in counts.items() if counted), ensemble)

    def _note(self, frame: FrameType, counted: bool) -> None:
        """One member of a `count(... for k in ensemble)`."""
        caller = frame.f_back
        while caller is not None and caller.f_code.co_filename not in self.files:
            caller = caller.f_back
        names = _loop_variables(frame)
        if caller is None or len(names) != 1:
            return
        if self._counting.get(caller) is not frame:
            self._counting[caller], self._counts[caller] = frame, {}
        self._counts[caller][frame.f_locals.get(names[0])] = counted

    def _keep(self, frame: FrameType, votes: Any, ensemble: Any) -> None:
        caller, votes, ensemble = frame.f_back, _members(votes), _members(ensemble)
        if caller is None or votes is None or ensemble is None:
            return
        code = caller.f_code
        loops = _loop_variables(caller) if code.co_name in ("<genexpr>", "<listcomp>") else ()
        asked = tuple((name, value) for name in loops if isinstance(value := caller.f_locals.get(name), int))
        place = (code.co_filename, caller.f_lineno)
        self.found[place] = Majority(tuple(ordered(votes)), tuple(ordered(ensemble)), asked)


def _members(value: Any) -> frozenset[Any] | None:
    """The members of a set, or of a type such as `Server`; None for anything else."""
    if isinstance(value, SymbolMeta):
        return frozenset(value.members)
    return value if isinstance(value, frozenset) else None


def _loop_variables(frame: FrameType) -> tuple[str, ...]:
    """The variables that a comprehension binds; the first local is what it goes through."""
    code = frame.f_code
    return (*code.co_varnames[1:], *code.co_cellvars)
