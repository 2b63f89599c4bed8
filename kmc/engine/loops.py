"""The native loops of a search: expand rows, look up what they lead to, keep what is new.

Invariant: a loop returns only between two batches, with everything that it needs to go on in the thread's control
words; so Python can enlarge any memory and call it again, and a thread that is told to pause loses nothing. A batch
is taken only when all memory that it may need is there.

Each thread takes chunks of the frontier from a counter, and successors of about `BATCH` states lie in its out buffer
while the cache lines of their slots are on their way.
"""

from __future__ import annotations

from kmc.engine import fields as f
from kmc.engine.intrinsics import (
    add,
    call_one,
    call_three,
    call_two,
    inlined,
    load,
    load_shared,
    store,
)
from kmc.engine.knowing import (
    ask_for,
    best_in_level,
    inserted,
    is_known,
    rank_in_level,
    slot_in_level,
)
from kmc.engine.packing import pack, pack_beside, unpack
from kmc.engine.probing import EQUAL, LEAST, contains
from kmc.engine.traits import DELAYED, RANKED


@inlined
def count(mine: int, counters: int, index: int, amount: int) -> None:
    """Add to a counter that belongs to this thread."""
    address = load(mine, counters)
    store(address, index, load(address, index) + amount)


@inlined
def note(mine: int, kind: int, value: int, fingerprint: int, rank: int) -> None:
    """Append a finding about the current source to the log; the caller has made sure that there is room."""
    used = load(mine, f.LOG_USED)
    entry = load(mine, f.LOG) + used * f.WORD_BYTES
    source = load(mine, f.SOURCE)
    store(entry, f.ENTRY_KIND, kind)
    store(entry, f.ENTRY_VALUE, value)
    store(entry, f.ENTRY_FINGERPRINT, fingerprint)
    store(entry, f.ENTRY_RANK, rank)
    store(entry, f.ENTRY_SOURCE, load(source, 1) if source != 0 else 0)
    store(entry, f.ENTRY_ORDINAL, load(mine, f.SOURCE_ORDINAL))
    store(entry, f.ENTRY_RECORD, source)
    store(mine, f.LOG_USED, used + f.ENTRY_WORDS)


@inlined
def row_of(record: int) -> int:
    """The address of a record's row."""
    return record + f.RECORD_HEAD_WORDS * f.WORD_BYTES


@inlined
def words_of(record: int) -> int:
    """The words of a record that `expand` wrote, head included."""
    return (load(record, 0) & f.LENGTH_MASK) + f.RECORD_HEAD_WORDS


@inlined
def packed_words(record: int) -> int:
    """The words of a record at rest."""
    return load(record, 0) >> f.PACKED_SHIFT & f.PACKED_MASK


@inlined
def next_row(shared: int, mine: int) -> int:
    """Step to the next live record of the frontier: 1, or 0 when there is none."""
    while True:
        if load(mine, f.ROWS_LEFT) == 0:
            chunk = add(shared, f.NEXT_CHUNK, 1)
            if chunk >= load(shared, f.CHUNK_COUNT):
                return 0
            entry = load(shared, f.CHUNKS) + chunk * (f.CHUNK_WORDS * f.WORD_BYTES)
            store(mine, f.RECORD, load(entry, 0))
            store(mine, f.ROWS_LEFT, load(entry, 1))
            store(mine, f.ORDINAL, load(entry, 2))
        if load(load(mine, f.RECORD), 0) & f.DEAD == 0:
            return 1
        leave_row(mine)


@inlined
def leave_row(mine: int) -> None:
    """The record is done: the next one of the chunk follows it."""
    record = load(mine, f.RECORD)
    store(mine, f.RECORD, record + packed_words(record) * f.WORD_BYTES)
    store(mine, f.ROWS_LEFT, load(mine, f.ROWS_LEFT) - 1)
    store(mine, f.ORDINAL, load(mine, f.ORDINAL) + 1)


@inlined
def enter_row(shared: int, mine: int) -> int:
    """Unpack the record that is next behind the rows that are pending, and make it the source: 1, or 0 for no room."""
    record = load(mine, f.RECORD)
    used = load(mine, f.ROWS_USED)
    if used + (load(record, 0) & f.LENGTH_MASK) > load(mine, f.ROWS_WORDS):
        return 0
    row = load(mine, f.ROWS) + used * f.WORD_BYTES
    unpack(load(shared, f.LEXICON), load(shared, f.PLAIN), record, row)
    store(mine, f.SOURCE, record)
    store(mine, f.SOURCE_ROW, row)
    store(mine, f.SOURCE_ORDINAL, load(mine, f.ORDINAL))
    return 1


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
    store(entry, 1, load(mine, f.SOURCE_ORDINAL))
    store(entry, 2, load(mine, f.SOURCE_ROW))
    store(entry, 3, found)
    store(mine, f.SOURCE_COUNT, sources + 1)
    store(mine, f.PENDING, load(mine, f.PENDING) + found)
    store(mine, f.OUT_USED, used)
    store(mine, f.ROWS_USED, load(mine, f.ROWS_USED) + (load(load(mine, f.SOURCE), 0) & f.LENGTH_MASK))


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
        used = load(mine, f.OUT_USED)
        free = load(mine, f.OUT) + used * f.WORD_BYTES
        found = call_three(load(shared, f.EXPAND), load(mine, f.SOURCE_ROW), free, load(mine, f.OUT_WORDS) - used)
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
    # Packed, a record whose words are all different takes a quarter more.
    if load(mine, f.BLOCK_USED) + used + used // 4 + pending > load(mine, f.BLOCK_WORDS):
        return f.NEED_BLOCK
    if load(mine, f.PARENTS_USED) + pending > load(mine, f.PARENTS_WORDS):
        return f.NEED_PARENTS
    if load(mine, f.LOG_USED) + 3 * pending * f.ENTRY_WORDS > load(mine, f.LOG_WORDS):
        return f.NEED_LOG
    if load(mine, f.MADE_USED) + pending * f.CHUNK_WORDS > load(mine, f.MADE_WORDS):
        return f.NEED_MADE
    return f.DONE


