"""Native loops: strongly connected components, and which of them meet all conditions.

Pearce's algorithm (Information Processing Letters 116, 2016) with explicit stacks. A component is checked when it is
complete. It is fair; or it is discarded, since no part of it can meet some recurrence; or the states that trigger a
response without an answer are removed, and the rest is searched again. So each round removes a state.

Invariant: a state whose index is not DONE is part of the region that is being searched. A component without a step
between two different states is not a cycle.
"""

from __future__ import annotations

from kmc.engine.native.intrinsics import (
    inlined,
    load,
    load_byte,
    load_code,
    load_half,
    prefetch,
    store,
    store_half,
)
from kmc.engine.native.structs import Struct

_SELDOM = (1 << 12) - 1

DONE = 0xFFFF_FFFF
"""The index of a state that is not searched, or no more."""

CURRENT = DONE - 1
"""The index of the states of the component that is being checked."""

_AHEAD = 8
"""The number of states by which prefetching of steps is ahead."""

FAIR = 1
UNFAIR = 2
SHRINKS = 3


class Conditions(Struct):
    """Conditions on a cycle, see `condition_masks`, and room for the words gathered from a component."""

    table: int  # by label: `label_words` words of the sets of steps that labels name
    table_bytes: int  # of a row
    label_words: int
    words: int  # of all sets of steps: first those by label, then the columns
    step_columns: int
    step_column_table: int  # the address of each column
    state_words: int
    state_columns: int
    state_column_table: int
    weak: int  # the sets with weak fairness
    strong: int
    asked_steps: int  # the sets of which it matters whether a step is taken, wherever they are enabled
    asked_states: int
    recurrences: int  # pairs: the bit of a set of states, that of a set of steps; -1 for none
    recurrence_count: int
    responses: int  # triples: the trigger, then as above
    response_count: int
    # Of the component that is checked.
    taken: int  # the sets of which a step is taken
    some: int  # the sets of which some state has a step
    every: int  # the sets of which every state has a step
    here: int  # the sets of which this state has a step
    some_states: int
    here_states: int
    bad_triggers: int


class ComponentSearch(Struct):
    """The graph, which of its states are searched, and the fair components that were found."""

    offsets: int
    targets: int
    labels: int
    allowed: int  # a byte per step, or 0: all are allowed
    states: int  # how many states are expanded
    indexes: int  # 32 bits per state: 0 to search it, or DONE
    stack: int  # 32 bits per state
    cursors: int  # 32 bits per state
    pending: int  # regions that are left to search, 32 bits per state
    pending_count: int
    sizes: int  # of the regions
    regions: int
    fair: int  # the states of the fair components, one after another
    fair_count: int
    ends: int  # where each of them ends
    components: int  # how many they are
    entering: int  # how many more states may be entered; the others are left out
    stopping: int  # the address of a word that is not 0 when the loop shall end
    conditions: Conditions


@inlined
def is_stopped(stopping: int, count: int) -> int:
    """1 if the loop shall end, else 0; the stop word is read only for some values of the loop counter."""
    return 1 if count & _SELDOM == 0 and load(stopping, 0) != 0 else 0


@inlined
def clear(words: int, count: int, value: int) -> None:
    """Set words to a value."""
    for word in range(count):
        store(words, word, value)


@inlined
def merge(target: int, source: int, count: int) -> None:
    """Add the bits of words to others."""
    for word in range(count):
        store(target, word, load(target, word) | load(source, word))


@inlined
def has_bit(words: int, bit: int) -> int:
    """1 if a bit is set, else 0; -1 means no bit."""
    if bit < 0:
        return 0
    return (load(words, bit >> 6) >> (bit & 63)) & 1


@inlined
def add_labels(conditions: Conditions, label: int, words: int) -> None:
    """Add the sets that a label belongs to."""
    row = conditions.table + label * conditions.table_bytes
    for word in range(conditions.label_words):
        store(words, word, load(words, word) | load(row, word))


@inlined
def add_columns(columns: int, table: int, first: int, row: int, words: int) -> None:
    """Add the sets that columns give for a step or a state, from word `first` on."""
    for column in range(columns):
        word = first + (column >> 3)
        byte = load_byte(load(table, column), row)
        store(words, word, load(words, word) | byte << ((column & 7) * 8))


