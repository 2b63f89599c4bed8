"""Stories for tests of views: counterexamples of shipped models, a long walk, and hand-made ones with hostile names."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from support.source_tree import ROOT
from support.specs.small import model_of

from kmc.actions.relation import NextStateRelation
from kmc.cli.saved.traced_story import traced_story
from kmc.frontend.binding import bind
from kmc.frontend.model import Model
from kmc.frontend.shipped import find_model, find_spec_root
from kmc.lang.tla import Tla, TlaMap, TlaRecord, TlaSeq, TlaSet
from kmc.reference.search import Search
from kmc.reference.states.initial import initial_states
from kmc.reference.states.traces import trace_step
from kmc.result import Trace, TraceStep
from kmc.story.counterexample import story_of
from kmc.story.parts.story import Change, ComparedValue, LaneColumn, SentMessage, Story, StoryLoop, StoryStep, Why
from kmc.story.tell import tell
from kmc.trace.files import read_trace

HOSTILE = """</script><img src=x onerror=alert(1)>{{script}}"'&\\ud800"""
"""Ends a script, opens a tag, names a part of the page, closes an attribute."""


@cache
def shipped_model(spec: str, model: str) -> Model:
    """A model of a shipped spec."""
    root = find_spec_root(spec)
    file = find_model(root, model)
    assert file is not None
    return bind(root, file)


@cache
def story_of_finding(spec: str, model: str) -> Story:
    """The counterexample of a model with one of safety, found by the interpreter."""
    bound = shipped_model(spec, model)
    violation = Search(bound).run().violation
    assert violation is not None
    about = {"spec": spec, "model": model, "status": violation.verdict.value, "property": violation.name or ""}
    return story_of(bound, violation, about)


@cache
def long_story(spec: str, model: str, count: int, seed: int) -> Story:
    """A walk of `count` states of a model, drawn with `seed`."""
    bound = shipped_model(spec, model)
    relation = NextStateRelation(bound.spec.actions, bound.spec.state_class, bound.spec.files)
    draw = random.Random(seed)
    walk = [TraceStep(initial_states(bound)[0])]
    while len(walk) < count:
        walk.append(trace_step(draw.choice(sorted(relation.steps(walk[-1].state), key=relation.display_key))))
    return tell(bound.spec, Trace(tuple(walk)), {"spec": spec, "model": model})


@cache
def branched(spec: str, model: str, shared: int, count: int, seed: int) -> tuple[Story, Story]:
    """The counterexample of a model, and a walk of `count` states that leaves it after `shared`, drawn with `seed`."""
    bound = shipped_model(spec, model)
    violation = Search(bound).run().violation
    assert violation is not None
    relation = NextStateRelation(bound.spec.actions, bound.spec.state_class, bound.spec.files)
    draw = random.Random(seed)
    walk = list(violation.trace.steps[:shared])
    while len(walk) < count:
        walk.append(trace_step(draw.choice(sorted(relation.steps(walk[-1].state), key=relation.display_key))))
    return story_of_finding(spec, model), tell(bound.spec, Trace(tuple(walk)), {"spec": spec, "model": model})


@cache
def reading(name: str) -> Story:
    """The story of a saved trace, as a person reads it: `no_check_quorum` is a lasso of kip_996."""
    return traced_story(read_trace(ROOT / "tests" / "data" / "views" / f"{name}.itf.json"))


def reassignment() -> Story:
    """The saved counterexample of kip_642: long entries, and names that differ in their last word."""
    return reading("changes_without_own_record")


def step(number: int, label: str, actor: str | None, variables: dict[str, Tla], **fields: Any) -> StoryStep:
    """A step of a hand-made story."""
    plain = StoryStep(number, label, label, (), actor, None, (), (), (), "", "", variables)
    return replace(plain, **fields)


