"""The native loops of a search: expand rows, look up what they lead to, keep what is new.

Invariant: a loop returns only between two batches, with everything that it needs to go on in the thread's control
words; so Python can enlarge any memory and call it again, and a thread that is told to pause loses nothing. A batch
is taken only when all memory that it may need is there.

Each thread takes chunks of the frontier from a counter, and successors of about `BATCH` states lie in its out buffer
while the cache lines of their slots are on their way.
"""

from __future__ import annotations

from kmc.engine.layout import control_words as f
from kmc.engine.layout.packed_rows import is_dead, length_of, mark_dead, row_of, unpacked_words
from kmc.engine.loops.check_properties import (
    count,
    is_inside,
    judge,
    judge_step,
    judge_touched,
    note,
    rank_if_any,
    rank_of,
    touched_by_step,
)
from kmc.engine.loops.known_states import (
    ask_for,
    best_in_level,
    inserted,
    is_known,
    may_be_new,
    rank_in_level,
    slot_in_level,
)
from kmc.engine.loops.pack import pack
from kmc.engine.loops.table_64 import EQUAL, LEAST, contains
from kmc.engine.loops.unpack import unpack
from kmc.engine.native.intrinsics import (
    add,
    call_one,
    call_three,
    call_two,
    copy_eight,
    inlined,
    load,
    load_shared,
    store,
)
from kmc.engine.native.specialization import DELAYED, RANKED


@inlined
def words_of(record: int) -> int:
    """The words of a record that `expand` wrote, head included."""
    return (load(record, 0) & f.LENGTH_MASK) + f.RECORD_HEAD_WORDS


@inlined
def next_row(shared: int, mine: int) -> int:
    """Step to the next record of the frontier: 1, or 0 when there is none."""
    if load(mine, f.ROWS_LEFT) == 0:
        chunk = add(shared, f.NEXT_CHUNK, 1)
        if chunk >= load(shared, f.CHUNK_COUNT):
            return 0
        entry = load(shared, f.CHUNKS) + chunk * (f.CHUNK_WORDS * f.WORD_BYTES)
        store(mine, f.RECORD, load(entry, 0))
        store(mine, f.ROWS_LEFT, load(entry, 1))
        store(mine, f.ORDINAL, load(entry, 2))
        store(mine, f.BEFORE, load(mine, f.NO_RECORD))
    return 1


@inlined
def leave_row(mine: int) -> None:
    """The source is done: the next record of the chunk follows it, and is told from it."""
    source = load(mine, f.SOURCE)
    store(mine, f.BEFORE, source)
    store(mine, f.ROWS_USED, load(mine, f.ROWS_USED) + unpacked_words(load(source, 0)))
    store(mine, f.RECORD, load(mine, f.RECORD_END))
    store(mine, f.ROWS_LEFT, load(mine, f.ROWS_LEFT) - 1)
    store(mine, f.ORDINAL, load(mine, f.ORDINAL) + 1)


@inlined
def enter_row(shared: int, mine: int) -> int:
    """Unpack the record that is next behind the rows that are pending, and make it the source: 1, or 0 for no room."""
    words = unpacked_words(length_of(load(mine, f.RECORD)))
    if load(mine, f.ROWS_USED) + words > load(mine, f.ROWS_WORDS):
        if load(mine, f.PENDING) != 0:
            return 0
        keep_last_row(mine)
        if load(mine, f.ROWS_USED) + words > load(mine, f.ROWS_WORDS):
            return 0
    record = load(mine, f.ROWS) + load(mine, f.ROWS_USED) * f.WORD_BYTES
    store(mine, f.RECORD_END, unpack(shared, load(mine, f.RECORD), load(mine, f.BEFORE), record))
    store(mine, f.SOURCE, record)
    return 1


@inlined
def keep_last_row(mine: int) -> None:
    """No row is pending any more: forget all but the one that the next is told from, and move it to the beginning."""
    before, rows = load(mine, f.BEFORE), load(mine, f.ROWS)
    used = 0
    if before != load(mine, f.NO_RECORD):
        used = unpacked_words(load(before, 0))
        if before != rows:
            for place in range(0, used * f.WORD_BYTES, f.LINE_WORDS * f.WORD_BYTES):
                copy_eight(rows + place, before + place)
            store(mine, f.BEFORE, rows)
    store(mine, f.ROWS_USED, used)


