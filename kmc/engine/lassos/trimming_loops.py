"""Native loops: leave out states that are on no cycle, before components are searched.

A state stays only if a step leads to it from another state that stays, and one leads from it to such a state. Numbers
follow the order of discovery, so most steps lead to higher numbers: one downward pass removes whole trees of states
that lead nowhere, and one upward pass those that nothing leads to. The remaining states contain every cycle of two
states or more.

Invariant: the targets of a state ascend.
"""

from __future__ import annotations

from kmc.engine.lassos.component_loops import is_stopped
from kmc.engine.native.intrinsics import inlined, load, load_byte, load_half, prefetch, store, store_byte, store_half
from kmc.engine.native.structs import Struct

_AHEAD = 8
_WORTH = 4
"""Another round is worth its time if the last one has removed one of so many states."""


class Trimming(Struct):
    """The graph, and which of its states may be on a cycle."""

    offsets: int
    targets: int
    allowed: int  # a byte per step, 0 if it may not be taken; or no address
    states: int
    marks: int  # a byte per state: 1 if it may be on a cycle, else 0; before and after
    left: int  # 32 bits per state: the states that are left, ascending
    staying: int  # a bit per state, all 0 before: those that are left
    entered: int  # a bit per state, all 0 before: those that another state leads to
    stopping: int  # the address of a word that is not 0 when the loop shall end


@inlined
def has_bit(bits: int, index: int) -> int:
    """1 if a bit is set, else 0."""
    return load(bits, index >> 6) >> (index & 63) & 1


@inlined
def set_bit(bits: int, index: int) -> None:
    """Set a bit."""
    store(bits, index >> 6, load(bits, index >> 6) | 1 << (index & 63))


@inlined
def clear_bit(bits: int, index: int) -> None:
    """Clear a bit that is set."""
    store(bits, index >> 6, load(bits, index >> 6) ^ 1 << (index & 63))


@inlined
def ask_for(trimming: Trimming, near: int, far: int) -> None:
    """Ask for the steps of a state, and for where those of another one begin."""
    prefetch(trimming.offsets, load_half(trimming.left, far))
    prefetch(trimming.targets, load(trimming.offsets, load_half(trimming.left, near)) // 2)


@inlined
def list_states(trimming: Trimming) -> int:
    """List the states that are marked; return their number."""
    count = 0
    for state in range(trimming.states):
        if load_byte(trimming.marks, state) != 0:
            store_half(trimming.left, count, state)
            set_bit(trimming.staying, state)
            count += 1
    return count


@inlined
def leads_on(trimming: Trimming, state: int) -> int:
    """1 if a step leads from a state to another that stays, else 0. Earlier states to which one leads are entered."""
    offsets, targets, allowed = trimming.offsets, trimming.targets, trimming.allowed
    staying, states = trimming.staying, trimming.states
    leads = 0
    for step in range(load(offsets, state), load(offsets, state + 1)):
        target = load_half(targets, step)
        if target >= states:
            return leads
        if target > state and leads != 0:
            return 1
        if target != state and (allowed == 0 or load_byte(allowed, step) != 0):
            leads |= has_bit(staying, target)
            if target < state:
                set_bit(trimming.entered, target)
    return leads


@inlined
def remove_ends(trimming: Trimming, count: int) -> None:
    """Remove, from the last of `count` states on, those that lead to none that stays."""
    index = count
    while index > 0:
        index -= 1
        if is_stopped(trimming.stopping, index) != 0:
            return
        if index >= 2 * _AHEAD:
            ask_for(trimming, index - _AHEAD, index - 2 * _AHEAD)
        state = load_half(trimming.left, index)
        if leads_on(trimming, state) == 0:
            clear_bit(trimming.staying, state)


@inlined
def enter_later(trimming: Trimming, state: int) -> None:
    """Note that the states behind a state to which it has steps are entered."""
    offsets, targets, allowed = trimming.offsets, trimming.targets, trimming.allowed
    states = trimming.states
    for step in range(load(offsets, state), load(offsets, state + 1)):
        target = load_half(targets, step)
        if target >= states:
            return
        if target > state and (allowed == 0 or load_byte(allowed, step) != 0):
            set_bit(trimming.entered, target)


@inlined
def remove_beginnings(trimming: Trimming, count: int) -> int:
    """Remove, from the first of `count` states on, those that no other leads to; return the number of the rest.

    States to which later states lead are recorded in a first pass, which removes nothing.
    """
    left = 0
    for index in range(count):
        if is_stopped(trimming.stopping, index) != 0:
            return 0
        if index + 2 * _AHEAD < count:
            ask_for(trimming, index + _AHEAD, index + 2 * _AHEAD)
        state = load_half(trimming.left, index)
        if has_bit(trimming.entered, state) != 0:
            clear_bit(trimming.entered, state)
            if has_bit(trimming.staying, state) != 0:
                enter_later(trimming, state)
                store_half(trimming.left, left, state)
                left += 1
        elif has_bit(trimming.staying, state) != 0:
            clear_bit(trimming.staying, state)
    return left


def trim(trimming: Trimming) -> int:
    """Remove states until a round removes few; return the number of the rest."""
    before = list_states(trimming)
    left = before
    while left > 0:
        remove_ends(trimming, before)
        left = remove_beginnings(trimming, before)
        if (before - left) * _WORTH < before:
            break
        before = left
    for state in range(trimming.states):
        store_byte(trimming.marks, state, has_bit(trimming.staying, state))
    return left
