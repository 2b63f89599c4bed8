"""What compiled kernels say of one state, held beside what the interpreter says: successors, hashes and properties.

Everything here returns differences as text, so that a test says which state and which kernel disagree.
"""

from __future__ import annotations

import random
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from kmc.actions.relation import NextStateRelation, Step
from kmc.compiler.ir.emit_python import emit_python
from kmc.compiler.model_kernels import build_kernels
from kmc.compiler.view_order import fingerprint_order
from kmc.engine.compiled_model import compile_model
from kmc.errors import KmcError
from kmc.frontend.model import Model
from kmc.invariants.properties import ActionConstraint, Constraint, Predicate, holds
from kmc.reference.search import Search
from kmc.reference.states.initial import initial_states
from kmc.result import Limits
from kmc.runtime.codec import decode_row, encode_row, hash_sum
from kmc.runtime.hashing import fingerprint
from kmc.runtime.state_layout import row_layout

PADDING_WORDS = 64
STALE = ((1 << 64) - 1, *(1 << bit for bit in range(12)))
OUT_WORDS = 1 << 14
OUT_WORDS_MAX = 1 << 20
ERROR_MAX = -16
HEADER_WORDS = 2
ACTION_SHIFT, ACTION_BITS = 32, 16
LENGTH_BITS = 32


@dataclass(frozen=True, slots=True)
class Successor:
    """One record that `expand` wrote: the action's index, the fingerprint and the row."""

    action: int
    fingerprint: int
    row: list[int]


@dataclass(frozen=True, slots=True)
class Kernels:
    """The kernels of a model, called with rows as lists of words; `call` gives signed results."""

    model: Model
    call: Any

    def expand(self, row: list[int]) -> list[Successor] | None:
        """The records that `expand` writes, or None for an error."""
        words = OUT_WORDS
        while (found := self._expand(row, out := noise(words)[:], words)) == -1:
            words *= 2
            if words > OUT_WORDS_MAX:
                raise OverflowError(f"{words} words are not enough for the successors of one state")
        if found <= ERROR_MAX:
            return None
        records, place = [], 0
        for _ in range(found):
            header, fingerprint = out[place], out[place + 1]
            end = place + HEADER_WORDS + (header & (1 << LENGTH_BITS) - 1)
            action = header >> ACTION_SHIFT & (1 << ACTION_BITS) - 1
            records.append(Successor(action, fingerprint, out[place + HEADER_WORDS : end].tolist()))
            place = end
        return records

    def _expand(self, row: list[int], out: Any, words: int) -> int:
        return self._signed("expand", [padded(row), out], (words - PADDING_WORDS,))

    def mask(self, name: str, *rows: list[int]) -> int | None:
        """The mask that a kernel of predicates gives, or None for an error."""
        found = self._signed(name, [padded(row) for row in rows], (-1,) if name.startswith("reachable") else ())
        return None if found <= ERROR_MAX else found

    def identity(self, row: list[int]) -> int:
        """The fingerprint of a row."""
        return self._signed("identity", [padded(row)]) & (1 << 64) - 1

    def _signed(self, name: str, buffers: list[Any], arguments: tuple[int, ...] = ()) -> int:
        found = int(self.call(name, [(buffer, 0) for buffer in buffers], arguments))
        return found - (1 << 64) if found >> 63 else found


def padded(row: list[int]) -> Any:
    """A row with the words behind it that a kernel may read, and that must not change what it says.

    First come some like its last, as if entries of a network had been there that are none now.
    """
    return array("Q", row) + _padding(row[-1])


@lru_cache(maxsize=1 << 12)
def _padding(last: int) -> Any:
    """The words behind a row whose last word is this."""
    return array("Q", [last ^ flipped for flipped in STALE]) + noise(PADDING_WORDS - len(STALE))


@cache
def noise(words: int) -> Any:
    """What may lie in memory: nothing that a kernel could take for the zeros of fresh memory."""
    return array("Q", [(place + 1) * 0x9E3779B97F4A7C15 % (1 << 64) for place in range(words)])


def kernels_of(model: Model) -> Kernels:
    """The kernels of a model as machine code; SpecError for what is not compiled."""
    return Kernels(model, compile_model(model).module.call)


