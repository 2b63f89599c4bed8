"""A log that the leader of each epoch writes, and no other server: what a protocol of replicated logs refines.

Entries are known by their epoch and offset, wherever they are: in the logs of servers, or in messages to them. A leader
is elected in an epoch without entries, and its record begins the epoch; then it writes the entries of its epoch one
after the other; and entries may be lost. KIP-595, Log Replication: a leader is the only one that appends in its epoch.
"""

from kmc.lang import Enum, IdentSet, Int, Map, Record, Set, constant, subsets
from kmc.spec import spec

Value = constant("Value", IdentSet(symmetric=True, at_most=8), "The values that clients send; each is sent once")
# No constants, since a spec that refines this one has bounds of its own: a check of larger epochs or offsets ends with
# an error. A set that is stored has at most 64 possible elements, which are these with two values.
LAST_EPOCH, LAST_OFFSET = 3, 5
Epoch = Int(1, LAST_EPOCH)
Offset = Int(1, LAST_OFFSET)


class Control(Enum):
    """An entry without a client's value: the record that begins an epoch, or a change of the voters."""

    RECORD, RECONFIGURATION = range(2)


class Written(Record):
    """An entry, with its place."""

    epoch: Epoch
    offset: Offset
    content: Value | Control


class State(Record):
    """The number of servers that lead each epoch, and the entries that exist."""

    leading: Map[Epoch, Int(0, 7)]
    written: Set[Written]


def in_epoch(st, e):
    """The entries of an epoch."""
    return {w for w in st.written if w.epoch == e}


@spec.init
def init():
    """A first leader, and the record of its epoch."""
    first = Written(epoch=1, offset=1, content=Control.RECORD)
    yield State(leading={e: 1 if e == 1 else 0 for e in range(1, LAST_EPOCH + 1)}, written={first})


@spec.action
def elect(st, e: Epoch, o: Offset):
    """A server begins to lead an epoch that has no leader and no entry, and writes its record."""
    if st.leading[e] == 0 and len(in_epoch(st, e)) == 0:
        record = Written(epoch=e, offset=o, content=Control.RECORD)
        yield st.set(leading=st.leading.set(e, 1), written=st.written | {record})


@spec.action
def write(st, e: Epoch, content: Value | Control):
    """The leader of an epoch writes the next entry of it."""
    if st.leading[e] != 1 or content == Control.RECORD:
        return
    last = max((w.offset for w in in_epoch(st, e)), default=0)
    if 0 < last and last < LAST_OFFSET:
        entry = Written(epoch=e, offset=last + 1, content=content)
        yield st.set(written=st.written | {entry})


@spec.action
def lose(st):
    """Entries are lost: a server truncates its log or loses its disk, or a message is dropped."""
    for left in subsets(st.written):
        if left != st.written:
            yield st.set(written=left)


@spec.action
def retire(st, e: Epoch):
    """The leader of an epoch stops leading it, and may take entries along."""
    if st.leading[e] == 1:
        for left in subsets(st.written):
            yield st.set(leading=st.leading.set(e, 0), written=left)


@spec.invariant
def OneLeader(st):
    """At most one server leads an epoch."""
    return all(n <= 1 for n in st.leading.values())


@spec.invariant
def OneEntryInAPlace(st):
    """Two entries of one epoch have different offsets."""
    return all(v == w for v in st.written for w in st.written if v.epoch == w.epoch and v.offset == w.offset)


@spec.constraint
def TwoEpochs(st):
    """Entries and leaders of the first two epochs, at the first three offsets."""
    return all(w.epoch <= 2 and w.offset <= 3 for w in st.written) and all(
        st.leading[e] == 0 for e in range(3, LAST_EPOCH + 1)
    )


@spec.invariant
def NoGap(st):
    """Behind each entry but the last of an epoch there is another one: false, since any entry may be lost."""
    return all(
        any(v.epoch == w.epoch and v.offset == w.offset + 1 for v in st.written)
        for w in st.written
        if any(v.epoch == w.epoch and v.offset > w.offset for v in st.written)
    )
