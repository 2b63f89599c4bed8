"""Random specs with models: small ones drawn from a grammar of the language, for comparing one engine with another.

A spec is a world (`worlds`) with actions and properties (`grammar`, `actions`); its model asks for
some of the properties, and may use symmetry, a view and constraints.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from hypothesis import strategies as st
from support.drawing.actions import Changes, indented
from support.drawing.grammar import Names
from support.drawing.worlds import BASE, FEATURES, World, head_of


@dataclass(frozen=True, slots=True)
class Drawn:
    """A spec and its model, as text; `keep_going` is a search that does not end at the first failure."""

    world: World
    source: str
    cfg: str
    keep_going: bool

    def __str__(self) -> str:
        return f"{self.source}\n# {self.cfg}\n# keep going: {self.keep_going}\n"


def specs() -> st.SearchStrategy[Drawn]:
    """Specs with their models.

    Hypothesis draws a seed, and chance the rest: what Hypothesis draws itself it varies piece by piece, so that half of
    the specs would be others with a line changed, and to shrink one takes longer than to read it.
    """
    return st.randoms(use_true_random=True).map(spec_of)


def spec_of(chance: Random) -> Drawn:
    """A spec with its model."""
    world = _world(chance)
    grammar = Changes(chance, world)
    parts = [head_of(world, steps=chance.random() < 0.5), *_actions(grammar), *_properties(grammar)]
    cfg = _model(chance, world)
    return Drawn(world, "\n".join(parts) + "\n", cfg, keep_going=chance.random() < 0.7)


def _world(chance: Random) -> World:
    low = chance.choice([0, -1, 1])
    return World(
        low=low,
        high=low + chance.choice([1, 2, 3]),
        capacity=chance.choice([1, 2, 3]),
        bag=chance.random() < 0.5,
        symmetric=chance.random() < 0.4,
        safe=chance.random() < 0.7,
        features=tuple(chance.sample(sorted(FEATURES), chance.choice([3, 3, 4]))),
    )


def _actions(grammar: Changes) -> list[str]:
    world = grammar.world
    given = Names(servers=("i",))
    alone = given if world.symmetric else Names()
    parts = defined("@spec.action", "act1(st, i: Server)" if world.symmetric else "act1(st)", _guarded(grammar, alone))
    parts += defined("@spec.action", "act2(st, i: Server)", _guarded(grammar, given))
    where = ', network="net"' if "second network" in world.features else ""
    parts += defined(f"@spec.receive(Ping{where})", "ping(st, m)", _received(grammar, "n=m.n", ("st.n", "m.n")))
    if grammar.pick("pong", "none") == "pong":
        parts += defined(f'@spec.receive(Pong, i="dest"{where})', "pong(st, m, i)", _received(grammar, "role=m.role"))
    if "wide message" in world.features:
        batch = "ps=m.places if len(m.places) <= 2 else []"
        parts += defined(
            f"@spec.receive(Batch{where})", "batch(st, m)", _received(grammar, batch, (f"(m.load % {world.high + 1})",))
        )
    if "optional fields" in world.features:
        more = "who=m.more if isinstance(m, AskMore) else m.source"
        parts += defined(f"@spec.receive(Ask{where})", "ask(st, m)", _received(grammar, more, ("m.n",)))
    if "second network" in world.features:
        moved = "yield st.set(other=st.other.discard(m), n=m.n)"
        parts += defined('@spec.receive(Ping, network="other")', "other_ping(st, m)", [moved])
    return parts


def _guarded(grammar: Changes, names: Names) -> list[str]:
    """A body, of which some are seldom enabled, so that there are states without a successor."""
    guards = [f"require({grammar.truth(names)})", f"require({grammar.truth(names)})"]
    return [*guards[: int(grammar.pick("0", "0", "2"))], *grammar.body(names)]


def _received(grammar: Changes, change: str, ints: tuple[str, ...] = ("st.n",)) -> list[str]:
    """What becomes of a message that has arrived: it is taken, and more."""
    names = Names(ints=ints, servers=("m.source", "m.dest"))
    taken = "st.net.take(m)" if grammar.world.bag else "st.net.discard(m)"
    out = [f"yield st.set(net={taken}, {change})"]
    return [*out, *grammar.body(names)] if grammar.pick("more", "no more") == "more" else out


def _properties(grammar: Changes) -> list[str]:
    def truth() -> str:
        given = grammar.truth(Names(servers=("i",)))
        return (
            f"{grammar.pick('all', 'any')}({given} for i in Server)"
            if grammar.world.symmetric
            else grammar.truth(Names())
        )

    # A property that fails in the first state ends a search before it has begun, so most of them say little.
    def rare() -> str:
        return f"not ({truth()} and {truth()} and {truth()})"

    order = f"nxt.n {grammar.pick('!=', '<=', '>=')} {grammar.integer(Names(servers=('i',)))}"
    parts = defined("@spec.invariant", "Inv(st)", [f"return {grammar.one_of(truth, rare, rare)}"])
    parts += defined("@spec.invariant", "Other(st)", [f"return {rare()}"])
    parts += defined("@spec.reachable", "reached(st)", [f"return {truth()}"])
    parts += defined("@spec.reachable", "far(st)", [f"return {truth()} and {truth()}"])
    parts += defined("@spec.action_property", "Step(st, nxt)", [f"return all({order} or {truth()} for i in Server)"])
    parts += defined("@spec.constraint", "Near(st)", [f"return {grammar.one_of('len(st.net) < 3', rare)}"])
    parts += defined("@spec.constraint", "Small(st)", [f"return {rare()}"])
    parts += defined("@spec.action_constraint", "Slow(st, nxt)", [f"return nxt.who == st.who or {truth()}"])
    dropped = grammar.chance.sample(["net", *BASE], grammar.chance.choice([1, 2, 3]))
    parts += ["", "", f"spec.view('part', drop={sorted(dropped)})"]
    return [*parts, *(SYMMETRIES if grammar.world.symmetric else [])]


SYMMETRIES = ["spec.symmetry('all', Server, Value)", "spec.symmetry('servers', Server)"]


def _model(chance: Random, world: World) -> str:
    servers = chance.choice(["s1, s2", "s1, s2", "s1, s2, s3"])
    return " ".join(
        [
            f"CONSTANTS Server = {{{servers}}} Value = {{v1, v2}}",
            chance.choice(["", "INVARIANT Inv", "INVARIANTS Inv Other", "INVARIANT Other"]),
            chance.choice(["", "PROPERTY Step"]),
            chance.choice(["", "CONSTRAINT Near", "CONSTRAINTS Near Small"]),
            chance.choice(["", "", "ACTION_CONSTRAINT Slow"]),
            chance.choice(["", "", "VIEW part"]),
            chance.choice(["SYMMETRY all", "SYMMETRY servers", ""]) if world.symmetric else "",
            chance.choice(["CHECK_DEADLOCK FALSE", "CHECK_DEADLOCK TRUE"]),
        ]
    )


def defined(decorator: str, head: str, body: list[str]) -> list[str]:
    """A decorated function."""
    return ["", "", decorator, f"def {head}:", *indented(body)]