class Expected:
    """What the interpreter and the codec say of a model, each computed once: many states are successors of several.

    Rows and states are values, so an answer is the same whenever it is asked for. It outlives one comparison only where
    many kernels of the same model are compared with it.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self._relation = NextStateRelation(model.spec.actions, model.spec.state_class, model.spec.files)
        self.steps_met: dict[Any, list[Step] | None] = {}
        self._rows: dict[Any, list[int]] = {}
        self._states: dict[tuple[int, ...], Any] = {}
        self._masks: dict[tuple[str, Any], int | None] = {}

    def steps(self, state: Any) -> list[Step] | None:
        """The interpreter's steps, or None when an action raises."""
        if state not in self.steps_met:
            self.steps_met[state] = expected_steps(self._relation, state)
        return self.steps_met[state]

    def row(self, state: Any) -> list[int]:
        """The row of a state."""
        if state not in self._rows:
            self._rows[state] = encode_row(state)
        return self._rows[state]

    def state(self, row: list[int]) -> Any:
        """The state of a row."""
        words = tuple(row)
        if words not in self._states:
            self._states[words] = decode_row(row, self.model.spec.state_class)
        return self._states[words]

    def mask(self, name: str, predicates: tuple[Predicate, ...], holding: bool, *states: Any) -> int | None:
        """The mask of `expected_mask`, for the predicates of this name."""
        key = name, states
        if key not in self._masks:
            self._masks[key] = expected_mask(self.model, predicates, holding, *states)
        return self._masks[key]


def differences(kernels: Kernels, states: Iterable[Any], expected: Expected | None = None) -> Iterator[str]:
    """Every way in which the kernels disagree with the interpreter on these states and their successors.

    What kernels say of a pair of states is also asked of each state and the one before it: these differ in more than
    the states of a step, so that one property is not asked only where another is.

    `expected`: the answers to earlier comparisons, when many kernels of one model are compared.
    """
    model = kernels.model
    expected = Expected(model) if expected is None else expected
    before: tuple[Any, list[int]] | None = None
    for state in states:
        row = expected.row(state)
        if before is not None:
            yield from _changed_differences(kernels, expected, *before, state, row)
        before = state, row
        if expected.state(row) != state:
            yield f"{state!r} is not what its row says"
        if not model.symmetry and model.view is None and kernels.identity(row) != fingerprint(row[0]):
            yield f"{state!r}: the fingerprint is not that of its hash sum"
        yield from _predicate_differences(kernels, expected, row, state)
        wanted, found = expected.steps(state), kernels.expand(row)
        if (found is None) != (wanted is None):
            yield f"{state!r}: an error in one engine: kernels {found is None}, interpreter {wanted is None}"
        if found is not None and wanted is not None:
            yield from _step_differences(kernels, expected, state, wanted, found)


def expected_steps(relation: NextStateRelation, state: Any) -> list[Step] | None:
    """The interpreter's steps, or None when an action raises."""
    try:
        return list(relation.steps(state))
    except KmcError:
        return None


def _step_differences(
    kernels: Kernels, expected: Expected, state: Any, wanted: list[Step], found: list[Successor]
) -> Iterator[str]:
    row = expected.row(state)
    titles = [action.title for action in kernels.model.spec.actions]
    layout = row_layout(kernels.model.spec.state_class)
    rows = [(titles[item.action], expected.state(item.row)) for item in found]
    asked, got = Counter((action.title, to) for action, _, to in wanted), Counter(rows)
    for (title, to), count in (asked - got).items():
        yield f"{state!r}: the kernels lack {count} {title} to {to!r}"
    for (title, to), count in (got - asked).items():
        yield f"{state!r}: the kernels have {count} {title} too many, to {to!r}"
    for item, (title, to) in zip(found, rows, strict=True):
        own = expected.row(to)
        if item.row[0] != hash_sum(item.row, layout) or item.row[0] != own[0]:
            yield f"{state!r}: the hash sum after {title} is not that of its row"
        if item.fingerprint != kernels.identity(own):
            yield f"{state!r}: the fingerprint after {title} is not that of the encoded successor"
        if len(item.row) != len(own):
            yield f"{state!r}: after {title} the row has {len(item.row)} words, not {len(own)}"
        if item.row[1 : layout.entries] != own[1 : layout.entries]:
            yield f"{state!r}: after {title} unused bits are not 0"
        yield from _changed_differences(kernels, expected, state, row, to, item.row)
        for name, predicates in (
            ("step", kernels.model.action_properties),
            ("step_outside", kernels.model.action_constraints),
        ):
            if predicates:
                mine = kernels.mask(name, row, item.row)
                stutters = name == "step" and to == state
                wanted_mask = 0 if stutters else expected.mask(name, predicates, False, state, to)
                yield from _mask_difference(name, mine, wanted_mask, to)