@inlined
def note_steps(conditions: Conditions, state: int, offsets: int, targets: int, labels: int) -> None:
    """Set `here` to the sets of which a state has a step; one to itself is not in a set that labels name."""
    here, columns = conditions.here, conditions.step_columns
    clear(here, conditions.words, 0)
    for step in range(load(offsets, state), load(offsets, state + 1)):
        if load_half(targets, step) != state:
            add_labels(conditions, load_code(labels, step), here)
        if columns != 0:
            add_columns(columns, conditions.step_column_table, conditions.label_words, step, here)


@inlined
def note_states(conditions: Conditions, state: int) -> None:
    """Set `here_states` to the sets that a state belongs to."""
    clear(conditions.here_states, conditions.state_words, 0)
    if conditions.state_columns != 0:
        table = conditions.state_column_table
        add_columns(conditions.state_columns, table, 0, state, conditions.here_states)


@inlined
def note_taken(search: ComponentSearch, state: int) -> None:
    """Add to `taken` the sets of the steps from a state to others of the component that is checked."""
    conditions = search.conditions
    offsets, targets = search.offsets, search.targets
    labels, allowed = search.labels, search.allowed
    states, indexes, columns = search.states, search.indexes, conditions.step_columns
    for step in range(load(offsets, state), load(offsets, state + 1)):
        target = load_half(targets, step)
        inside = target < states and target != state and load_half(indexes, target) == CURRENT
        if inside and (allowed == 0 or load_byte(allowed, step) != 0):
            add_labels(conditions, load_code(labels, step), conditions.taken)
            if columns != 0:
                table = conditions.step_column_table
                add_columns(columns, table, conditions.label_words, step, conditions.taken)


