"""Native loops: breadth-first search through the phases of a lasso, and inside a component.

Invariant: the first path found depends only on the numbers of states and the order of steps.
"""

from __future__ import annotations

from kmc.engine.lassos.component_loops import Conditions, add_columns, add_labels, clear, is_stopped
from kmc.engine.native.intrinsics import inlined, load, load_byte, load_code, load_half, store_byte, store_half
from kmc.engine.native.structs import Struct


class PhaseSearch(Struct):
    """States of each phase in the order of their distance. Node `phase * states + state` is a state in a phase.

    Each table has an address for each phase, or 0 where all are allowed.
    """

    offsets: int
    targets: int
    states: int
    phases: int
    allowed_states: int  # a byte per state: those of a phase
    first_states: int  # a byte per state: those of a phase in which it may begin
    allowed_steps: int  # a byte per step
    entering_steps: int  # a byte per step: those that lead into a phase
    parents: int  # 32 bits per node: 0, or one more than the node before; a first one has itself
    queue: int  # 32 bits per node
    begin: int  # the last level in the queue
    end: int
    stopping: int  # see `ComponentSearch`


PHASES_OF_SWEEP = 4
"""A sweep goes through so many phases at most."""

_PHASES = (1 << PHASES_OF_SWEEP) - 1


class PhaseSweep(Struct):
    """The phases in which states are reached, whatever the distance. Tables are those of `PhaseSearch`."""

    offsets: int
    targets: int
    states: int
    phases: int
    allowed_states: int
    first_states: int
    allowed_steps: int
    entering_steps: int
    marks: int  # a byte per state: bit n if phase n reaches it, bit n + 4 if its steps were followed there
    wanted: int  # a byte per state: whether the sweep may end when the last phase reaches it
    passed: int  # a state reached below this number has to wait
    waiting: int  # 32 bits per state and phase
    waiting_count: int
    stopping: int  # see `ComponentSearch`


class ComponentPaths(Struct):
    """A search inside a component for the nearest state that is reached by a wanted step, or is wanted itself."""

    offsets: int
    targets: int
    labels: int
    states: int
    allowed: int  # a byte per step, or 0
    components: int  # 32 bits per state
    component: int
    reached: int  # 32 bits per state: the mark of the search that met it
    mark: int  # another for each search
    before: int  # 32 bits per state
    queue: int  # 32 bits per state
    goal: int  # a state, or -1
    wanted_steps: int  # bits of sets of steps
    wanted_lacks: int  # bits of sets of which a state should have no step
    wanted_states: int
    stopping: int  # see `ComponentSearch`
    conditions: Conditions


@inlined
def is_in(table: int, phase: int, index: int) -> int:
    """1 if a phase allows a state or step, else 0."""
    bytes_of_phase = load(table, phase)
    if bytes_of_phase == 0:
        return 1
    return load_byte(bytes_of_phase, index)


@inlined
def may_enter(first_states: int, entering_steps: int, phase: int, target: int, step: int) -> int:
    """1 if a phase may begin in a state that this step leads to, else 0."""
    return is_in(first_states, phase, target) & is_in(entering_steps, phase, step)


@inlined
def reach(search: PhaseSearch, node: int, source: int) -> None:
    """Note a node, unless it is known."""
    if load_half(search.parents, node) == 0:
        store_half(search.parents, node, source + 1)
        store_half(search.queue, search.end, node)
        search.end += 1


def advance(search: PhaseSearch) -> int:
    """Find the nodes of the next level; return their number."""
    states, phases = search.states, search.phases
    firsts, entering = search.first_states, search.entering_steps
    begin, end = search.begin, search.end
    for index in range(begin, end):
        if is_stopped(search.stopping, index) != 0:
            return 0
        node = load_half(search.queue, index)
        phase, state = node // states, node % states
        following = phase + 1
        for step in range(load(search.offsets, state), load(search.offsets, state + 1)):
            target = load_half(search.targets, step)
            if target < states and target != state:
                if is_in(search.allowed_states, phase, target) != 0 and is_in(search.allowed_steps, phase, step) != 0:
                    reach(search, phase * states + target, node)
                if following < phases and may_enter(firsts, entering, following, target, step) != 0:
                    reach(search, following * states + target, node)
    search.begin = end
    return search.end - end


@inlined
def phases_of(sweep: PhaseSweep, phases: int, target: int, step: int) -> int:
    """Return the phases into which a step leads from some phases: a bit for each phase."""
    reached = 0
    for phase in range(sweep.phases):
        if phases >> phase & 1 != 0:
            inside = is_in(sweep.allowed_states, phase, target) & is_in(sweep.allowed_steps, phase, step)
            reached |= inside << phase
            following = phase + 1
            if following < sweep.phases:
                enters = may_enter(sweep.first_states, sweep.entering_steps, following, target, step)
                reached |= enters << following
    return reached


@inlined
def has_to_wait(sweep: PhaseSweep, target: int) -> int:
    """1 if the pass upwards will not come to a state, else 0."""
    return 1 if target < sweep.passed else 0


