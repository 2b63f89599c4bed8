"""The grammar of random specs: texts of expressions of each kind, in worlds of `worlds`.

Numbers stay near the ends of their domains, sequences near their capacities and indices near their lengths, so that
errors occur about as often as successors; in a safe world nothing can fail. Every name that an expression uses is in
scope and of its kind. In a symmetric world no expression names a member.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

from support.drawing.worlds import HUGE, LOAD, World

Text = str | Callable[[], str]
"""A text, or what draws one."""


@dataclass(frozen=True, slots=True)
class Names:
    """The names in scope, by kind, and how deep expressions may still go."""

    ints: tuple[str, ...] = ("st.n",)
    servers: tuple[str, ...] = ()
    depth: int = 2

    def deeper(self) -> Names:
        """The same with less depth."""
        return replace(self, depth=self.depth - 1)

    def with_server(self, name: str) -> Names:
        """The same with one server more."""
        return replace(self, servers=(*self.servers, name))

    def with_int(self, name: str) -> Names:
        """The same with one number more."""
        return replace(self, ints=(*self.ints, name))


class Grammar:
    """Draws texts of each kind."""

    def __init__(self, chance: Random, world: World) -> None:
        self.chance = chance
        self.world = world
        self.low, self.high = world.low, world.high
        self.fresh = 0

    def pick(self, *texts: str) -> str:
        """One of these."""
        return self.chance.choice(texts)

    def one_of(self, *forms: Text) -> str:
        """One of these; the others are not drawn."""
        form = self.chance.choice(forms)
        return form if isinstance(form, str) else form()

    def risky(self, *forms: Text) -> tuple[Text, ...]:
        """Forms that may fail, for worlds in which something may."""
        return () if self.world.safe else forms

    def has(self, feature: str, *forms: Text) -> tuple[Text, ...]:
        """Forms for worlds with this feature, twice as likely as others."""
        return forms * 2 if feature in self.world.features else ()

    def name(self, stem: str) -> str:
        """A name that is used once."""
        self.fresh += 1
        return f"{stem}{self.fresh}"

    def stored(self, names: Names) -> str:
        """An integer for a field: perhaps outside of the domain, where something may fail."""
        return self.one_of(lambda: f"bounded({self.integer(names)})", *self.risky(lambda: self.integer(names)) * 3)

    def stored_alone(self, names: Names) -> str:
        """The same for a field that holds nothing but the number."""
        return f"bounded({self.integer(names)})" if self.world.safe else self.integer(names)

    def integer(self, names: Names) -> str:
        """An integer, perhaps outside of the domain."""
        leaf = self.pick(*names.ints, str(self.low), str(self.high), str(self.low + 1))
        if names.depth <= 0:
            return leaf
        inner = names.deeper()

        def some() -> str:
            return self.integer(inner)

        def best() -> str:
            o = self.name("o")
            return f"max(({o} for {o} in st.xs if {self.truth(inner.with_int(o))}), default={some()})"

        def counted() -> str:
            s = self.name("s")
            return f"count({self.truth(inner.with_server(s))} for {s} in {self.servers(inner)})"

        def summed() -> str:
            s = self.name("s")
            return f"sum({self.integer(inner.with_server(s))} for {s} in Server)"

        def held() -> str:
            s = self.server(inner)
            return f"(st.part[{s}].n if {s} in st.part else {some()})"

        return self.one_of(
            leaf,
            lambda: f"({some()} {self.pick('+', '-')} {some()})",
            lambda: f"({some()} * {self.pick('2', '-1', '3')})",
            lambda: f"(abs({some()}) {self.pick('//', '%')} 2)",
            lambda: f"{self.pick('min', 'max')}({some()}, {some()})",
            lambda: (
                f"len({self.one_of('st.xs', 'st.some', 'st.part', 'st.net', 'Server', lambda: self.servers(inner))})"
            ),
            lambda: f"st.mapped[{self.server(inner)}]",
            lambda: f"({some()} if {self.truth(inner)} else {some()})",
            lambda: f"(-{some()})",
            lambda: f"clipped({some()}, {some()})",
            counted,
            best,
            summed,
            held,
            *self.risky(lambda: f"st.xs.at({some()})", "st.maybe", lambda: f"st.part[{self.server(inner)}].n"),
            *self.has("set of enums", "len(st.roles)"),
            *self.has("wide sequence", "len(st.long)", f"count(e.at == {HUGE} for e in st.log)"),
            *self.has("wide records", lambda: f"st.nodes[{self.server(inner)}].ends[{self.server(inner)}]"),
            *self.has(
                "optional fields", "count(isinstance(m, LoudPing) for m in st.net.of(Ping))", "len(st.net.of(Ask))"
            ),
        )

    def server(self, names: Names) -> str:
        """A server; or the Opt field, where something may fail."""
        literal = () if self.world.symmetric else ("Server.at(1)", "Server.at(2)")
        leaf = self.pick(*(names.servers * 2 or literal), *literal)
        if names.depth <= 0 or not names.servers:
            return leaf
        inner = names.deeper()
        used = self.pick("st.some", "st.part.keys()", "st.part")
        fresh = () if self.world.symmetric else (f"Server.fresh({used})",)
        return self.one_of(
            leaf,
            lambda: f"({self.server(inner)} if {self.truth(inner)} else {self.server(inner)})",
            *self.risky("st.who", *fresh),
        )

    def role(self) -> str:
        """A member of the enum."""
        return self.pick("Role.LOW", "Role.HIGH", "Role.TOP", "st.role")

    def servers(self, names: Names) -> str:
        """A set of servers."""
        one = f"{{{names.servers[-1]}}}" if names.servers else "{Server.at(1)}"
        leaf = self.pick("st.some", "{s for s in Server}", "st.part.keys()", one)
        if names.depth <= 0:
            return leaf
        inner = names.deeper()
        s = self.name("s")
        return self.one_of(
            leaf,
            lambda: f"({self.servers(inner)} {self.pick('|', '&', '-')} {self.servers(inner)})",
            lambda: f"{{{s} for {s} in {self.servers(inner)} if {self.truth(inner.with_server(s))}}}",
            lambda: f"{{{self.server(inner)}, {self.server(inner)}}}",
            lambda: f"({self.servers(inner)} if {self.truth(inner)} else {self.servers(inner)})",
            *self.has("wide records", lambda: f"st.nodes[{self.server(inner)}].votes"),
            *self.has("maps of other keys", lambda: f"st.holders[{self.role()}]"),
        )

    def numbers(self, names: Names) -> str:
        """A set of integers."""
        o, s = self.name("o"), self.name("s")
        return self.one_of(
            lambda: f"{{{self.integer(names)}, {self.integer(names)}}}",
            f"{{{o} for {o} in st.xs}}",
            f"{{st.mapped[{s}] for {s} in Server}}",
            f"set(range({self.low}, {self.high}))",
            lambda: f"{{{o} for {o} in range(-1, {self.high + 2}) if {self.truth(names.with_int(o))}}}",
            *self.has("maps of other keys", "st.counted.keys()"),
        )

    def position(self, names: Names) -> str:
        """A Pos."""

        def made() -> str:
            who = self.one_of("None", "st.who", lambda: self.server(names))
            return f"Pos(n={self.stored(names)}, who={who})"

        s = self.server(names)
        found = f"(st.part[{s}] if {s} in st.part else Pos(n={self.low}, who=None))"
        return self.one_of(made, made, found, *self.risky(lambda: f"st.ps.at({self.integer(names)})", f"st.part[{s}]"))

    def message(self, names: Names) -> str:
        """A message."""
        ends = f"source={self.server(names)}, dest={self.server(names)}"
        more = [
            *self.has(
                "optional fields",
                lambda: f"LoudPing({ends}, n={self.stored(names)}, loud={self.truth(names)})",
                lambda: f"AskMore({ends}, n={self.stored(names)}, more={self.pick('None', 'st.who')})",
                lambda: f"AskPlain({ends}, n={self.stored(names)})",
            ),
            *self.has("wide message", lambda: f"Batch({ends}, load={self.load()}, places={self.places(names)})"),
        ]
        return self.one_of(lambda: self.plain_message(names, ends), *more)

    def plain_message(self, names: Names, ends: str = "") -> str:
        """A message that every network takes."""
        ends = ends or f"source={self.server(names)}, dest={self.server(names)}"
        return self.one_of(lambda: f"Ping({ends}, n={self.stored(names)})", lambda: f"Pong({ends}, role={self.role()})")

    def load(self) -> str:
        """A number that needs most of a word."""
        return self.pick("0", str(LOAD), str(LOAD - 1), f"(st.n - {self.low}) * {LOAD // 8}")

    def places(self, names: Names) -> str:
        """A short sequence of Pos."""
        return self.one_of("st.ps", "[]", lambda: f"[{self.position(names)}]")

    def truth(self, names: Names) -> str:
        """A Bool."""
        if names.depth <= 0:
            return self.pick(
                "st.who is None",
                "st.maybe is not None",
                "st.role == Role.HIGH",
                f"st.n > {self.low}",
                "len(st.some) > 0",
                "len(st.xs) < 2",
            )
        inner = names.deeper()
        return self.one_of(
            lambda: f"{self.integer(inner)} {self.pick('<', '<=', '>', '>=', '==', '!=')} {self.integer(inner)}",
            lambda: f"{self.integer(inner)} {self.pick('<', '<=')} {self.integer(inner)} < {self.integer(inner)}",
            lambda: f"({self.truth(inner)} {self.pick('and', 'or')} {self.truth(inner)})",
            lambda: f"not ({self.truth(inner)})",
            lambda: f"{self.servers(inner)} {self.pick('<=', '<', '>=', '==', '!=')} {self.servers(inner)}",
            lambda: f"{self.numbers(inner)} {self.pick('==', '<=', '!=')} {self.numbers(inner)}",
            lambda: f"len(st.xs) > 0 and st.xs.at(len(st.xs)) == {self.integer(inner)}",
            lambda: self.truth(replace(names, depth=0)),
            lambda: self.equality(inner),
            lambda: self.quantified(inner),
            lambda: self.membership(inner),
            lambda: self.of_messages(inner),
            lambda: self.of_whole(inner),
            *(lambda: self.of_features(inner),) * (3 if self.world.features else 0),
        )

    def equality(self, names: Names) -> str:
        """Whether two values, perhaps None, are the same."""
        left = self.one_of("st.who", "st.maybe", lambda: self.server(names), lambda: self.integer(names), "None")
        right = self.one_of("st.who", "st.maybe", lambda: self.server(names))
        return f"{left} {self.pick('==', '!=')} {right}"

    def quantified(self, names: Names) -> str:
        """Some, or all."""
        s, o, p = self.name("s"), self.name("o"), self.name("p")
        word = self.pick("any", "all")
        held = names.with_server(s).with_int(f"{p}.n")
        return self.one_of(
            lambda: f"{word}({self.truth(names.with_server(s))} for {s} in {self.servers(names)})",
            lambda: f"{word}({self.truth(held)} for {s}, {p} in st.part.items())",
            lambda: f"any(len({o}) == {self.integer(names)} for {o} in subsets({self.servers(names)}))",
            *self.risky(
                lambda: f"{word}(st.part[{s}].n {self.pick('==', '!=')} {self.integer(names)} for {s} in Server)",
            ),
        )

    def membership(self, names: Names) -> str:
        """Whether something is in a collection."""
        return self.one_of(
            lambda: f"{self.server(names)} in {self.servers(names)}",
            lambda: f"st.who in {self.servers(names)}",
            lambda: f"{self.server(names)} not in st.part",
            lambda: f"{self.integer(names)} in {self.numbers(names)}",
            lambda: f"{self.integer(names)} in st.xs",
            lambda: f"{self.integer(names)} in range({self.low}, {self.high})",
        )

    def of_messages(self, names: Names) -> str:
        """Something about the network."""
        m = self.name("m")
        counts = (lambda: f"all({m} <= {self.integer(names)} for _, {m} in st.net.counts())",) if self.world.bag else ()
        return self.one_of(
            lambda: f"any({m}.n == {self.integer(names)} for {m} in st.net.of(Ping))",
            lambda: f"all(isinstance({m}, Pong) or {m}.source == {self.server(names)} for {m} in st.net)",
            lambda: f"any({m}.dest == {self.server(names)} for {m} in st.net)",
            lambda: f"{self.message(names)} in st.net",
            *counts,
            *self.has(
                "wide message",
                lambda: f"any({m}.load == {self.load()} for {m} in st.net.of(Batch))",
                lambda: f"any({m}.places == {self.places(names)} for {m} in st.net.of(Batch))",
            ),
            *self.has(
                "optional fields",
                lambda: f"any(isinstance({m}, LoudPing) and {m}.loud for {m} in st.net.of(Ping))",
                lambda: f"all(isinstance({m}, AskMore) or {m}.n == {self.integer(names)} for {m} in st.net.of(Ask))",
            ),
        )

    def of_whole(self, names: Names) -> str:
        """Something about a whole sequence, map or record."""
        o = self.name("o")
        return self.one_of(
            lambda: f"st.xs == [{self.integer(names)}]",
            "st.xs != []",
            lambda: f"{self.position(names)} == {self.position(names)}",
            lambda: f"st.ps == [{self.position(names)}]",
            lambda: f"any({o} == {self.position(names)} for {o} in st.ps)",
            lambda: f"st.part == {{s: {self.position(names)} for s in {self.servers(names)}}}",
            *self.risky(lambda: f"st.part == st.part.add({self.server(names)}, {self.position(names)})"),
        )

    def of_features(self, names: Names) -> str:
        """Something about a type that not every world has."""
        r, word = self.name("r"), self.pick("any", "all")
        a, b = self.server(names), self.server(names)
        return self.one_of(
            lambda: f"st.n > {self.low}",
            *self.about_roles(r, word),
            *self.has(
                "pairs",
                f"({a} != {b} and st.linked[pair({a}, {b})])",
                f"({a} == {b} or pair({a}, {b}) in st.cut)",
                lambda: f"{word}({a} in {r} for {r} in st.cut)",
                lambda: f"st.cut <= pairs({self.servers(names)})",
            ),
            *self.has(
                "union",
                "st.what is None",
                f"st.what == {a}",
                lambda: f"st.what == {self.role()}",
                lambda: f"st.what == {self.position(names)}",
                lambda: f"(isinstance(st.what, Pos) and st.what.n == {self.integer(names)})",
            ),
            *self.has(
                "wide sequence",
                lambda: f"{word}({r}.at {self.pick('<', '==')} {self.stamp()} for {r} in st.log)",
                f"st.log == [Stamp(at={self.stamp()}, who=st.who)]",
                f"len(st.long) == {self.pick('0', '69', '70')}",
                lambda: f"len(st.long) > 0 and st.long.at(len(st.long)) == {self.integer(names)}",
            ),
            *self.has(
                "wide records",
                lambda: f"st.nodes[{a}].role == {self.role()}",
                f"st.nodes[{a}] == st.nodes[{b}]",
                lambda: f"{word}({r}.votes == {self.servers(names)} for {r} in st.nodes.values())",
            ),
            *self.has(
                "second network",
                lambda: f"{self.plain_message(names)} in st.other",
                "len(st.other) > 1",
                f"{word}({r} in st.net for {r} in st.other)",
                "st.net.of(Ping) <= st.other.of(Ping)",
            ),
            *self.has(
                "message in a field",
                lambda: f"st.pending == {self.plain_message(names)}",
                lambda: f"(st.pending is not None and st.pending.n == {self.integer(names)})",
            ),
            *self.has(
                "maps of other keys",
                lambda: f"{self.integer(names)} in st.counted",
                lambda: f"{word}({a} in {r} for {r} in st.holders.values())",
            ),
            *self.has(
                "spawned", f"{word}({r} for {r} in st.alive.values())", lambda: f"len(st.alive) < {self.integer(names)}"
            ),
            *self.has("second type", f"{word}(st.owner[{r}] == {a} for {r} in Value)"),
        )

    def about_roles(self, name: str, word: str) -> tuple[Text, ...]:
        """Forms about a set of enums."""
        return self.has(
            "set of enums",
            lambda: f"{self.role()} {self.pick('in', 'not in')} st.roles",
            lambda: f"st.roles {self.pick('<=', '==', '>=')} {{st.role, {self.role()}}}",
            lambda: f"{word}({name} == {self.role()} for {name} in st.roles)",
        )

    def stamp(self) -> str:
        """A number that needs most of a word."""
        return self.pick("0", "1", str(HUGE), str(HUGE - 1), f"(st.n - {self.low}) * {HUGE // 8}")
