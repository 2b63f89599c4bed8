"""Philosophers who hand each other clean forks: tlaplus/Examples, DiningPhilosophers/DiningPhilosophers.tla."""

from kmc.lang import Bool, Enum, Int, Map, Record, constant
from kmc.spec import always_eventually, and_, for_all, or_, steps, weak_fairness, spec

NP = constant("NP", Int(2, 6), "The number of philosophers")


Philosopher = Int(1, NP)


class Label(Enum):
    LOOP, EAT, THINK = range(3)


class Fork(Record):
    holder: Philosopher
    clean: Bool


class State(Record):
    forks: Map[Philosopher, Fork]
    pc: Map[Philosopher, Label]
    hungry: Map[Philosopher, Bool]


def right_of(p):
    return 1 if p == NP else p + 1


def left_of(p):
    return NP if p == 1 else p - 1


@spec.init
def init():
    yield State(
        forks={f: Fork(holder=1 if f == 2 else f, clean=False) for f in range(1, NP + 1)},
        pc={p: Label.LOOP for p in range(1, NP + 1)},
        hungry={p: True for p in range(1, NP + 1)},
    )


def holds_dirty(fork, p):
    return fork.holder == p and not fork.clean


def can_eat(forks, p):
    left, right = forks[p], forks[right_of(p)]
    return left.holder == p and right.holder == p and left.clean and right.clean


def handed_over(forks, p):
    right = right_of(p)
    if holds_dirty(forks[p], p):
        return forks.set(p, Fork(holder=left_of(p), clean=True))
    if holds_dirty(forks[right], p):
        return forks.set(right, Fork(holder=right, clean=True))
    return forks


@spec.action
def loop(st, p: Philosopher):
    """CanEat reads the forks as they are before the step."""
    if st.pc[p] != Label.LOOP:
        return
    if not st.hungry[p]:
        after = Label.THINK
    else:
        after = Label.EAT if can_eat(st.forks, p) else Label.LOOP
    yield st.set(forks=handed_over(st.forks, p), pc=st.pc.set(p, after))


@spec.action
def think(st, p: Philosopher):
    if st.pc[p] == Label.THINK:
        yield st.set(hungry=st.hungry.set(p, True), pc=st.pc.set(p, Label.LOOP))


@spec.action
def eat(st, p: Philosopher):
    if st.pc[p] != Label.EAT:
        return
    right = right_of(p)
    left_dirty = st.forks.set(p, st.forks[p].set(clean=False))
    yield st.set(
        hungry=st.hungry.set(p, False),
        forks=left_dirty.set(right, left_dirty[right].set(clean=False)),
        pc=st.pc.set(p, Label.LOOP),
    )


@spec.specification
def Spec():
    return for_all(range(1, NP + 1), lambda p: weak_fairness(or_(steps(loop, p), steps(think, p), steps(eat, p))))


@spec.specification
def WithoutThink():
    return for_all(range(1, NP + 1), lambda p: and_(weak_fairness(loop, p), weak_fairness(eat, p)))


@spec.liveness
def EachEatsAgain():
    return for_all(range(1, NP + 1), lambda p: always_eventually(lambda st: not st.hungry[p]))
