"""Specs as others write them: ports of Raft, Paxos and Multi-Paxos, with one mistake each.

Unlike the shipped specs: processes are numbers, each variable is a function of them, quorums are given as sets, and
helpers are called like words of kmc. Messages are records without ends, or have other names for them.
"""

from __future__ import annotations

from dataclasses import dataclass

RAFT = '''
"""Raft with numbered servers; a server forgets for whom it voted, so that two win one term."""

Server = Int(1, 3)
MaxTerm = constant("MaxTerm", Int(1, 3), "The last term", 2)
Term = Int(0, MaxTerm)


class Role(Enum):
    FOLLOWER, CANDIDATE, LEADER = range(3)


class RequestVoteRequest(Message, source="msource", dest="mdest"):
    mterm: Term
    msource: Server
    mdest: Server


class RequestVoteResponse(Message, source="msource", dest="mdest"):
    mterm: Term
    mvote_granted: Bool
    msource: Server
    mdest: Server


class State(Record):
    messages: MessageBag[RequestVoteRequest | RequestVoteResponse]
    current_term: Map[Server, Term]
    state: Map[Server, Role]
    voted_for: Map[Server, Opt[Server]]
    votes_granted: Map[Server, Set[Server]]
    log: Map[Server, Seq[Term, 2]]
    next_index: Map[Server, Map[Server, Int(1, 3)]]
    history: PartialMap[Term, Set[Server]]


spec.variables(
    {
        "messages": "messages",
        "currentTerm": "current_term",
        "state": "state",
        "votedFor": "voted_for",
        "votesGranted": "votes_granted",
        "log": "log",
        "nextIndex": "next_index",
        "history": "history",
    },
    fields="camelCase",
    message_tag="mtype",
)


def servers():
    return range(1, 4)


def is_quorum(voters):
    return 2 * len(voters) > 3


@spec.init
def init():
    yield State(
        messages={},
        current_term={i: 1 for i in servers()},
        state={i: Role.FOLLOWER for i in servers()},
        voted_for={i: None for i in servers()},
        votes_granted={i: set() for i in servers()},
        log={i: [] for i in servers()},
        next_index={i: {j: 1 for j in servers()} for i in servers()},
        history={},
    )


@spec.action
def timeout(st, i: Server):
    """Server i stands for election, and votes for itself."""
    if st.state[i] != Role.FOLLOWER or st.current_term[i] >= MaxTerm or i == 3:
        return
    term = st.current_term[i] + 1
    asked = {RequestVoteRequest(mterm=term, msource=i, mdest=j) for j in servers() if j != i}
    yield st.set(
        state=st.state.set(i, Role.CANDIDATE),
        current_term=st.current_term.set(i, term),
        voted_for=st.voted_for.set(i, i),
        votes_granted=st.votes_granted.set(i, {i}),
        messages=st.messages.add_all(asked),
    )


@spec.receive(RequestVoteRequest, i="mdest", j="msource")
def handle_request_vote_request(st, m, i, j):
    """The vote is granted, whoever had it before."""
    if m.mterm < st.current_term[i] or st.state[i] != Role.FOLLOWER:
        return
    answer = RequestVoteResponse(mterm=m.mterm, mvote_granted=True, msource=i, mdest=j)
    yield st.set(
        current_term=st.current_term.set(i, m.mterm),
        voted_for=st.voted_for.set(i, j),
        messages=st.messages.take(m).add(answer),
    )


@spec.receive(RequestVoteResponse, i="mdest", j="msource")
def handle_request_vote_response(st, m, i, j):
    if m.mterm != st.current_term[i] or st.state[i] != Role.CANDIDATE:
        return
    yield st.set(
        votes_granted=st.votes_granted.set(i, st.votes_granted[i] | {j}),
        messages=st.messages.take(m),
    )


@spec.action
def become_leader(st, i: Server):
    if st.state[i] != Role.CANDIDATE or not is_quorum(st.votes_granted[i]):
        return
    term = st.current_term[i]
    known = st.history
    history = known.set(term, known[term] | {i}) if term in known else known.add(term, {i})
    yield st.set(state=st.state.set(i, Role.LEADER), history=history)


@spec.invariant
def OneLeaderPerTerm(st):
    return all(len(st.history[term]) < 2 for term in st.history)
'''

