"""Clients that request, get and return sets of resources: tlaplus/Examples, allocator/SimpleAllocator.tla."""

from kmc.lang import IdentSet, Map, Record, Set, constant, subsets
from kmc.spec import always_eventually, and_, for_all, leads_to, steps, strong_fairness, weak_fairness, spec

Clients = constant("Clients", IdentSet(at_most=3), "Who requests resources")
Resources = constant("Resources", IdentSet(at_most=3), "What is allocated, each to one client at a time")


class State(Record):
    unsat: Map[Clients, Set[Resources]]
    alloc: Map[Clients, Set[Resources]]


@spec.init
def init():
    yield State(unsat={c: set() for c in Clients}, alloc={c: set() for c in Clients})


def available(st):
    return {r for r in Resources if all(r not in st.alloc[c] for c in Clients)}


@spec.action
def request(st, c: Clients):
    if len(st.unsat[c]) > 0 or len(st.alloc[c]) > 0:
        return
    for wanted in subsets(Resources):
        if len(wanted) > 0:
            yield st.set(unsat=st.unsat.set(c, wanted))


@spec.action
def allocate(st, c: Clients):
    for given in subsets(available(st) & st.unsat[c]):
        if len(given) > 0:
            yield st.set(alloc=st.alloc.set(c, st.alloc[c] | given), unsat=st.unsat.set(c, st.unsat[c] - given))


@spec.action(title="Return")
def give_back(st, c: Clients):
    for returned in subsets(st.alloc[c]):
        if len(returned) > 0:
            yield st.set(alloc=st.alloc.set(c, st.alloc[c] - returned))


@spec.action(next=False)
def return_all(st, c: Clients):
    """Return(c, alloc[c])."""
    if len(st.alloc[c]) > 0:
        yield st.set(alloc=st.alloc.set(c, set()))


def each_returns_all():
    return for_all(Clients, lambda c: weak_fairness(return_all, c))


@spec.specification
def SimpleAllocator():
    return and_(each_returns_all(), for_all(Clients, lambda c: strong_fairness(allocate, c)))


@spec.specification
def SimpleAllocator2():
    """Resources need be returned only when the whole request has been satisfied."""
    return for_all(
        Clients,
        lambda c: and_(
            weak_fairness(and_(steps(return_all, c), lambda st: len(st.unsat[c]) == 0)), strong_fairness(allocate, c)
        ),
    )


@spec.specification
def WfAllocate():
    return and_(each_returns_all(), for_all(Clients, lambda c: weak_fairness(allocate, c)))


@spec.specification
def SfSomeAllocate():
    return and_(each_returns_all(), strong_fairness(allocate))


@spec.liveness
def ClientsWillReturn():
    return for_all(Clients, lambda c: leads_to(lambda st: len(st.unsat[c]) == 0, lambda st: len(st.alloc[c]) == 0))


@spec.liveness
def ClientsWillObtain():
    return for_all(
        Clients,
        lambda c: for_all(Resources, lambda r: leads_to(lambda st: r in st.unsat[c], lambda st: r in st.alloc[c])),
    )


@spec.liveness
def InfOftenSatisfied():
    return for_all(Clients, lambda c: always_eventually(lambda st: len(st.unsat[c]) == 0))