@inlined
def accept(shared: int, mine: int, found: int) -> None:
    """`found` successors of the source were written: ask for their slots, and remember whose they are."""
    used = load(mine, f.OUT_USED)
    out = load(mine, f.OUT)
    for _ in range(found):
        successor = out + used * f.WORD_BYTES
        ask_for(shared, successor)
        used += words_of(successor)
    sources = load(mine, f.SOURCE_COUNT)
    entry = load(mine, f.SOURCES) + sources * (f.SOURCE_WORDS * f.WORD_BYTES)
    store(entry, 0, load(mine, f.SOURCE))
    store(entry, 1, found)
    store(mine, f.SOURCE_COUNT, sources + 1)
    store(mine, f.PENDING, load(mine, f.PENDING) + found)
    store(mine, f.OUT_USED, used)


@inlined
def dawdle(shared: int, mine: int) -> None:
    """With delays: let the other threads go first, as long as chance says, and draw the size of the next batch."""
    chance = load(mine, f.CHANCE)
    if chance == 0:
        return
    chance = chance * 6364136223846793005 + 1442695040888963407
    store(mine, f.CHANCE, chance)
    for _ in range(chance >> 60 & 3):
        call_one(load(shared, f.YIELD), 1)
    store(mine, f.BATCH_NOW, 1 + (chance >> 32 & 65535) % load(shared, f.BATCH))


@inlined
def fill(shared: int, mine: int) -> int:
    """Expand rows until the batch is full, a buffer is, or no row is left (DONE); or what memory is short."""
    while load(mine, f.PENDING) < load(mine, f.BATCH_NOW):
        if next_row(shared, mine) == 0:
            return f.DONE
        if load(mine, f.LOG_USED) + f.ENTRY_WORDS > load(mine, f.LOG_WORDS):
            return f.NEED_LOG
        if enter_row(shared, mine) == 0:
            return f.DONE if load(mine, f.PENDING) != 0 else f.NEED_ROWS
        if is_dead(load(mine, f.RECORD)) != 0:
            leave_row(mine)
            continue
        used = load(mine, f.OUT_USED)
        free = load(mine, f.OUT) + used * f.WORD_BYTES
        found = call_three(load(shared, f.EXPAND), row_of(load(mine, f.SOURCE)), free, load(mine, f.OUT_WORDS) - used)
        if found == f.OUT_TOO_SMALL:
            return f.DONE if used != 0 else f.NEED_OUT
        if found > 0:
            accept(shared, mine, found)
        elif found < 0:
            note(mine, f.EXPAND_ERROR, found, load(load(mine, f.SOURCE), 1), 0)
        elif load(shared, f.DEADLOCK) != 0:
            note(mine, f.NO_SUCCESSOR, 0, load(load(mine, f.SOURCE), 1), 0)
        leave_row(mine)
        store(mine, f.EXPANDED, load(mine, f.EXPANDED) + 1)
    return f.DONE


@inlined
def shortage(mine: int) -> int:
    """What memory the pending batch may lack: a status, or DONE."""
    pending = load(mine, f.PENDING)
    used = load(mine, f.OUT_USED)
    # Packed, a record whose words are all different takes a little more than a quarter more.
    if load(mine, f.BLOCK_USED) + used + used // 2 + pending > load(mine, f.BLOCK_WORDS):
        return f.NEED_BLOCK
    if load(mine, f.LOG_USED) + 3 * pending * f.ENTRY_WORDS > load(mine, f.LOG_WORDS):
        return f.NEED_LOG
    if load(mine, f.MADE_USED) + pending * f.CHUNK_WORDS > load(mine, f.MADE_WORDS):
        return f.NEED_MADE
    if pending * f.NOVELTY_WORDS > load(mine, f.FRESH_WORDS):
        return f.NEED_FRESH
    return f.DONE


