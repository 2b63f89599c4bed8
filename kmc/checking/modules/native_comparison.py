"""The comparison of compiled code with the interpreter of TLA+, on states of the model, before a native search of it.

Invariant: states come from compiled code alone: its initial states, its first levels, and random walks. In each one,
everything that a search counts or judges is compared with the module: the steps with their actions and multiplicity,
the constraints, the invariants, the formulas of steps, the atoms of temporal properties. Two states have one
fingerprint exactly if they count as one in the module, so a value that the translation keeps in two ways is found as
soon as both were reached.

Code that was found equal once is not compared again, as long as the cache of the module remembers it.

A state in which compiled code fails is left to the search, which finds out whether a type was too narrow.
"""

from __future__ import annotations

import random
import time
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, NoReturn

from kmc.budget import TimeSpent, within_budget
from kmc.checking.modules.checked_module import CheckedModule
from kmc.checking.modules.module_text import state_line
from kmc.checking.modules.module_trace import action_of
from kmc.checking.modules.native_temporal import NativeTemporal
from kmc.checking.modules.native_translation import NativeTranslation, TranslationCache
from kmc.engine.compiled_model import CompiledModel
from kmc.engine.judged_steps import JudgedStep, atom_values, broken_in, is_inside, judged_steps
from kmc.engine.layout.frontier import PackedState
from kmc.engine.native.memory import Words
from kmc.errors import InternalError, KmcError
from kmc.tla.run.program import State
from kmc.tla.temporal.predicates import ModuleStepPredicate
from kmc.tla.translate.translator import model_place

_WALK_LENGTH = 40


@dataclass(frozen=True, slots=True)
class ComparedExtent:
    """The states that are compared: breadth first, then on random walks from a seed, at most for some seconds."""

    levels_max: int = 400
    walks_max: int = 400
    seconds_max: float = 1.5
    seed: int = 1


COMPARED_EXTENT = ComparedExtent()


class _TimeIsUp(Exception):
    """The end of the comparison."""