def _changed_differences(
    kernels: Kernels, expected: Expected, state: Any, row: list[int], to: Any, other: list[int]
) -> Iterator[str]:
    """What is evaluated after a step says all that is true after it and was not before, and nothing else."""
    model = kernels.model
    for name, predicates, holding in (("check", model.invariants, False), ("reachable", model.reachable, True)):
        before = expected.mask(name, predicates, holding, state)
        after = expected.mask(name, predicates, holding, to)
        if not predicates or before is None or after is None:
            continue
        found = kernels.mask(f"{name}_changed", row, other)
        if found is None or found & ~after or after & ~before & ~found:
            yield f"{state!r}: {name}_changed is {found} in {to!r}, where {name} is {after}, after {before}"
    if model.action_properties:
        mine, kept = kernels.mask("step", row, other), kernels.mask("step_kept", row)
        if kept == 0 and kernels.mask("step_changed", row, other) != mine:
            yield f"{state!r}: step_changed does not say {mine} of the step to {to!r}"


def _predicate_differences(kernels: Kernels, expected: Expected, row: list[int], state: Any) -> Iterator[str]:
    model = kernels.model
    kinds: tuple[tuple[str, tuple[Predicate, ...], bool], ...] = (
        ("check", model.invariants, False),
        ("reachable", model.reachable, True),
        ("outside", model.constraints, False),
    )
    for name, predicates, holding in kinds:
        if predicates:
            wanted = expected.mask(name, predicates, holding, state)
            yield from _mask_difference(name, kernels.mask(name, row), wanted, state)


def _mask_difference(name: str, found: int | None, wanted: int | None, state: Any) -> Iterator[str]:
    if found != wanted:
        yield f"{state!r}: {name} is {found} compiled and {wanted} interpreted"


def expected_mask(model: Model, predicates: tuple[Predicate, ...], holding: bool, *states: Any) -> int | None:
    """The mask of the predicates whose truth is `holding`, or None when one raises; constraints are asked in order."""
    mask = 0
    try:
        for number, predicate in enumerate(predicates):
            mask |= (holds(predicate, model.spec.files, *states) == holding) << number
            if mask and isinstance(predicate, Constraint | ActionConstraint):
                break
    except KmcError:
        return None
    return mask


def level_states(model: Model, limits: Limits, *, at_most: int, seed: int = 0) -> list[Any]:
    """States from breadth-first levels, a sample of them where there are more than `at_most`."""
    search = Search(model, limits, keep_going=True, view_order=fingerprint_order)
    search.run()
    states = search.graph.states
    return states if len(states) <= at_most else random.Random(seed).sample(states, at_most)


def walk_states(model: Model, *, walks: int, depth: int, seed: int) -> list[Any]:
    """States of random walks that take rare actions as often as common ones, so that they go deep.

    The walks are the same in every process: states are sorted before one is drawn, since the order of successors
    follows that of sets, which changes with Python's seed of hashes.
    """
    relation = NextStateRelation(model.spec.actions, model.spec.state_class, model.spec.files)
    rng = random.Random(seed)
    found: dict[Any, None] = {}
    initial = sorted(initial_states(model), key=encode_row)
    for _ in range(walks):
        state = rng.choice(initial)
        for _ in range(depth):
            found[state] = None
            steps = expected_steps(relation, state)
            by_action: dict[str, list[Any]] = {}
            for action, _, successor in steps or ():
                if successor != state:
                    by_action.setdefault(action.title, []).append(successor)
            if not by_action:
                break
            state = rng.choice(sorted(by_action[rng.choice(sorted(by_action))], key=encode_row))
    return list(found)


def kernels_in_python(model: Model) -> Kernels:
    """The kernels of a model as Python: for IR that is changed on purpose, which LLVM would take seconds to compile."""
    return Kernels(model, emit_python(build_kernels(model).module).call)


__all__ = ["Expected", "Kernels", "differences", "kernels_in_python", "kernels_of", "level_states", "walk_states"]