@inlined
def follow_steps(sweep: PhaseSweep, state: int) -> int:
    """Follow the steps of a state in the phases in which that was not done; 1 if a wanted state is reached, else 0."""
    marks, states = sweep.marks, sweep.states
    known = load_byte(marks, state)
    phases = known & _PHASES & ~(known >> PHASES_OF_SWEEP)
    if phases == 0:
        return 0
    store_byte(marks, state, known | phases << PHASES_OF_SWEEP)
    for step in range(load(sweep.offsets, state), load(sweep.offsets, state + 1)):
        target = load_half(sweep.targets, step)
        if target < states and target != state:
            before = load_byte(marks, target)
            reached = phases_of(sweep, phases, target, step) & ~before
            if reached != 0:
                store_byte(marks, target, before | reached)
                if reached >> (sweep.phases - 1) != 0 and load_byte(sweep.wanted, target) != 0:
                    return 1
                if has_to_wait(sweep, target) != 0:
                    store_half(sweep.waiting, sweep.waiting_count, target)
                    sweep.waiting_count += 1
    return 0


def reach_wanted(sweep: PhaseSweep) -> int:
    """Whether the last phase reaches a wanted state from the marked ones: 1, or 0.

    Most steps lead to higher numbers: one pass upwards follows them, and the states to which others lead wait for it.
    """
    for state in range(sweep.states):
        if is_stopped(sweep.stopping, state) != 0:
            return 0
        sweep.passed = state
        if follow_steps(sweep, state) != 0:
            return 1
    sweep.passed = sweep.states
    while sweep.waiting_count > 0:
        if is_stopped(sweep.stopping, sweep.waiting_count) != 0:
            return 0
        sweep.waiting_count -= 1
        if follow_steps(sweep, load_half(sweep.waiting, sweep.waiting_count)) != 0:
            return 1
    return 0


@inlined
def is_wanted_step(ways: ComponentPaths, step: int) -> int:
    """1 if a step is in one of the wanted sets, else 0."""
    conditions = ways.conditions
    clear(conditions.taken, conditions.words, 0)
    add_labels(conditions, load_code(ways.labels, step), conditions.taken)
    table = conditions.step_column_table
    add_columns(conditions.step_columns, table, conditions.label_words, step, conditions.taken)
    for word in range(conditions.words):
        if load(conditions.taken, word) & load(ways.wanted_steps, word) != 0:
            return 1
    return 0


@inlined
def is_wanted_state(ways: ComponentPaths, state: int) -> int:
    """1 if a state is the goal, is in a wanted set, or lacks steps of a set that some wanted state must lack;
    else 0.
    """
    if state == ways.goal:
        return 1
    conditions = ways.conditions
    clear(conditions.here_states, conditions.state_words, 0)
    add_columns(conditions.state_columns, conditions.state_column_table, 0, state, conditions.here_states)
    for word in range(conditions.state_words):
        if load(conditions.here_states, word) & load(ways.wanted_states, word) != 0:
            return 1
    wanted = 0
    for word in range(conditions.words):
        wanted |= load(ways.wanted_lacks, word)
    if wanted == 0:
        return 0
    clear(conditions.here, conditions.words, 0)
    for step in range(load(ways.offsets, state), load(ways.offsets, state + 1)):
        if load_half(ways.targets, step) != state:
            add_labels(conditions, load_code(ways.labels, step), conditions.here)
        table = conditions.step_column_table
        add_columns(conditions.step_columns, table, conditions.label_words, step, conditions.here)
    for word in range(conditions.words):
        if load(ways.wanted_lacks, word) & ~load(conditions.here, word) != 0:
            return 1
    return 0


@inlined
def stays_inside(ways: ComponentPaths, state: int, target: int, step: int) -> int:
    """1 if a step leads to another state of the component, else 0."""
    if target >= ways.states or target == state or load_half(ways.components, target) != ways.component:
        return 0
    return 1 if ways.allowed == 0 or load_byte(ways.allowed, step) != 0 else 0


def find_way(ways: ComponentPaths, start: int) -> int:
    """The nearest wanted state, or the end of the nearest wanted step, by at least one step; -1 if there is none.

    `before` leads back from there to the start; it gives the state before the last step in `queue[0]`.
    """
    mark, queue = ways.mark, ways.queue
    store_half(queue, 0, start)
    store_half(ways.reached, start, mark)
    begin = 0
    end = 1
    while begin < end:
        if is_stopped(ways.stopping, begin) != 0:
            return -1
        state = load_half(queue, begin)
        begin += 1
        for step in range(load(ways.offsets, state), load(ways.offsets, state + 1)):
            target = load_half(ways.targets, step)
            if stays_inside(ways, state, target, step) != 0:
                new = 1 if load_half(ways.reached, target) != mark else 0
                wanted = is_wanted_step(ways, step)
                if wanted == 0 and (new != 0 or target == ways.goal):
                    wanted = is_wanted_state(ways, target)
                if wanted != 0:
                    store_half(queue, 0, state)
                    return target
                if new != 0:
                    store_half(ways.reached, target, mark)
                    store_half(ways.before, target, state)
                    store_half(queue, end, target)
                    end += 1
    return -1
