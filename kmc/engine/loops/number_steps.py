"""The loops that turn a search's records into parts of the behaviour graph, with numbers for fingerprints.

The number of a state lies beside its slot in the fingerprint table. Numbers of one level follow the order of its
fingerprints, and so do slots, so numbers are written in order.
"""

from __future__ import annotations

from kmc.engine.layout import control_words as f
from kmc.engine.layout.control_words import GraphPart
from kmc.engine.loops.behaviour_log import (
    APART,
    COUNT,
    DROPPED,
    FOLLOWED,
    HEAD_WORDS,
    LABEL_MASK,
    LENGTH,
    SLOT_SHIFT,
)
from kmc.engine.loops.fingerprint_table_64 import home
from kmc.engine.loops.fingerprint_table_128 import word_of
from kmc.engine.native.intrinsics import (
    before_among_eight,
    equal_in_line,
    inlined,
    is_less,
    load,
    load_half,
    lowest,
    ones,
    prefetch,
    store,
    store_code,
    store_half,
)
from kmc.engine.native.specialization import NOTES_SLOTS, WIDE
from kmc.engine.native.words import Address, Fingerprint, Slot

OUTSIDE = 0xFFFF_FFFF
"""`kmc.liveness.behaviour_graph.OUTSIDE`."""

_LABEL_BITS = 16
_AHEAD = 2
_SOURCES_AHEAD = 8
_NOTES_AHEAD = 256
"""The number of words by which prefetching is ahead; records are read one after another, and only a record itself gives
its end.
"""

_FEW = 64
"""The number of entries up to which each entry is ranked by counting how many are less."""


@inlined
def slot_with(table: Address, slots: int, fingerprint: Address) -> int:
    """The slot of the fingerprint at an address, -1 if it is not in the table. No thread inserts meanwhile."""
    first = Fingerprint(load(fingerprint, 0))
    line = home(first, slots)
    while True:
        word = word_of(line) if WIDE != 0 else line
        same = equal_in_line(table, word, first)
        if WIDE == 0:
            if same != 0:
                return line + lowest(same)
        else:
            while same != 0:
                if load(table, word + lowest(same) + f.LINE_WORDS) == load(fingerprint, 1):
                    return line + lowest(same)
                same &= same - 1
        if equal_in_line(table, word, 0) != 0:
            return -1
        line = Slot(line + f.LINE_WORDS)
        if line == slots:
            line = Slot(0)


@inlined
def number_with(part: GraphPart, fingerprint: Address) -> int:
    """The number of the state with the fingerprint at an address; OUTSIDE if it is not known."""
    slot = slot_with(part.table, part.slots, fingerprint)
    return OUTSIDE if slot < 0 else load_half(part.numbers, slot)


