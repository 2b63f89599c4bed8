"""The majorities that a step found, in a spec that defines a majority.

`@spec.majority` marks a Bool function of the members that count, or a function that returns the least number of members
that are a majority of its ensemble; the spec compares that number with a `count(... for member in ensemble)`. kmc runs
the action once more and records the arguments of these functions. So a story names only majorities that the spec has
counted; without the declaration it names none.
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
from kmc.frontend.loader import Spec
from kmc.lang.order import ordered
from kmc.lang.types import SymbolMeta


@dataclass(frozen=True, slots=True)
class Majority:
    """The members that counted, their ensemble if one is known, and the numbers that the loop around had: an offset."""

    counted: tuple[Any, ...]
    ensemble: tuple[Any, ...] | None
    asked: tuple[tuple[str, int], ...] = ()


def majorities(
    spec: Spec, action: Action, before: Any, message: Any | None, arguments: tuple[Any, ...], after: Any
) -> tuple[Majority, ...]:
    """The majorities that `action` found on its way from `before` to `after`; of several for one line, the last."""
    if not spec.majorities:
        return ()
    given = arguments if message is None else (message, *arguments)
    watch = _Watch(spec.files, frozenset(id(function.__code__) for function in spec.majorities))
    try:
        with _watched(watch):
            any(successor == after for successor in action.function(before, *given))
    except KmcError:
        return ()
    return tuple(watch.kept.values())


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
    """Records the arguments and results of the declared functions of a spec while an action runs."""

    files: Collection[str]
    declared: frozenset[int]
    """The identities of their code, whatever name they are called by."""
    kept: dict[tuple[str, int], Majority] = field(default_factory=dict)
    _calls: list[tuple[FrameType, tuple[Any, ...]]] = field(default_factory=list)
    """The declared functions that run, the innermost last, with the arguments of each."""
    _counts: dict[FrameType, dict[Any, bool]] = field(default_factory=dict)
    """The members that the last `count` in a frame of the spec went through, and whether each counted."""
    _counting: dict[FrameType, FrameType] = field(default_factory=dict)

    def __call__(self, frame: FrameType, event: str, given: Any) -> None:
        """The callback for `sys.setprofile`."""
        code = frame.f_code
        if id(code) in self.declared:
            if event == "call":
                names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
                self._calls.append((frame, tuple(frame.f_locals[name] for name in names)))
            elif event == "return" and self._calls and self._calls[-1][0] is frame:
                _, arguments = self._calls.pop()
                # A function that another declared function calls is part of that one's answer.
                if not self._calls:
                    self._returned(frame, arguments, given)
        elif event == "return" and not self._calls and isinstance(given, bool) and self._is_of_count(frame):
            self._note(frame, given)

    def _is_of_count(self, frame: FrameType) -> bool:
        return frame.f_code.co_name == "<genexpr>" and frame.f_code.co_filename in self.files

    def _returned(self, frame: FrameType, arguments: tuple[Any, ...], given: Any) -> None:
        first = _members(arguments[0])
        if first is None or frame.f_back is None:
            return
        if given is True:
            ensemble = _members(arguments[1]) if len(arguments) > 1 else None
            self._keep(frame.f_back, first if ensemble is None else first & ensemble, ensemble)
        elif isinstance(given, int) and not isinstance(given, bool):
            counts = self._counts.get(frame.f_back, {})
            if counts.keys() == first and sum(counts.values()) >= given:
                self._keep(frame.f_back, frozenset(k for k, counted in counts.items() if counted), first)

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

    def _keep(self, caller: FrameType, counted: frozenset[Any], ensemble: frozenset[Any] | None) -> None:
        code = caller.f_code
        loops = _loop_variables(caller) if code.co_name in ("<genexpr>", "<listcomp>") else ()
        asked = tuple((name, value) for name in loops if isinstance(value := caller.f_locals.get(name), int))
        caller_line = (code.co_filename, caller.f_lineno)
        of = None if ensemble is None else tuple(ordered(ensemble))
        self.kept[caller_line] = Majority(tuple(ordered(counted)), of, asked)


def _members(value: Any) -> frozenset[Any] | None:
    """The members of a set, or of a type such as `Server`; None for anything else."""
    if isinstance(value, SymbolMeta):
        return frozenset(value.members)
    return value if isinstance(value, frozenset) else None


def _loop_variables(frame: FrameType) -> tuple[str, ...]:
    """The variables that a comprehension binds; the first local is its iterable."""
    code = frame.f_code
    return (*code.co_varnames[1:], *code.co_cellvars)