PAXOS = '''
"""Paxos of one decree: acceptors are numbers, quorums a set of sets, messages records that are only added.

An acceptor accepts whatever it has promised.
"""

Acceptor = Int(1, 3)
Ballot = Int(0, 1)
Value = constant("Value", IdentSet(), "What may be chosen")
Quorum = [{1, 2}, {1, 3}, {2, 3}]


class Phase1a(Record):
    bal: Ballot


class Phase1b(Record):
    acc: Acceptor
    bal: Ballot
    vote: Opt[Ballot]


class Phase2a(Record):
    bal: Ballot
    val: Value


class Phase2b(Record):
    acc: Acceptor
    bal: Ballot
    val: Value


class State(Record):
    max_bal: Map[Acceptor, Int(-1, 1)]
    max_vbal: Map[Acceptor, Int(-1, 1)]
    max_val: Map[Acceptor, Opt[Value]]
    msgs: MessageSet[Phase1a | Phase1b | Phase2a | Phase2b]


@spec.init
def init():
    yield State(
        max_bal={a: -1 for a in range(1, 4)},
        max_vbal={a: -1 for a in range(1, 4)},
        max_val={a: None for a in range(1, 4)},
        msgs={Phase1a(bal=0), Phase1a(bal=1)},
    )


def send(st, message):
    return st.msgs.send(message)


@spec.action
def phase_1b(st, a: Acceptor):
    for m in st.msgs.of(Phase1a):
        if m.bal > st.max_bal[a]:
            vote = None if st.max_vbal[a] < 0 else st.max_vbal[a]
            yield st.set(max_bal=st.max_bal.set(a, m.bal), msgs=send(st, Phase1b(acc=a, bal=m.bal, vote=vote)))


@spec.action
def phase_2a(st, b: Ballot, v: Value):
    if any(m.bal == b for m in st.msgs.of(Phase2a)):
        return
    promised = {m.acc for m in st.msgs.of(Phase1b) if m.bal == b}
    if any(quorum <= promised for quorum in Quorum):
        yield st.set(msgs=send(st, Phase2a(bal=b, val=v)))


@spec.action
def phase_2b(st, a: Acceptor):
    for m in st.msgs.of(Phase2a):
        vote = Phase2b(acc=a, bal=m.bal, val=m.val)
        if vote not in st.msgs and m.bal >= st.max_vbal[a]:
            yield st.set(
                max_vbal=st.max_vbal.set(a, m.bal), max_val=st.max_val.set(a, m.val), msgs=send(st, vote)
            )


@spec.invariant
def PromisesAreKept(st):
    """An acceptor that has promised a ballot votes in no lower one, unless it has told that vote."""
    return all(
        vote.acc != promise.acc or vote.bal >= promise.bal or promise.vote is not None
        for vote in st.msgs.of(Phase2b)
        for promise in st.msgs.of(Phase1b)
    )
'''

