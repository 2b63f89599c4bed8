"""Readers and writers served in the order of a queue: tlaplus/Examples, ReadersWriters/ReadersWriters.tla."""

from kmc.lang import Enum, Int, Record, Seq, Set, constant
from kmc.spec import spec

NumActors = constant("NumActors", Int(1, 4), "How many read and write")


Actor = Int(1, NumActors)


class Kind(Enum):
    READ, WRITE = range(2)


class Request(Record):
    kind: Kind
    actor: Actor


class State(Record):
    readers: Set[Actor]
    writers: Set[Actor]
    waiting: Seq[Request, 2 * NumActors]


@spec.init
def init():
    yield State(readers=set(), writers=set(), waiting=[])


def is_waiting(st, request):
    return any(other == request for other in st.waiting)


@spec.action
def try_read(st, actor: Actor):
    request = Request(kind=Kind.READ, actor=actor)
    if not is_waiting(st, request):
        yield st.set(waiting=st.waiting.append(request))


@spec.action
def try_write(st, actor: Actor):
    request = Request(kind=Kind.WRITE, actor=actor)
    if not is_waiting(st, request):
        yield st.set(waiting=st.waiting.append(request))


@spec.action
def read_or_write(st):
    if len(st.waiting) == 0 or len(st.writers) > 0:
        return
    head = st.waiting.at(1)
    tail = [st.waiting.at(o + 1) for o in range(1, len(st.waiting))]
    if head.kind == Kind.READ:
        yield st.set(readers=st.readers | {head.actor}, waiting=tail)
    elif len(st.readers) == 0:
        yield st.set(writers=st.writers | {head.actor}, waiting=tail)


@spec.action
def stop(st):
    for actor in st.readers | st.writers:
        if actor in st.readers:
            yield st.set(readers=st.readers - {actor})
        else:
            yield st.set(writers=st.writers - {actor})