@inlined
def ask_for_number(part: GraphPart, fingerprint: Fingerprint) -> None:
    """Ask for the memory where a fingerprint and its number are likely to be."""
    line = home(fingerprint, part.slots)
    prefetch(part.table, word_of(line) if WIDE != 0 else line)
    prefetch(part.numbers, line // 2)


@inlined
def label_of(step: Address) -> int:
    """The label of a step, with flags."""
    return load(step, 0) if NOTES_SLOTS != 0 else load(step, 1 + WIDE)


@inlined
def step_words(part: GraphPart, step: Address) -> int:
    """The number of words that were recorded for a step."""
    words = 1 + part.step_atom_words
    if NOTES_SLOTS == 0:
        return words + 1 + WIDE
    return words + 1 if load(step, 0) & FOLLOWED != 0 else words


@inlined
def fingerprint_of(part: GraphPart, step: Address) -> Address:
    """The address of the fingerprint of the target of a step, if that was recorded."""
    return Address(step + (1 + part.step_atom_words) * f.WORD_BYTES if NOTES_SLOTS != 0 else step)


@inlined
def atoms_of(step: Address) -> int:
    """The address of the masks of the atoms of a step."""
    return step + f.WORD_BYTES if NOTES_SLOTS != 0 else step + (HEAD_WORDS + WIDE) * f.WORD_BYTES


@inlined
def behind(part: GraphPart, step: Address) -> Address:
    """The address of the next step."""
    return Address(step + step_words(part, step) * f.WORD_BYTES)


@inlined
def behind_steps(part: GraphPart, source: Address) -> Address:
    """The address of the record behind a source and its steps."""
    if NOTES_SLOTS != 0:
        return Address(source + (HEAD_WORDS + load_half(source, LENGTH)) * f.WORD_BYTES)
    return Address(source + (HEAD_WORDS + WIDE + load(source, 1 + WIDE) * step_words(part, source)) * f.WORD_BYTES)


@inlined
def steps_of(source: Address) -> int:
    """The number of steps of a source."""
    return load_half(source, COUNT) if NOTES_SLOTS != 0 else load(source, 1 + WIDE)


@inlined
def number_of_target(part: GraphPart, step: Address) -> int:
    """The number of the target of a step, from its slot if the slot was recorded."""
    if NOTES_SLOTS != 0 and load(step, 0) & FOLLOWED == 0:
        return load_half(part.numbers, load(step, 0) >> SLOT_SHIFT)
    return number_with(part, fingerprint_of(part, step))


@inlined
def ask_for_target(part: GraphPart, step: Address) -> None:
    """Ask for the memory that `number_of_target` will read."""
    if NOTES_SLOTS != 0 and load(step, 0) & FOLLOWED == 0:
        prefetch(part.numbers, load(step, 0) >> (SLOT_SHIFT + 1))
    else:
        ask_for_number(part, Fingerprint(load(fingerprint_of(part, step), 0)))


def give_numbers(part: GraphPart, fingerprints: Address, count: int) -> int:
    """Give `count` states, whose fingerprints lie at an address, the numbers from `first` on; return 0."""
    # Tasks write numbers of different states side by side: 32 bits each, never more, so they do not meet.
    for index in range(count):
        fingerprint = Address(fingerprints + index * (1 + WIDE) * f.WORD_BYTES)
        store_half(part.numbers, slot_with(part.table, part.slots, fingerprint), part.first + index)
    return 0


def list_sources(part: GraphPart) -> int:
    """Write the offset of each source, in words from the first; return the number of sources."""
    source, count = part.steps, 0
    while source != part.steps_end:
        store(part.places, count, (source - part.steps) // f.WORD_BYTES)
        source = behind_steps(part, source)
        count += 1
    return count


def unfold_steps(part: GraphPart) -> int:
    """Write the records to `entries` with fingerprints instead of slots; return the number of words written.

    For the time when the table grows, and states get other slots.
    """
    step, out = part.steps, part.entries
    while step != part.steps_end:
        head, end = out, behind_steps(part, step)
        copy_words(out, step, HEAD_WORDS)
        step = Address(step + HEAD_WORDS * f.WORD_BYTES)
        out = Address(out + HEAD_WORDS * f.WORD_BYTES)
        while step != end:
            copy_words(out, step, step_words(part, step))
            if load(step, 0) & FOLLOWED == 0:
                store(out, 0, load(step, 0) & (1 << SLOT_SHIFT) - 1 | FOLLOWED)
                store(fingerprint_of(part, out), 0, load(part.table, load(step, 0) >> SLOT_SHIFT))
            step = behind(part, step)
            out = behind(part, out)
        store_half(head, LENGTH, (out - head) // f.WORD_BYTES - HEAD_WORDS)
    return (out - part.entries) // f.WORD_BYTES


def find_sources(part: GraphPart) -> int:
    """Write the address and the number of the steps of each source; return 0."""
    source = ahead = part.steps
    for _ in range(_SOURCES_AHEAD):
        ahead = ask_for_source(part, ahead)
    while source != part.steps_end:
        ahead = ask_for_source(part, ahead)
        # In bounds: sources are states of the level whose numbers begin at `first`, and each was given one before.
        index = number_with(part, source) - part.first
        store(part.places, index, source + (HEAD_WORDS + WIDE) * f.WORD_BYTES)
        store_half(part.counts, index, steps_of(source))
        source = behind_steps(part, source)
    return 0


def write_steps(part: GraphPart) -> int:
    """Write the steps of the states from `start` to `end`, and replace each state's count by its number of steps;
    return 0.
    """
    part.written = 0
    for index in range(part.start, part.end):
        if index + 2 * _AHEAD < part.end:
            ask_for_steps(part, index + 2 * _AHEAD)
        if index + _AHEAD < part.end:
            ask_for_targets(part, index + _AHEAD)
        count = load_half(part.counts, index)
        translate(part, index, count)
        before = part.written
        if part.step_atom_words == 0:
            if count > _FEW or append_ranked(part, count) == 0:
                sort_words(part.entries, count)
                append_words(part, count)
        else:
            sort(part, count)
            append_different(part, count)
        store_half(part.counts, index, part.written - before)
    return 0


@inlined
def ask_for_source(part: GraphPart, source: Address) -> Address:
    """Prefetch the number of the source recorded at an address; return the address of the next source."""
    if source == part.steps_end:
        return source
    for word in range(_NOTES_AHEAD, _NOTES_AHEAD + 3 * f.LINE_WORDS, f.LINE_WORDS):
        prefetch(source, word)
    ask_for_number(part, Fingerprint(load(source, 0)))
    return behind_steps(part, source)


@inlined
def ask_for_steps(part: GraphPart, index: int) -> None:
    """Prefetch the recorded steps of a state."""
    steps = load(part.places, index)
    words = 1 + part.step_atom_words if NOTES_SLOTS != 0 else HEAD_WORDS + WIDE + part.step_atom_words
    for word in range(0, load_half(part.counts, index) * words, f.LINE_WORDS):
        prefetch(steps, word)


@inlined
def ask_for_targets(part: GraphPart, index: int) -> None:
    """Ask for the memory where the targets of a state's steps will be looked for."""
    step = Address(load(part.places, index))
    for _ in range(load_half(part.counts, index)):
        ask_for_target(part, step)
        step = behind(part, step)


@inlined
def is_same(left: int, right: int) -> int:
    """1 if the fingerprints at two addresses are equal, else 0."""
    if load(left, 0) != load(right, 0):
        return 0
    if WIDE != 0 and load(left, 1) != load(right, 1):
        return 0
    return 1


@inlined
def target_of(part: GraphPart, index: int, count: int, step: Address) -> int:
    """The number of the target of a step, or OUTSIDE."""
    flags = label_of(step)
    if flags & (DROPPED | APART) == 0:
        return number_of_target(part, step)
    # A step that looks like stuttering to a person is a stuttering step, whichever action allows it.
    steps, fingerprint = Address(load(part.places, index)), fingerprint_of(part, step)
    if is_same(fingerprint, steps - (HEAD_WORDS + WIDE) * f.WORD_BYTES) != 0:
        return part.first + index
    if flags & APART != 0:
        target = number_with(part, fingerprint)
        other = steps
        for _ in range(count):
            if label_of(other) & (DROPPED | APART) == 0 and number_of_target(part, other) == target:
                return target
            other = behind(part, other)
    return OUTSIDE


@inlined
def translate(part: GraphPart, index: int, count: int) -> None:
    """Write an entry for each step of a state: target and label in one word, then the masks of its atoms."""
    step = Address(load(part.places, index))
    entry = part.entries
    for _ in range(count):
        store(entry, 0, target_of(part, index, count, step) << _LABEL_BITS | label_of(step) & LABEL_MASK)
        copy_words(entry + f.WORD_BYTES, atoms_of(step), part.step_atom_words)
        step = behind(part, step)
        entry = Address(entry + (1 + part.step_atom_words) * f.WORD_BYTES)


@inlined
def entry_at(part: GraphPart, index: int) -> int:
    """The address of an entry."""
    return part.entries + index * (1 + part.step_atom_words) * f.WORD_BYTES


@inlined
def is_before(left: int, right: int, words: int) -> int:
    """1 if the words at one address are less than those at another, the first ones counting most; else 0."""
    for word in range(words):
        if load(left, word) != load(right, word):
            return is_less(load(left, word), load(right, word))
    return 0


@inlined
def copy_words(target: int, source: int, words: int) -> None:
    """Copy words that do not overlap."""
    for word in range(words):
        store(target, word, load(source, word))


@inlined
def sort(part: GraphPart, count: int) -> None:
    """Sort the entries, by insertion over shrinking gaps: most states have few. There is room for one more behind
    them.
    """
    words = 1 + part.step_atom_words
    gap = 1
    while gap < count // 3:
        gap = 3 * gap + 1
    moved = entry_at(part, count)
    while gap > 0:
        for index in range(gap, count):
            copy_words(moved, entry_at(part, index), words)
            position = index
            while position >= gap and is_before(moved, entry_at(part, position - gap), words) != 0:
                copy_words(entry_at(part, position), entry_at(part, position - gap), words)
                position -= gap
            copy_words(entry_at(part, position), moved, words)
        gap //= 3


@inlined
def sort_words(entries: int, count: int) -> None:
    """`sort` for entries of one word."""
    gap = 1
    while gap < count // 8:
        gap = 3 * gap + 1
    while gap > 0:
        for index in range(gap, count):
            moved = load(entries, index)
            position = index
            while position >= gap and is_less(moved, load(entries, position - gap)) != 0:
                store(entries, position, load(entries, position - gap))
                position -= gap
            store(entries, position, moved)
        gap //= 3


@inlined
def append_ranked(part: GraphPart, count: int) -> int:
    """Append entries of one word in their order, if all are different: 1, or 0. Up to 7 words behind them are written.

    The rank of an entry is its index, and comparing eight entries at a time needs no branch that is hard to predict.
    """
    entries, written = part.entries, part.written
    targets, labels = part.targets, part.labels
    whole = (count + f.LINE_WORDS - 1) // f.LINE_WORDS * f.LINE_WORDS
    # -1 is the largest unsigned number, so no entry ranks behind the padding.
    for index in range(count, whole):
        store(entries, index, -1)
    ranks = 0
    # Equal entries have one rank, so the ranks of different ones alone are 0, 1, 2, ... and add up to their sum. The
    # entries written for equal ones are overwritten by `append_words`.
    for index in range(count):
        entry = load(entries, index)
        rank = 0
        for first in range(0, whole, f.LINE_WORDS):
            rank += ones(before_among_eight(entries, first, entry))
        ranks += rank
        store_half(targets, written + rank, entry >> _LABEL_BITS)
        store_code(labels, written + rank, entry & LABEL_MASK)
    if ranks != count * (count - 1) // 2:
        return 0
    part.written = written + count
    return 1


@inlined
def append_words(part: GraphPart, count: int) -> None:
    """`append_different` for entries of one word."""
    entries, written = part.entries, part.written
    targets, labels = part.targets, part.labels
    last = -1
    for index in range(count):
        entry = load(entries, index)
        if entry != last:
            store_half(targets, written, entry >> _LABEL_BITS)
            store_code(labels, written, entry & LABEL_MASK)
            written += 1
        last = entry
    part.written = written


@inlined
def append_different(part: GraphPart, count: int) -> None:
    """Append the entries to the written steps, each once."""
    words = 1 + part.step_atom_words
    written = part.written
    for index in range(count):
        entry = entry_at(part, index)
        if index == 0 or is_before(entry - words * f.WORD_BYTES, entry, words) != 0:
            store_half(part.targets, written, load(entry, 0) >> _LABEL_BITS)
            store_code(part.labels, written, load(entry, 0) & LABEL_MASK)
            for word in range(part.step_atom_words):
                store(part.atoms, written * part.step_atom_words + word, load(entry, 1 + word))
            written += 1
    part.written = written