@inlined
def packed_at(shared: int, mine: int, successor: int, target: int) -> int:
    """Write a record packed to `target`; the words it takes."""
    lexicon, plain, source = load(shared, f.LEXICON), load(shared, f.PLAIN), load(mine, f.SOURCE)
    words = 0
    if source != 0:
        words = pack_beside(lexicon, plain, successor, target, source, load(mine, f.SOURCE_ROW))
    return words if words != 0 else pack(lexicon, plain, successor, target)


@inlined
def append(shared: int, mine: int, successor: int) -> None:
    """Put a record at the end of the next frontier, and its parent at the end of the log of parents."""
    stored = load(mine, f.STORED_IN_LEVEL)
    target = load(mine, f.BLOCK) + load(mine, f.BLOCK_USED) * f.WORD_BYTES
    words = packed_at(shared, mine, successor, target)
    action = load(successor, 0) >> f.ACTION_SHIFT & f.ACTION_MASK
    store(
        load(mine, f.PARENTS), load(mine, f.PARENTS_USED), action << 48 | load(mine, f.SOURCE_ORDINAL) & f.PARENT_MASK
    )
    store(mine, f.PARENTS_USED, load(mine, f.PARENTS_USED) + 1)
    made = load(mine, f.MADE_USED)
    entry = load(mine, f.MADE) + (made - f.CHUNK_WORDS) * f.WORD_BYTES
    if load(mine, f.FRESH_CHUNK) != 0 or load(entry, 1) == load(shared, f.CHUNK_ROWS):
        entry += f.CHUNK_WORDS * f.WORD_BYTES
        store(entry, 0, target)
        store(entry, 1, 0)
        store(entry, 2, stored)
        store(mine, f.MADE_USED, made + f.CHUNK_WORDS)
        store(mine, f.FRESH_CHUNK, 0)
    store(entry, 1, load(entry, 1) + 1)
    store(mine, f.BLOCK_USED, load(mine, f.BLOCK_USED) + words)
    store(mine, f.STORED_IN_LEVEL, stored + 1)


@inlined
def rank_of(shared: int, row: int) -> int:
    """The order of a row among those of its view; -1 would read as "no rank yet"."""
    rank = call_one(load(shared, f.RANK), row)
    return rank if rank != -1 else -2


@inlined
def rank_if_any(shared: int, successor: int) -> int:
    """The rank of a successor; 0 for a model without ranks."""
    return rank_of(shared, row_of(successor)) if RANKED != 0 else 0


@inlined
def judge(shared: int, mine: int, successor: int, rank: int, stored: int) -> None:
    """Evaluate the invariants of a state, and the goals while they are asked for."""
    if load(shared, f.ASKED) != 0:
        reached = call_one(load(shared, f.REACH), row_of(successor))
        if reached < 0:
            note(mine, f.CHECK_ERROR, reached, load(successor, 1), rank)
            return
        store(mine, f.GOALS, load(mine, f.GOALS) | reached)
    if load(shared, f.CHECK) == 0:
        return
    failed = call_one(load(shared, f.CHECK), row_of(successor))
    if failed == 0:
        return
    if failed < 0:
        note(mine, f.CHECK_ERROR, failed, load(successor, 1), rank)
    elif stored == 0:
        note(mine, f.UNSTORED_INVARIANT, failed, load(successor, 1), rank)
    else:
        tally(mine, failed, 0, 1)
        if load(shared, f.LOGGING) != 0 or load(shared, f.REPEATED) != 0:
            note(mine, f.INVARIANT, failed, load(successor, 1), rank)


@inlined
def tally(mine: int, failed: int, first: int, times: int) -> None:
    """Count every property whose bit is set, from counter `first` on."""
    index = first
    while failed != 0:
        if failed & 1:
            count(mine, f.FAILED, index, times)
        failed >>= 1
        index += 1