@dataclass(slots=True)
class NativeComparison:
    """One comparison of a translated, compiled module with the module itself."""

    module: CheckedModule
    translation: NativeTranslation
    temporal: NativeTemporal
    compiled: CompiledModel
    extent: ComparedExtent
    _until: float = 0.0
    _known: dict[int, Hashable] = field(default_factory=dict)
    _fingerprints: dict[Hashable, int] = field(default_factory=dict)

    def run(self, initial: Sequence[PackedState]) -> int:
        """Compare, and return the number of states that were expanded; InternalError KMC944 for a difference."""
        began, expanded = time.monotonic(), 0
        # Half of the time is left for steps, however many initial states there are.
        self._until = began + self.extent.seconds_max / 2
        with suppress(_TimeIsUp, TimeSpent), within_budget(self.extent.seconds_max / 2):
            self._compare_initial(initial)
        self._until = began + self.extent.seconds_max
        with suppress(_TimeIsUp):
            for _ in self._states([record.row for record in initial[: self.extent.levels_max]]):
                expanded += 1
        return expanded

    def _poll(self) -> None:
        if time.monotonic() >= self._until:
            raise _TimeIsUp

    def _compare_initial(self, records: Sequence[PackedState]) -> None:
        wanted = list(self.module.initial_states(self._poll))
        if len(wanted) != len(records):
            self._refuse("the number of initial states", str(len(records)), str(len(wanted)))
        if len(records) <= self.extent.levels_max:
            found = [self._state(record.row) for record in records]
            self._compare_counts("the initial states", Counter(found), Counter(wanted))
            for record, state in zip(records, found, strict=True):
                self._poll()
                self._identify(record.fingerprint, state)
                self._compare_beginning(record.row, state)

    def _compare_beginning(self, row: Words, state: State) -> None:
        """Compare what is judged of an initial state, which no step may lead to."""
        inside, broken = is_inside(self.compiled, row), self._names(broken_in(self.compiled, row))
        self._agree("whether a state is in the model", inside, lambda one: self.module.is_in_model(one, None), state)
        self._agree("the invariants of a state", broken, self._broken, state)
        self._compare_atoms((row,), (state,))

    def _states(self, initial: Sequence[Words]) -> Iterator[State]:
        """Compare the steps of states, first breadth first and then on random walks, and yield each state."""
        extent, choice = self.extent, random.Random(self.extent.seed)
        inside = [row for row in initial if is_inside(self.compiled, row)]
        queue, known = deque(inside), {row.tobytes() for row in inside}
        for _ in range(extent.levels_max):
            if not queue:
                return
            row = queue.popleft()
            for successor in self._expanded(row):
                if successor.tobytes() not in known:
                    known.add(successor.tobytes())
                    queue.append(successor)
            yield self._state(row)
        steps = 0
        while inside and steps < extent.walks_max:
            row = choice.choice(inside)
            for _ in range(_WALK_LENGTH):
                successors = [one for one in self._expanded(row) if one.tobytes() != row.tobytes()]
                yield self._state(row)
                steps += 1
                if not successors:
                    break
                row = choice.choice(successors)

    def _state(self, row: Words) -> State:
        return self.translation.decoder.state(self.compiled.state(row))

    def _expanded(self, row: Words) -> list[Words]:
        """Compare the steps of a row, and return the successors in the model; none where compiled code fails."""
        self._poll()
        state = self._state(row)
        steps = judged_steps(self.compiled, row)
        if steps is None:
            return []
        states = [self._state(step.row) for step in steps]
        counts: Counter[tuple[str, State]] = Counter()
        for step, successor in zip(steps, states, strict=True):
            counts[self.translation.original(step.title), successor] += step.times
        self._compare_counts("the steps of a state", counts, Counter(self._module_steps(state)), state)
        for step, successor in zip(steps, states, strict=True):
            self._poll()
            self._identify(step.fingerprint, successor)
            self._compare_judged(step, successor, state)
            self._compare_atoms((row, step.row), (state, successor))
        return [step.row for step in steps if step.is_inside]

    def _module_steps(self, state: State) -> list[tuple[str, State]]:
        try:
            steps = self.module.successors(state, self._poll)
        except KmcError as error:
            self._refuse("the steps of a state", "no error", _error_text(error), state)
        return [(action_of(step.label), step.state) for step in steps]

    def _compare_judged(self, step: JudgedStep, successor: State, state: State) -> None:
        """Compare what is judged of a step and its end, but for what the search will find to fail."""
        self._agree("whether a step is in the model", step.is_inside, self.module.is_in_model, successor, state)
        self._agree("the invariants of a state", self._names(step.broken), self._broken, successor)
        if successor != state:
            self._agree("the properties of a step", self._names(step.step_broken), self._broken_by, successor, state)

    def _compare_atoms(self, rows: tuple[Words, ...], states: tuple[State, ...]) -> None:
        """Compare the atoms of temporal properties in a step and at its end, or in a state alone."""
        problem = self.temporal.problem
        if problem is None:
            return
        for kind, count in ((problem.atoms, 1), (problem.step_atoms, 2))[: len(rows)]:
            atoms: Sequence[Any] = kind
            values = atom_values(self.compiled, len(atoms), *rows[-count:])
            for atom, value in zip(atoms, values or (), strict=values is not None):
                if isinstance(atom, ModuleStepPredicate) and atom.enabled is not None and not atom.enabled(states[0]):
                    self._agree(f"the truth of {atom.text}", value, lambda *_: False, *states)
                else:
                    self._agree(f"the truth of {atom.__name__}", value, atom, *states[-count:])

    def _broken(self, state: State) -> list[str]:
        parts = [part for part in self.module.of_states if not part.is_initial]
        return sorted({part.property_name for part in parts if not part.is_true(state)})

    def _broken_by(self, successor: State, state: State) -> list[str]:
        return sorted({part.property_name for part in self.module.of_steps if not part.is_true(state, successor)})

    def _names(self, broken: tuple[str, ...] | None) -> list[str] | None:
        """Return the names in the module of some properties of the spec."""
        return None if broken is None else sorted(set(map(self.translation.original, broken)))

    def _agree(self, what: str, found: object, of_module: Callable[..., object], *states: State) -> None:
        """Refuse unless the function of the module gives what compiled code has found for some states, if anything."""
        if found is None:
            return
        try:
            wanted = of_module(*states)
        except KmcError as error:
            wanted = _error_text(error)
        if found != wanted:
            self._refuse(what, str(found), str(wanted), states[0])

    def _identify(self, fingerprint: int, state: State) -> None:
        """Refuse unless this state has the fingerprint of those that count as the same one, and of no other."""
        key = self.module.program.identity(state)
        if self._fingerprints.setdefault(key, fingerprint) != fingerprint:
            self._refuse("whether two states are one", "two states", "one state", state)
        if self._known.setdefault(fingerprint, key) != key:
            self._refuse("whether two states are one", "one state", "two states", state)

    def _compare_counts(self, what: str, found: Counter[Any], wanted: Counter[Any], state: State | None = None) -> None:
        if found != wanted:
            self._refuse(what, self._shown(found - wanted), self._shown(wanted - found), state)

    def _shown(self, more: Counter[Any]) -> str:
        """Return what one side has more than the other."""
        if not more:
            return "nothing more"
        (first, count) = next(iter(more.items()))
        action, state = first if isinstance(first[0], str) and isinstance(first[1], tuple) else ("", first)
        times = f"{count} times " if count > 1 else ""
        others = f" and {len(more) - 1} more" if len(more) > 1 else ""
        return f"{times}{action}{' to ' if action else ''}{self._line(state)}{others}"

    def _line(self, state: State) -> str:
        return state_line(self.module.program, state)

    def _refuse(self, what: str, native: str, interpreter: str, state: State | None = None) -> NoReturn:
        """Raise InternalError KMC944 with both values."""
        where = [f"in the state {self._line(state)}"] if state is not None else []
        raise InternalError(
            "KMC944",
            f"compiled code and the interpreter of TLA+ differ in {what}, so no count of compiled code can be trusted",
            model_place(self.module.program.model),
            help="check the module with the interpreter: --engine python",
            notes=(*where, f"compiled code: {native}", f"the interpreter: {interpreter}"),
        )


def compare_with_module(
    cache: TranslationCache,
    module: CheckedModule,
    translation: NativeTranslation,
    temporal: NativeTemporal,
    compiled: CompiledModel,
    initial: Sequence[PackedState],
) -> None:
    """Compare the first states of a compiled module with the module; InternalError KMC944 for a difference.

    The cache remembers the code that was found equal: the same comparison has the same result.
    """
    key = _comparison_key(translation, compiled)
    if cache.was_compared(key):
        return
    expanded = NativeComparison(module, translation, temporal, compiled, COMPARED_EXTENT).run(initial)
    if expanded:
        cache.remember_comparison(key)


def _comparison_key(translation: NativeTranslation, compiled: CompiledModel) -> str:
    """Return the key of a comparison in the cache of a module: all that decides the machine code, and the decoder."""
    return sha256(f"{translation.root.name} {compiled.code_key}".encode()).hexdigest()


def _error_text(error: KmcError) -> str:
    return f"{error.code}: {error.message}"
