"""Readers and writers served in the order of a queue: tlaplus/Examples, ReadersWriters/ReadersWriters.tla."""

from kmc.lang import Enum, Int, Record, Seq, Set, constant
from kmc.spec import always_eventually, and_, for_all, weak_fairness, spec

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


def each_writes():
    return for_all(range(1, NumActors + 1), lambda a: weak_fairness(try_write, a))


def each_reads_and_writes():
    return and_(for_all(range(1, NumActors + 1), lambda a: weak_fairness(try_read, a)), each_writes())


@spec.specification
def Spec():
    return and_(each_reads_and_writes(), weak_fairness(read_or_write), weak_fairness(stop))


@spec.specification
def WithoutStop():
    return and_(each_reads_and_writes(), weak_fairness(read_or_write))


@spec.specification
def SomeReads():
    return and_(weak_fairness(try_read), each_writes(), weak_fairness(read_or_write), weak_fairness(stop))


@spec.liveness
def Liveness():
    return for_all(
        range(1, NumActors + 1),
        lambda a: and_(
            always_eventually(lambda st: a in st.readers),
            always_eventually(lambda st: a in st.writers),
            always_eventually(lambda st: a not in st.readers),
            always_eventually(lambda st: a not in st.writers),
        ),
    )