@inlined
def judge_step(shared: int, mine: int, successor: int, times: int) -> None:
    """Evaluate the transition invariants of a step; initial states have none."""
    if load(mine, f.SOURCE) == 0:
        return
    failed = call_two(load(shared, f.STEP), load(mine, f.SOURCE_ROW), row_of(successor))
    if failed < 0:
        note(mine, f.EXPAND_ERROR, failed, load(load(mine, f.SOURCE), 1), 0)
    elif failed != 0:
        tally(mine, failed, load(shared, f.INVARIANTS), times)
        if load(shared, f.LOGGING) != 0:
            note(mine, f.STEP_INVARIANT, failed, load(successor, 1), rank_if_any(shared, successor))


@inlined
def outside_mask(shared: int, mine: int, successor: int) -> int:
    """Which constraints a state breaks, or else which action constraints the step to it; < 0 for an error."""
    mask = 0
    if load(shared, f.OUTSIDE) != 0:
        mask = call_one(load(shared, f.OUTSIDE), row_of(successor))
    if mask == 0 and load(mine, f.SOURCE) != 0 and load(shared, f.STEP_OUTSIDE) != 0:
        mask = call_two(load(shared, f.STEP_OUTSIDE), load(mine, f.SOURCE_ROW), row_of(successor))
    return mask


@inlined
def is_inside(shared: int, mine: int, successor: int) -> int:
    """1 if the constraints hold, 0 if one does not, -1 if that failed to evaluate (noted)."""
    mask = outside_mask(shared, mine, successor)
    if mask < 0:
        source = load(mine, f.SOURCE)
        note(mine, f.EXPAND_ERROR, mask, load(source if source != 0 else successor, 1), 0)
        return -1
    return 1 if mask == 0 else 0


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
def take(shared: int, mine: int, successor: int) -> int:
    """A state was generated: count it, and mark it as new unless it is known or outside; how many slots it took."""
    header = load(successor, 0)
    times = 1 + (header >> f.TIMES_SHIFT & f.TIMES_MASK)
    action = header >> f.ACTION_SHIFT & f.ACTION_MASK
    count(mine, f.GENERATED, action, times)
    store(mine, f.TOTAL_GENERATED, load(mine, f.TOTAL_GENERATED) + times)
    inside = is_inside(shared, mine, successor)
    new = 0
    if inside < 0:
        return 0
    if inside == 0:
        judge(shared, mine, successor, rank_if_any(shared, successor), 0)
    elif load(shared, f.STORING) == 0:
        if is_known(shared, successor) == 0:
            store(mine, f.BEYOND, 1)
            judge(shared, mine, successor, rank_if_any(shared, successor), 0)
    elif RANKED != 0:
        new = take_ranked(shared, mine, successor)
    elif inserted(shared, load(shared, f.TABLE), load(shared, f.SLOTS), successor) != 0:
        new = 1
        store(successor, 0, header | f.NEW)
    if load(shared, f.STEP) != 0:
        judge_step(shared, mine, successor, times)
    return new


@inlined
def enter_source(mine: int, index: int) -> int:
    """Make a state whose successors are pending the source; how many they are."""
    entry = load(mine, f.SOURCES) + index * (f.SOURCE_WORDS * f.WORD_BYTES)
    store(mine, f.SOURCE, load(entry, 0))
    store(mine, f.SOURCE_ORDINAL, load(entry, 1))
    store(mine, f.SOURCE_ROW, load(entry, 2))
    return load(entry, 3)


@inlined
def keep(shared: int, mine: int) -> None:
    """Store and check what `take` marked as new.

    A pass of its own: a compare-and-swap waits for all writes before it, and writes to fresh memory are slow.
    """
    successor = load(mine, f.OUT)
    for index in range(load(mine, f.SOURCE_COUNT)):
        for _ in range(enter_source(mine, index)):
            if load(successor, 0) & f.NEW != 0:
                if load(shared, f.SETTLE) != 0:
                    call_two(load(shared, f.SETTLE), row_of(successor), load(successor, 1))
                append(shared, mine, successor)
                judge(shared, mine, successor, 0, 1)
            successor += words_of(successor) * f.WORD_BYTES


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
            new += take(shared, mine, successor)
            successor += words_of(successor) * f.WORD_BYTES
    if DELAYED != 0:
        dawdle(shared, mine)
    if RANKED == 0 and new != 0:
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
    store(mine, f.ROWS_USED, 0)


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
        record = load(mine, f.RECORD)
        if rank_of(shared, load(mine, f.SOURCE_ROW)) == best_in_level(shared, record):
            inserted(shared, load(shared, f.KNOWN), load(shared, f.KNOWN_SLOTS), record)
        else:
            store(record, 0, load(record, 0) | f.DEAD)
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
        record = load(mine, f.RECORD)
        if load(shared, f.TARGET_STEPS) == 0:
            noted = contains(load(shared, f.TARGETS), load(shared, f.TARGET_SLOTS), load(record, 1))
        else:
            out = load(mine, f.OUT)
            found = call_three(load(shared, f.EXPAND), load(mine, f.SOURCE_ROW), out, load(mine, f.OUT_WORDS))
            if found == f.OUT_TOO_SMALL:
                return f.NEED_OUT
            noted = leads_to_target(shared, found, out)
        if noted != 0:
            note(mine, f.FOUND, 0, load(record, 1), 0)
        leave_row(mine)
    return f.PAUSED