@inlined
def append(shared: int, mine: int, successor: int) -> None:
    """Put a record at the end of the next frontier."""
    source = load(mine, f.SOURCE)
    chunk = enter_chunk(shared, mine)
    end = pack(shared, mine, successor, source if source != 0 else load(mine, f.NO_RECORD), load(mine, f.BLOCK_END))
    store(chunk, 1, load(chunk, 1) + 1)
    store(mine, f.BLOCK_END, end)
    store(mine, f.BLOCK_USED, (end - load(mine, f.BLOCK) + f.WORD_BYTES - 1) // f.WORD_BYTES)
    store(mine, f.STORED_IN_LEVEL, load(mine, f.STORED_IN_LEVEL) + 1)


@inlined
def enter_chunk(shared: int, mine: int) -> int:
    """The chunk that the next row belongs to; one that begins does so with a word, and none is before its first row."""
    made = load(mine, f.MADE_USED)
    chunk = load(mine, f.MADE) + (made - f.CHUNK_WORDS) * f.WORD_BYTES
    if load(mine, f.FRESH_CHUNK) != 0 or load(chunk, 1) == load(shared, f.CHUNK_ROWS):
        chunk += f.CHUNK_WORDS * f.WORD_BYTES
        store(mine, f.BLOCK_END, load(mine, f.BLOCK) + load(mine, f.BLOCK_USED) * f.WORD_BYTES)
        store(chunk, 0, load(mine, f.BLOCK_END))
        store(chunk, 1, 0)
        store(chunk, 2, load(mine, f.STORED_IN_LEVEL))
        store(mine, f.MADE_USED, made + f.CHUNK_WORDS)
        store(mine, f.FRESH_CHUNK, 0)
        store(mine, f.LAST_COUNT, 0)
    return chunk


@inlined
def take_ranked(shared: int, mine: int, successor: int) -> int:
    """A state of a model whose view forgets something: keep it if it has the least rank so far of its view."""
    if is_known(shared, successor) != 0:
        return 0
    rank = rank_of(shared, row_of(successor))
    slot = slot_in_level(shared, successor)
    if DELAYED != 0:
        dawdle(shared, mine)
    new = 1 if slot < 0 else 0
    order = rank_in_level(shared, -1 - slot if slot < 0 else slot, rank)
    if order == LEAST:
        append(shared, mine, successor)
    if order != EQUAL:
        judge(shared, mine, successor, rank, 1)
    return new


@inlined
def take(shared: int, mine: int, successor: int, index: int) -> int:
    """A state was generated: count it, and note it if it may be new and is inside; how many slots it took already."""
    header = load(successor, 0)
    times = 1 + (header >> f.TIMES_SHIFT & f.TIMES_MASK)
    action = header >> f.ACTION_SHIFT & f.ACTION_MASK
    count(mine, f.GENERATED, action, times)
    inside = is_inside(shared, mine, successor)
    new = 0
    if inside < 0:
        return 0
    if inside == 0:
        store(mine, f.CUT, load(mine, f.CUT) + times)
        judge(shared, mine, successor, rank_if_any(shared, successor), 0)
    elif load(shared, f.STORING) == 0:
        if is_known(shared, successor) == 0:
            store(mine, f.BEYOND, 1)
            judge(shared, mine, successor, rank_if_any(shared, successor), 0)
    elif RANKED != 0:
        new = take_ranked(shared, mine, successor)
    else:
        used = load(mine, f.FRESH_USED)
        entry = load(mine, f.FRESH) + used * f.WORD_BYTES
        store(entry, 0, successor)
        store(entry, 1, index)
        store(mine, f.FRESH_USED, used + f.NOVELTY_WORDS * may_be_new(shared, successor))
    if load(shared, f.STEP) != 0:
        judge_step(shared, mine, successor, times)
    return new


@inlined
def enter_source(mine: int, index: int) -> int:
    """Make a state whose successors are pending the source; how many they are."""
    entry = load(mine, f.SOURCES) + index * (f.SOURCE_WORDS * f.WORD_BYTES)
    store(mine, f.SOURCE, load(entry, 0))
    return load(entry, 1)


@inlined
def sift(shared: int, mine: int) -> int:
    """Put the states that `take` noted among the known ones, and leave those noted that were new; how many they are.

    A pass of its own, since nobody foresees which state is new: a wrong guess costs as much as looking a state up.
    """
    entry = kept = load(mine, f.FRESH)
    end = entry + load(mine, f.FRESH_USED) * f.WORD_BYTES
    while entry != end:
        successor = load(entry, 0)
        store(kept, 0, successor)
        store(kept, 1, load(entry, 1))
        new = inserted(shared, load(shared, f.TABLE), load(shared, f.SLOTS), successor)
        kept += f.NOVELTY_WORDS * f.WORD_BYTES * new
        entry += f.NOVELTY_WORDS * f.WORD_BYTES
    used = (kept - load(mine, f.FRESH)) // f.WORD_BYTES
    store(mine, f.FRESH_USED, used)
    return used // f.NOVELTY_WORDS


@inlined
def keep(shared: int, mine: int) -> None:
    """Store and check what `sift` left.

    A pass of its own: a compare-and-swap waits for all writes before it, and writes to fresh memory are slow.
    """
    entry = load(mine, f.FRESH)
    end = entry + load(mine, f.FRESH_USED) * f.WORD_BYTES
    while entry != end:
        successor = load(entry, 0)
        enter_source(mine, load(entry, 1))
        if load(shared, f.SETTLE) != 0:
            call_two(load(shared, f.SETTLE), row_of(successor), load(successor, 1))
        append(shared, mine, successor)
        judge_touched(shared, mine, successor, 0, 1, touched_by_step(shared, mine, successor))
        entry += f.NOVELTY_WORDS * f.WORD_BYTES
    store(mine, f.FRESH_USED, 0)


@inlined
def flush(shared: int, mine: int) -> int:
    """Take the pending batch, all of it or nothing: DONE, or what memory is short."""
    status = shortage(mine)
    pending = load(mine, f.PENDING)
    if status != f.DONE:
        return status
    if add(shared, f.COUNT, pending) + pending > load(shared, f.LIMIT):
        add(shared, f.COUNT, -pending)
        return f.NEED_TABLE
    new = 0
    successor = load(mine, f.OUT)
    for index in range(load(mine, f.SOURCE_COUNT)):
        for _ in range(enter_source(mine, index)):
            new += take(shared, mine, successor, index)
            successor += words_of(successor) * f.WORD_BYTES
    if DELAYED != 0:
        dawdle(shared, mine)
    if RANKED == 0 and load(mine, f.FRESH_USED) != 0:
        new += sift(shared, mine)
        keep(shared, mine)
    add(shared, f.COUNT, new - pending)
    store(mine, f.STORED, load(mine, f.STORED) + new)
    empty(mine)
    return f.DONE


@inlined
def empty(mine: int) -> None:
    """Nothing is pending any more."""
    store(mine, f.PENDING, 0)
    store(mine, f.SOURCE_COUNT, 0)
    store(mine, f.OUT_USED, 0)
    keep_last_row(mine)


def work(shared: int, mine: int) -> int:
    """Expand the frontier together with the other threads: DONE, PAUSED, or what memory is short."""
    while load_shared(shared, f.PAUSE) == 0:
        status = fill(shared, mine)
        if DELAYED != 0:
            dawdle(shared, mine)
        if status == f.DONE:
            if load(mine, f.PENDING) == 0:
                return f.DONE
            status = flush(shared, mine)
        if status != f.DONE:
            return status
    return f.PAUSED


def crown(shared: int, mine: int) -> int:
    """Close a ranked level: mark the rows that lost their view, put the fingerprints of the others among the known.

    Runs over the chunks just made, before anything expands them.
    """
    while load_shared(shared, f.PAUSE) == 0:
        if next_row(shared, mine) == 0:
            return f.DONE
        if enter_row(shared, mine) == 0:
            return f.NEED_ROWS
        source = load(mine, f.SOURCE)
        if rank_of(shared, row_of(source)) == best_in_level(shared, source):
            inserted(shared, load(shared, f.KNOWN), load(shared, f.KNOWN_SLOTS), source)
        else:
            mark_dead(load(mine, f.RECORD))
        leave_row(mine)
    return f.PAUSED


@inlined
def leads_to_target(shared: int, found: int, successor: int) -> int:
    """1 if one of `found` successors is looked for, else 0."""
    targets = load(shared, f.TARGETS)
    slots = load(shared, f.TARGET_SLOTS)
    for _ in range(found):
        if contains(targets, slots, load(successor, 1)) != 0:
            return 1
        successor += words_of(successor) * f.WORD_BYTES
    return 0


def seek(shared: int, mine: int) -> int:
    """Go over a level and note the rows that are looked for, or those with a step to a state that is.

    DONE, PAUSED, or what memory is short.
    """
    while load_shared(shared, f.PAUSE) == 0:
        if next_row(shared, mine) == 0:
            return f.DONE
        if load(mine, f.LOG_USED) + f.ENTRY_WORDS > load(mine, f.LOG_WORDS):
            return f.NEED_LOG
        if enter_row(shared, mine) == 0:
            return f.NEED_ROWS
        source = load(mine, f.SOURCE)
        if is_dead(load(mine, f.RECORD)) != 0:
            noted = 0
        elif load(shared, f.TARGET_STEPS) == 0:
            noted = contains(load(shared, f.TARGETS), load(shared, f.TARGET_SLOTS), load(source, 1))
        else:
            out = load(mine, f.OUT)
            found = call_three(load(shared, f.EXPAND), row_of(source), out, load(mine, f.OUT_WORDS))
            if found == f.OUT_TOO_SMALL:
                return f.NEED_OUT
            noted = leads_to_target(shared, found, out)
        if noted != 0:
            note(mine, f.FOUND, load(mine, f.ORDINAL), load(source, 1), 0)
        leave_row(mine)
    return f.PAUSED