MULTI_PAXOS = '''
"""Multi-Paxos: ballots are pairs of a round and a replica; messages go to one replica, to all, or to a client.

Helpers and variables are called like words of kmc. A replica executes a slot before it is chosen.
"""

from kmc.spec import WEAK, eventually

Slot = Int(1, 2)


class Replica(Enum):
    ONE, TWO, THREE = range(3)


class Client(Enum):
    ALICE = 0


class Ballot(Record):
    round: Int(0, 1)
    owner: Replica


class Request(Message, source="client", dest="leader"):
    slot: Slot
    client: Client
    leader: Replica


class Accept(Message, source="owner", dest="to"):
    ballot: Ballot
    slot: Slot
    owner: Replica
    to: Opt[Replica]


class Learn(Message, source="owner", dest="to"):
    slot: Slot
    owner: Replica
    to: Replica | Client


class State(Record):
    messages: MessageSet[Request | Accept]
    index: MessageSet[Learn]
    id: Map[Replica, Ballot]
    state: Map[Replica, PartialMap[Slot, Ballot]]
    level: Map[Slot, Int(0, 3)]
    constructor: PartialMap[Slot, Client]
    action: Bool


def story(st, replica):
    return st.state[replica]


def is_quorum(slots):
    return len(slots) > 1


def tell(st, replica, slot, ballot):
    known = story(st, replica)
    return st.state.set(replica, known.set(slot, ballot) if slot in known else known.add(slot, ballot))


def at_first():
    return Ballot(round=0, owner=Replica.TWO)


@spec.init
def init():
    yield State(
        messages=set(),
        index=set(),
        id={r: at_first() for r in Replica},
        state={r: {} for r in Replica},
        level={s: 0 for s in range(1, 3)},
        constructor={},
        action=False,
    )


@spec.action
def ask(st, lane: Client, slot: Slot):
    if slot == 2 and st.level[1] > 0 and st.level[2] == 0:
        yield asked(st, lane, slot)


def asked(st, lane, slot):
    request = Request(slot=slot, client=lane, leader=Replica.TWO)
    return st.set(messages=st.messages.send(request), level=st.level.set(slot, 1))


@spec.action(fair=WEAK)
def begin(st):
    if st.level[1] == 0:
        yield asked(st, Client.ALICE, 1)


@spec.receive(Request, network="messages", leader="leader", fair=WEAK)
def propose(st, message, leader):
    if leader != st.id[leader].owner:
        return
    ballot = Ballot(round=1, owner=leader)
    accept = Accept(ballot=ballot, slot=message.slot, owner=leader, to=None)
    yield st.set(
        messages=st.messages.discard(message).send(accept),
        id=st.id.set(leader, ballot),
        state=tell(st, leader, message.slot, ballot),
    )


@spec.receive(Accept, network="messages", fair=WEAK)
def vote(st, message):
    for replica in Replica:
        if replica != message.owner and message.slot not in st.state[replica]:
            learn = Learn(slot=message.slot, owner=replica, to=message.owner)
            done = Learn(slot=message.slot, owner=replica, to=Client.ALICE)
            yield st.set(
                state=tell(st, replica, message.slot, message.ballot), index=st.index.send(learn).send(done)
            )


@spec.receive(Learn, network="index", to="to", fair=WEAK)
def execute(st, message, to):
    if st.level[message.slot] < 3:
        yield st.set(
            index=st.index.discard(message),
            level=st.level.set(message.slot, st.level[message.slot] + 1),
            constructor=st.constructor
            if message.slot in st.constructor
            else st.constructor.add(message.slot, Client.ALICE),
        )


@spec.action(fair=WEAK)
def blink(st):
    if any(st.level[s] > 1 for s in range(1, 3)):
        yield st.set(action=not st.action)


@spec.invariant
def ExecutedInOrder(st):
    """Slot 2 is executed only after slot 1."""
    return not (2 in st.constructor and 1 not in st.constructor)


@spec.liveness
def BothAreExecuted():
    return eventually(lambda st: is_quorum(st.constructor.keys()))
'''


@dataclass(frozen=True, slots=True)
class Ported:
    """A spec, a model of it that fails, the exit status of its check, and the processes of its trace."""

    source: str
    cfg: str
    status: int
    lanes: tuple[str, ...]


PORTED = {
    "raft": Ported(RAFT, "INVARIANT OneLeaderPerTerm CHECK_DEADLOCK FALSE", 12, ("1", "2", "3")),
    "paxos": Ported(
        PAXOS, "CONSTANT Value = {v, w} INVARIANT PromisesAreKept CHECK_DEADLOCK FALSE", 12, ("1", "2", "3")
    ),
    "multi_paxos": Ported(
        MULTI_PAXOS, "INVARIANT ExecutedInOrder CHECK_DEADLOCK FALSE", 12, ("Alice", "One", "Two", "Three")
    ),
    "multi_paxos_for_ever": Ported(
        MULTI_PAXOS, "PROPERTY BothAreExecuted CHECK_DEADLOCK FALSE", 13, ("Alice", "One", "Two", "Three")
    ),
    "raft_gets_stuck": Ported(RAFT, "CONSTANT MaxTerm = 1", 11, ("1", "2", "3")),
}
"""The specs with their models, by name."""
