"""A spanning tree: tlaplus/Examples, SpanningTree/SpanTree.tla, four nodes, edges 1-2, 1-3, 2-3 and 3-4, root 1."""

from kmc.lang import Int, Map, Record, constant
from kmc.spec import NEXT, enabled, eventually, not_, spec

MaxCardinality = constant("MaxCardinality", Int(4, 9), "More than any distance")


Node = Int(1, 4)


class State(Record):
    mom: Map[Node, Node]
    dist: Map[Node, Int(0, MaxCardinality)]


def nbrs(n):
    if n == 1:
        return {2, 3}
    if n == 2:
        return {1, 3}
    return {1, 2, 4} if n == 3 else {3}


@spec.init
def init():
    yield State(mom={n: n for n in range(1, 5)}, dist={n: 0 if n == 1 else MaxCardinality for n in range(1, 5)})


@spec.action
def get_nearer(st, n: Node):
    """Next, for node n."""
    for m in nbrs(n):
        if st.dist[m] < 1 + st.dist[n]:
            for d in range(st.dist[m] + 1, st.dist[n]):
                yield st.set(dist=st.dist.set(n, d), mom=st.mom.set(n, m))


@spec.specification
def Unfair():
    return True


@spec.liveness
def Terminates():
    return eventually(not_(enabled(NEXT)))