def _state(epoch: int, log: tuple[Tla, ...], role: str, name: str) -> dict[str, Tla]:
    others: tuple[tuple[Tla, Tla], ...] = (("b", 0),)
    return {
        "role": TlaMap(((name, role), ("b", "Follower"))),
        "epoch": TlaMap(((name, epoch), *others)),
        "log": TlaMap(((name, TlaSeq(log)), ("b", TlaSeq(())))),
        "hwm": TlaMap(((name, len(log)), *others)),
        "net": TlaSet(()),
        "extra": TlaSet((name, role)),
    }


def hand_made_story(name: str = "a", *, loop: bool = False) -> Story:
    """Four steps of two processes: `name` stands wherever a name can. Of three messages one is received, one lost."""
    entry = TlaRecord((("epoch", 1), ("value", name)))
    steps = (
        step(1, "Initial state", None, _state(0, (), "Follower", name)),
        step(2, f"Elect({name})", name, _state(1, (), "Leader", name), sent=(1, 2, 3), doc=f"{name} wins.",
             changes=(Change(("role", name), name, "Follower", "Leader"),)),
        step(3, f"Vote {name} -> b, epoch 1", "b", _state(1, (), "Leader", name), action="Vote", received=1),
        step(4, f"Append({name})", name, _state(1, (entry,), "Leader", name), lost=(2,), matters=False,
             note="no one reads it", changes=(Change(("log", name, "[1]"), name, None, f"{{value: {name}}}"),)),
    )  # fmt: skip
    sent = SentMessage(1, name, name, "b", (("epoch", "1"), ("text", name)), f"{name} {name} -> b, epoch 1", 2)
    return Story(
        about={"spec": "toy", "model": name, "status": "invariant", "property": name, "constants": name},
        variables=("role", "epoch", "log", "hwm", "net", "extra"),
        lanes=(name, "b"),
        columns=(LaneColumn("role", "role"), LaneColumn("epoch", "epoch"), LaneColumn("log end", "log", length=True),
                 LaneColumn("high watermark", "hwm")),
        steps=steps,
        messages=(
            replace(sent, received_at=(3,), gone_at=3, value="x"),
            replace(sent, number=2, lost_at=4, gone_at=4, value="y"),
            replace(sent, number=3, value="z"),
        ),
        networks=("net",),
        of_lane=("role", "epoch", "log", "hwm"),
        loop=StoryLoop(2, replace(steps[1], number=5, sent=()), ("WF of Elect: taken",)) if loop else None,
        why=Why(name, f"{name} holds.", "toy:1", (("s", name),), (ComparedValue("s.epoch", "1"),), f"{name} is false."),
    )  # fmt: skip


_REGISTER = """
Client = constant("Client", IdentSet(), "Who writes")


class Write(Message):
    source: Client
    dest: Client


class State(Record):
    net: MessageSet[Write]
    sent: Bool


@spec.init
def init():
    yield State(net=set(), sent=False)


@spec.action
def write(st, c: Client):
    if not st.sent:
        yield st.set(net=st.net.send(Write(source=c, dest=c)), sent=True)


@spec.invariant
def NotLost(st):
    return not st.sent or len(st.net) > 0
"""

LOSING = {
    "receives": """
@spec.receive(Write)
def lose(st, m):
    yield st.set(net=st.net.discard(m))
""",
    "loses": """
@spec.receive(Write)
def take(st, m):
    yield st


@spec.action
def lose(st):
    for m in st.net.of(Write):
        yield st.set(net=st.net.discard(m))
""",
    "changes": """
@spec.action
def lose(st):
    for m in st.net.of(Write):
        yield st.set(net=st.net.discard(m))
""",
}
"""Three ways to write that a network loses a message: as its receiver, beside its receiver, and where none receives."""


def lossy_model(folder: Path, way: str) -> Model:
    """A model of a network that loses its only message; `way` is one of `LOSING`."""
    return model_of(folder, _REGISTER + LOSING[way], "CONSTANTS Client = {c1}\nINVARIANTS NotLost")


def lossy_story(folder: Path, way: str) -> Story:
    """A message is sent and lost, in three states; `way` is one of `LOSING`."""
    model = lossy_model(folder, way)
    violation = Search(model).run().violation
    assert violation is not None
    return tell(model.spec, violation.trace)
