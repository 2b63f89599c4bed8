"""Constants, messages and the state of two-phase commit."""

from kmc.lang import Bool, Enum, IdentSet, Map, Message, MessageSet, Record, Set, constant

RM = constant("RM", IdentSet(symmetric=True, at_most=6), "The resource managers; a model may permute them")
CommitWithoutAllPrepared = constant(
    "CommitWithoutAllPrepared", Bool, "The mistake: the transaction manager commits whenever it likes", False
)


class RMState(Enum):
    """Where a resource manager stands."""

    WORKING, PREPARED, COMMITTED, ABORTED = range(4)


class TMState(Enum):
    """Where the transaction manager stands."""

    INIT, COMMITTED, ABORTED = range(3)


class Manager(Enum):
    """The one transaction manager, as the sender or receiver of a message."""

    MANAGER = 0


class Prepared(Message):
    """A resource manager is ready to commit and can no longer abort by itself."""

    source: RM
    dest: Manager


class Commit(Message):
    """The decision to commit."""

    source: Manager
    dest: RM


class Abort(Message):
    """The decision to abort."""

    source: Manager
    dest: RM


class State(Record):
    """Nothing is ever taken out of `msgs`: a message may be lost, late or delivered twice without a further action."""

    rms: Map[RM, RMState]
    tm: TMState
    prepared: Set[RM]
    msgs: MessageSet[Prepared | Commit | Abort]
