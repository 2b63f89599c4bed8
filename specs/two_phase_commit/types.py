"""Constants, messages and the state of two-phase commit."""

from kmc.lang import Bool, Enum, IdentSet, Map, Message, MessageSet, Record, Set, constant

RM = constant("RM", IdentSet(symmetric=True, at_most=6), "The resource managers; a model may permute them")
CommitWithoutAllPrepared = constant(
    "CommitWithoutAllPrepared", Bool, "The mistake: the transaction manager commits whenever it likes", False
)


class RMState(Enum):
    """The states of a resource manager."""

    WORKING, PREPARED, COMMITTED, ABORTED = range(4)


class TMState(Enum):
    """The states of the transaction manager."""

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
    """Messages are never removed from `msgs`, so loss, delay and duplication need no actions of their own."""

    rms: Map[RM, RMState]
    tm: TMState
    prepared: Set[RM]
    msgs: MessageSet[Prepared | Commit | Abort]
