"""A use that tells the members of a symmetric type apart is an error at the author's line before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.specs.small import IMPORTS, model_of

from kmc.engine.compiled_model import compile_model
from kmc.errors import SpecError

SOURCE = """
Server = constant("Server", IdentSet(symmetric=True), "Who")


class State(Record):
    who: Opt[Server]
    some: Set[Server]
    n: Int(0, 9)
    seq: Seq[Server, 3]
    held: Map[Server, Int(0, 3)]


@spec.init
def init():
    yield State(who=Server.at(1), some=set(), n=0, seq=[Server.at(1)], held={s: 0 for s in Server})


spec.symmetry("servers", Server)


def first_of(kind):
    return kind.at(1)  # in the alias


@spec.action
def act(st, a: Server, b: Server):
"""

USES = {
    "an order": "    if a < b:\n        yield st.set(who=a)",
    "a chain of orders": "    if a <= b <= a:\n        yield st.set(who=a)",
    "arithmetic": "    yield st.set(n=a + 1)",
    "a number": "    yield st.set(n=a)",
    "int": "    yield st.set(n=int(a))",
    "its place": "    yield st.set(n=a.index)",
    "its name": "    yield st.set(n=len(a.title))",
    "text": "    yield st.set(n=len(str(a)))",
    "a hash": "    yield st.set(n=hash(a))",
    "the least": "    yield st.set(who=min(Server))",
    "the greatest of a set": "    yield st.set(who=max(st.some))",
    "a sorted list": "    yield st.set(seq=sorted(Server))",
    "a list": "    yield st.set(seq=[s for s in Server])",
    "all members": "    yield st.set(who=Server.members[0])",
    "a member by brackets": "    yield st.set(who=Server[0])",
    "any element": "    yield st.set(who=next(iter(st.some)))",
    "a popped element": "    yield st.set(who=st.some.pop())",
    "a member by its number": "    yield st.set(who=Server.at(1))",
    "a member beside others": "    yield st.set(who=Server.fresh(st.some))",
    "a member of an alias": "    yield st.set(who=first_of(Server))",
    "a range": "    for k in range(a):\n        yield st.set(n=k)",
    "numbered members": "    for k, s in enumerate(Server):\n        yield st.set(n=k, who=s)",
    "members side by side": "    for s, t in zip(Server, Server):\n        yield st.set(who=s)",
    "members taken apart": "    one, two = Server\n    yield st.set(who=one)",
    "a sum": "    yield st.set(n=sum(s for s in Server))",
    "a place in a sequence": "    yield st.set(who=st.seq.at(a))",
    "a condition": "    if a:\n        yield st.set(who=a)",
}


@pytest.mark.parametrize("title", USES)
def test_a_use_that_tells_members_apart_is_refused_at_its_line(title: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        compile_model(model_of(tmp_path, SOURCE + USES[title], "CONSTANT Server = {a, b, c} SYMMETRY servers"))
    lines = (IMPORTS + SOURCE).splitlines()
    expected = lines.index("    return kind.at(1)  # in the alias") if title.endswith("alias") else len(lines)
    assert caught.value.span is not None
    assert caught.value.span.line == expected + 1