@inlined
def ask_for_indexes(search: ComponentSearch, begin: int, end: int) -> None:
    """Ask for the indexes of the targets of some steps."""
    targets, indexes = search.targets, search.indexes
    for step in range(begin, end):
        prefetch(indexes, load_half(targets, step) // 2)


@inlined
def ask_for_targets(search: ComponentSearch, begin: int, end: int) -> None:
    """Prefetch the words that will be read of the targets of some steps, one of which may be entered next."""
    targets, indexes, offsets = search.targets, search.indexes, search.offsets
    for step in range(begin, end):
        target = load_half(targets, step)
        prefetch(indexes, target // 2)
        prefetch(offsets, target)


@inlined
def ask_for_way_back(search: ComponentSearch, depth: int) -> None:
    """Prefetch the words that will be read of the states to which the search will return, of the farthest first."""
    stack, offsets = search.stack, search.offsets
    if depth >= 3 * _AHEAD:
        prefetch(offsets, load_half(stack, depth - 3 * _AHEAD))
        step = load(offsets, load_half(stack, depth - 2 * _AHEAD))
        prefetch(search.targets, (step + (load_half(search.cursors, depth - 2 * _AHEAD) >> 1)) // 2)
        near = load_half(stack, depth - _AHEAD)
        prefetch(search.indexes, near // 2)
        begin = load(offsets, near) + (load_half(search.cursors, depth - _AHEAD) >> 1)
        ask_for_indexes(search, begin, load(offsets, near + 1))


@inlined
def ask_for_members(search: ComponentSearch, members: int) -> None:
    """Prefetch the words that will be read of the members behind one: of the farthest first where its steps are."""
    offsets = search.offsets
    prefetch(offsets, load_half(members, 3 * _AHEAD))
    step = load(offsets, load_half(members, 2 * _AHEAD))
    prefetch(search.targets, step // 2)
    prefetch(search.labels, step // 4)
    near = load_half(members, _AHEAD)
    ask_for_indexes(search, load(offsets, near), load(offsets, near + 1))


@inlined
def may_need_steps(conditions: Conditions) -> int:
    """1 if the steps of more states may matter, else 0: weak fairness may be missed, or a set may have a step."""
    for word in range(conditions.words):
        asked = load(conditions.asked_steps, word) | load(conditions.weak, word) & load(conditions.every, word)
        if asked & ~load(conditions.taken, word) != 0:
            return 1
    return 0


@inlined
def may_need_states(conditions: Conditions) -> int:
    """1 if the sets to which more states belong may matter, else 0."""
    for word in range(conditions.state_words):
        if load(conditions.asked_states, word) & ~load(conditions.some_states, word) != 0:
            return 1
    return 0


@inlined
def gather(search: ComponentSearch, members: int, count: int) -> None:
    """Gather the words of a component: steps taken, steps enabled in some state or in every one, states.

    It ends when the remaining states cannot change whether conditions are met: in a large component, after a few
    states.
    """
    conditions = search.conditions
    words, state_words = conditions.words, conditions.state_words
    clear(conditions.taken, words, 0)
    clear(conditions.some, words, 0)
    clear(conditions.every, words, -1)
    clear(conditions.some_states, state_words, 0)
    for index in range(count):
        store_half(search.indexes, load_half(members, index), CURRENT)
    index = 0
    while index < count and may_need_steps(conditions) != 0:
        if is_stopped(search.stopping, index) != 0:
            return
        if index + 3 * _AHEAD < count:
            ask_for_members(search, members + index * 4)
        state = load_half(members, index)
        note_steps(conditions, state, search.offsets, search.targets, search.labels)
        note_taken(search, state)
        merge(conditions.some, conditions.here, words)
        for word in range(words):
            store(conditions.every, word, load(conditions.every, word) & load(conditions.here, word))
        note_states(conditions, state)
        merge(conditions.some_states, conditions.here_states, state_words)
        index += 1
    while index < count and may_need_states(conditions) != 0:
        if is_stopped(search.stopping, index) != 0:
            return
        note_states(conditions, load_half(members, index))
        merge(conditions.some_states, conditions.here_states, state_words)
        index += 1


@inlined
def lacks_recurrence(conditions: Conditions) -> int:
    """1 if the gathered words miss weak fairness or another recurrence, which every part of it misses too."""
    for word in range(conditions.words):
        if load(conditions.weak, word) & load(conditions.every, word) & ~load(conditions.taken, word) != 0:
            return 1
    for index in range(conditions.recurrence_count):
        states, steps = load(conditions.recurrences, 2 * index), load(conditions.recurrences, 2 * index + 1)
        if has_bit(conditions.some_states, states) == 0 and has_bit(conditions.taken, steps) == 0:
            return 1
    return 0


@inlined
def find_bad_triggers(conditions: Conditions) -> int:
    """1 if some trigger is met and its answer is not. `some` and `bad_triggers` become the sets of these triggers."""
    any_bad = 0
    for word in range(conditions.words):
        bad = load(conditions.strong, word) & load(conditions.some, word) & ~load(conditions.taken, word)
        store(conditions.some, word, bad)
        any_bad |= bad
    clear(conditions.bad_triggers, conditions.state_words, 0)
    for index in range(conditions.response_count):
        trigger, states = load(conditions.responses, 3 * index), load(conditions.responses, 3 * index + 1)
        steps = load(conditions.responses, 3 * index + 2)
        answered = has_bit(conditions.some_states, states) | has_bit(conditions.taken, steps)
        if answered == 0 and has_bit(conditions.some_states, trigger) != 0:
            word = trigger >> 6
            store(conditions.bad_triggers, word, load(conditions.bad_triggers, word) | 1 << (trigger & 63))
            any_bad |= 1
    return 1 if any_bad != 0 else 0


@inlined
def triggers(search: ComponentSearch, state: int) -> int:
    """1 if a state triggers one of the responses that have no answer, else 0."""
    conditions = search.conditions
    note_steps(conditions, state, search.offsets, search.targets, search.labels)
    note_states(conditions, state)
    met = 0
    for word in range(conditions.words):
        met |= load(conditions.some, word) & load(conditions.here, word)
    for word in range(conditions.state_words):
        met |= load(conditions.bad_triggers, word) & load(conditions.here_states, word)
    return 1 if met != 0 else 0


@inlined
def check_component(search: ComponentSearch, members: int, count: int) -> None:
    """Keep a component that is fair; of one that is not, leave pending the states that may hold a fair cycle."""
    conditions = search.conditions
    gather(search, members, count)
    if lacks_recurrence(conditions) == 0:
        if find_bad_triggers(conditions) == 0:
            end = search.fair_count
            for index in range(count):
                store_half(search.fair, end + index, load_half(members, index))
            search.fair_count = end + count
            store(search.ends, search.components, end + count)
            search.components += 1
        else:
            end = search.pending_count
            for index in range(count):
                if is_stopped(search.stopping, index) != 0:
                    return
                state = load_half(members, index)
                store_half(search.pending, end, state)
                end += 1 - triggers(search, state)
            size = end - search.pending_count
            if size > 1:
                store_half(search.sizes, search.regions, size)
                search.regions += 1
                search.pending_count = end
    for index in range(count):
        store_half(search.indexes, load_half(members, index), DONE)


@inlined
def close_component(search: ComponentSearch, closed: int, root: int, low: int) -> int:
    """Pop a whole component from the stack and test whether it is fair.

    ``closed`` is where the states of open components begin on the stack; ``low`` is the index of the component's
    ``root``. Returns where the states of the components that are still open begin.
    """
    begin = closed
    while closed < search.states and load_half(search.indexes, load_half(search.stack, closed)) >= low:
        closed += 1
    if begin == closed:
        store_half(search.indexes, root, DONE)
    else:
        store_half(search.stack, begin - 1, root)
        check_component(search, search.stack + (begin - 1) * 4, closed - begin + 1)
    return closed


@inlined
def search_from(search: ComponentSearch, root: int) -> None:
    """Find the components of all that is reached from a state."""
    offsets, targets = search.offsets, search.targets
    allowed, states, entering = search.allowed, search.states, search.entering
    indexes, stack, cursors = search.indexes, search.stack, search.cursors
    depth = 0
    visited = 1
    # States of open components that have no step left are at the end of the stack.
    closed = states
    store_half(stack, 0, root)
    store_half(cursors, 0, 0)
    store_half(indexes, root, 1)
    while depth >= 0:
        state = load_half(stack, depth)
        low = load_half(indexes, state)
        cursor = load_half(cursors, depth)
        lowered = cursor & 1
        first = load(offsets, state)
        step, end = first + (cursor >> 1), load(offsets, state + 1)
        if cursor == 0:
            ask_for_targets(search, step, end)
        child = -1
        while step < end:
            target = load_half(targets, step)
            if target < states and (allowed == 0 or load_byte(allowed, step) != 0):
                other = load_half(indexes, target)
                if other == 0:
                    if visited < entering:
                        child = target
                        break
                elif other < low:
                    low = other
                    lowered = 1
            step += 1
        store_half(indexes, state, low)
        if child >= 0:
            # The step is looked at once more when the child is complete: it may lead to a lower index then.
            store_half(cursors, depth, (step - first) << 1 | lowered)
            depth += 1
            visited += 1
            if is_stopped(search.stopping, visited) != 0:
                return
            store_half(stack, depth, child)
            store_half(cursors, depth, 0)
            store_half(indexes, child, visited)
        else:
            ask_for_way_back(search, depth)
            depth -= 1
            if lowered == 0:
                closed = close_component(search, closed, state, low)
            else:
                closed -= 1
                store_half(stack, closed, state)
    search.entering = entering - visited


def find_components(search: ComponentSearch) -> int:
    """Find the fair components; return their number."""
    for state in range(search.states):
        if load_half(search.indexes, state) == 0:
            if search.entering > 0:
                search_from(search, state)
            else:
                store_half(search.indexes, state, DONE)
            if load(search.stopping, 0) != 0:
                return 0
    while search.regions > 0:
        search.entering = search.states
        search.regions -= 1
        known, end = search.regions, search.pending_count
        size = load_half(search.sizes, known)
        begin = end - size
        for index in range(begin, end):
            store_half(search.indexes, load_half(search.pending, index), 0)
        for index in range(begin, end):
            state = load_half(search.pending, index)
            if load_half(search.indexes, state) == 0:
                search_from(search, state)
            if load(search.stopping, 0) != 0:
                return 0
        # The rest of this region lies behind it, and moves to its place.
        for index in range(end, search.pending_count):
            store_half(search.pending, index - size, load_half(search.pending, index))
        search.pending_count -= size
    return search.components
