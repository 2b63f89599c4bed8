"""The grammar of random specs, continued: what actions change, and the statements around it."""

from __future__ import annotations

from dataclasses import replace

from support.drawing.grammar import Grammar, Names, Text


class Changes(Grammar):
    """Draws keywords of `st.set`, and bodies of actions."""

    def change(self, names: Names) -> str:
        """One keyword of `st.set`."""
        kinds: dict[str, Text] = {
            "n": lambda: self.stored_alone(names),
            "role": lambda: self.one_of(self.role, "Role.TOP if st.n > 0 else st.role"),
            "who": lambda: self.one_of("None", lambda: self.server(names)),
            "maybe": lambda: self.one_of("None", lambda: self.stored_alone(names), "st.n if st.who is None else None"),
            "some": lambda: self.servers(names),
            "xs": lambda: self.sequence(names),
            "ps": lambda: self.places_changed(names),
            "mapped": lambda: self.mapped(names),
            "part": lambda: self.part(names),
            "net": lambda: self.network(names),
        }
        named = [lambda kind=kind, text=text: f"{kind}={text()}" for kind, text in kinds.items()]
        # The partial map is the only one of its kind in most worlds.
        return self.one_of(*named, named[list(kinds).index("part")], *(lambda: self.change_of_feature(names),) * 4)

    def sequence(self, names: Names) -> str:
        """A new `xs`."""
        longer = f"st.xs.append({self.stored_alone(names)})"
        return self.one_of(
            f"{longer} if len(st.xs) < {self.world.capacity} else st.xs.upto(0)",
            lambda: f"[{self.stored_alone(names)}]",
            *(() if self.world.safe else (longer,)),
            *self.risky(
                lambda: f"st.xs.upto({self.integer(names)})",
                lambda: f"st.xs.upto(len(st.xs) - 1).append({self.integer(names)})",
            ),
        )

    def places_changed(self, names: Names) -> str:
        """A new `ps`."""
        longer = f"st.ps.append({self.position(names)})"
        return self.one_of(
            "[]",
            f"{longer} if len(st.ps) < 2 else st.ps.upto(1)",
            *self.risky("st.ps.upto(len(st.ps) - 1)", longer),
        )

    def mapped(self, names: Names) -> str:
        """A new `mapped`."""
        s, o = self.name("s"), self.name("o")
        scoped = names.with_server(s)
        return self.one_of(
            lambda: f"st.mapped.set({self.server(names)}, {self.stored(names)})",
            lambda: f"{{{s}: {self.stored(scoped)} for {s} in Server}}",
            lambda: f"{{{s}: {o} if {self.truth(scoped)} else st.n for {s}, {o} in st.mapped.items()}}",
            lambda: f"st.mapped.set({self.server(names)}, st.n).set({self.server(names)}, {self.stored(names)})",
        )

    def part(self, names: Names) -> str:
        """A new `part`."""
        key, s = self.server(names), self.name("s")
        scoped = names.with_server(s)
        return self.one_of(
            "{}",
            f"st.part.without({key}) if {key} in st.part else st.part",
            lambda: f"st.part if {key} in st.part else st.part.add({key}, {self.position(names)})",
            lambda: f"{{{s}: {self.position(scoped)} for {s} in {self.servers(names)} if {self.truth(scoped)}}}",
            lambda: f"{{{s}: st.part[{s}] for {s} in st.part if {self.truth(scoped)}}}",
            *self.risky(
                f"st.part.without({key})",
                lambda: f"st.part.add({key}, {self.position(names)})",
                lambda: f"st.part.set({key}, {self.position(names)})",
                lambda: f"st.part.set({key}, st.part[{key}].set(n={self.integer(names)}))",
            ),
        )

    def network(self, names: Names) -> str:
        """A new `net`."""
        add, remove = ("add", "take") if self.world.bag else ("send", "discard")
        s, m = self.name("s"), self.name("m")
        one, to = self.message(names), self.server(names)
        if not self.risky(""):
            there = f"st.net.take({one}) if st.net.count({one}) > 0 else st.net"
            return self.one_of(
                f"st.net.{add}({one}) if len(st.net) < 3 and {one} not in st.net else st.net",
                there if self.world.bag else f"st.net.discard({one})",
            )
        return self.one_of(
            f"st.net.{add}({one})",
            lambda: f"st.net.{add}_all({{{self.message(names.with_server(s))} for {s} in {self.servers(names)}}})",
            f"st.net.{remove}({one})",
            lambda: f"st.net.{add}({one}).{remove}({self.message(names)})",
            f"st.net.{add}_all({{{m} for {m} in st.net if {m}.source == {self.server(names)}}})",
            *(() if self.world.bag else (f"st.net.keep(lambda kept: isinstance(kept, Ping) or kept.dest == {to})",)),
        )

    def change_of_feature(self, names: Names) -> str:
        """One keyword for a field that not every world has."""
        r, p = self.name("r"), self.name("p")
        a, b = self.server(names), self.server(names)
        return self.one_of(
            *(() if any(self.has(name, "") for name in FIELDS) else (lambda: f"net={self.network(names)}",)),
            *self.has(
                "set of enums",
                lambda: f"roles=st.roles {self.pick('|', '-', '&')} {{{self.role()}}}",
                lambda: f"roles={{{r} for {r} in Role if {r} != st.role and {self.truth(names)}}}",
                "roles=set()",
            ),
            *self.has(
                "pairs",
                lambda: f"linked={{{p}: {a} not in {p} and {self.truth(names)} for {p} in st.linked}}",
                lambda: f"linked=st.linked.set(pair({a}, {b}), {self.truth(names)}) if {a} != {b} else st.linked",
                lambda: f"cut={{{p} for {p} in pairs({self.servers(names)}) if {self.truth(names)}}}",
                f"linked={{{p}: not st.linked[{p}] for {p} in st.linked}}",
                f"cut={{{p} for {p} in pairs(Server) if {p} not in st.cut}}",
                f"cut=st.cut | {{pair({a}, {b})}} if {a} != {b} else set()",
            ),
            *self.has("union", lambda: f"what={self.one_of('None', a, self.role, lambda: self.position(names))}"),
            *self.has("wide sequence", lambda: self.change_of_log(names)),
            *self.has(
                "wide records",
                lambda: f"nodes=st.nodes.set({a}, {self.node(names, f'st.nodes[{b}]')})",
                lambda: f"nodes={{{r}: {self.node(names.with_server(r), p)} for {r}, {p} in st.nodes.items()}}",
            ),
            *self.has(
                "second network",
                lambda: f"other=st.other.send({self.plain_message(names)})",
                "other=st.other.send_all(st.net.of(Pong))",
                f"other=st.other.keep(lambda kept: kept.source == {a})",
                f"other=st.other.discard({self.plain_message(names)})",
            ),
            *self.has(
                "message in a field",
                "pending=None",
                lambda: f"pending=Ping(source={a}, dest={b}, n={self.stored(names)})",
            ),
            *self.has(
                "maps of other keys",
                lambda: f"holders=st.holders.set({self.role()}, {self.servers(names)})",
                f"holders={{{r}: {p} - {{{a}}} for {r}, {p} in st.holders.items()}}",
                lambda: (
                    f"counted={{{r}: {self.role()} for {r} in {self.numbers(names)} "
                    f"if {self.low} <= {r} <= {self.high}}}"
                ),
            ),
            *self.has(
                "spawned",
                lambda: f"alive={{{r}: not {p} for {r}, {p} in st.alive.items()}}",
                lambda: (
                    f"alive=st.alive if len(st.alive) > 2 else st.alive.add(Id.fresh(st.alive), {self.truth(names)})"
                ),
            ),
            *self.has("second type", f"owner={{{r}: {a} if {p} is None else None for {r}, {p} in st.owner.items()}}"),
        )

    def change_of_log(self, names: Names) -> str:
        """A keyword for a sequence wider than a word."""
        stamp = f"Stamp(at={self.stamp()}, who={self.pick('None', 'st.who')})"
        return self.one_of(
            f"log=st.log.append({stamp}) if len(st.log) < 3 else st.log.upto(1)",
            f"log=[{stamp}, {stamp}]",
            lambda: f"long=st.long.append({self.stored(names)}) if len(st.long) < 70 else []",
            "long=st.long.upto(max(len(st.long) - 1, 0))",
            *self.risky(f"log=st.log.append({stamp})", f"long=st.long.append({self.integer(names)})"),
        )

    def node(self, names: Names, before: str) -> str:
        """A changed record that is wider than a word."""
        return (
            f"{before}.set("
            + self.one_of(
                lambda: f"role={self.role()}",
                lambda: f"votes={self.servers(names)}, peer=None",
                lambda: f"path=[{self.position(names)} for _ in range(0, {self.pick('1', '17', '20')})]",
                lambda: f"ends={before}.ends.set({self.server(names)}, {self.stored(names)})",
            )
            + ")"
        )

    def body(self, names: Names, leave: str = "return") -> list[str]:
        """The statements of an action: guards, choices and yields; `leave` ends the innermost choice."""
        drawn = (self.change(names), self.change_of_feature(names))
        out = [f"yield st.set({', '.join(sorted({text.partition('=')[0]: text for text in drawn}.values()))})"]
        match self.pick("plain", "if", "else", "return", "twice", "assert", "loop", "loop", "bind"):
            case "if":
                return [f"if {self.truth(names)}:", *indented(out)]
            case "else":
                return [
                    f"if {self.truth(names)}:",
                    *indented(out),
                    f"elif {self.truth(names)}:",
                    f"    yield st.set({self.change(names)})",
                    "else:",
                    f"    yield st.set({self.change(names)})",
                ]
            case "return":
                return [self.pick(f"if {self.truth(names)}:\n    {leave}", f"require({self.truth(names)})"), *out]
            case "twice":
                return [*out, f"yield st.set({self.change(names)})"]
            case "assert":
                return [f"assert {self.truth(names)}", *out]
            case "loop":
                return self.loop(names, out)
            case "bind":
                return self.binding(names, leave)
        return out

    def loop(self, names: Names, out: list[str]) -> list[str]:
        """A choice, with a body."""
        s, q, m = self.name("s"), self.name("q"), self.name("m")

        def over_servers() -> str:
            inner = self.body(replace(names.with_server(s), depth=1), "continue")
            skip = [f"if {self.truth(names)}:", "    continue"]
            return "\n".join([f"for {s} in {self.servers(names)}:", *indented([*skip, *inner])])

        text = self.one_of(
            over_servers,
            lambda: "\n".join([f"for _ in ways({self.truth(names)}, {self.truth(names)}):", *indented(out)]),
            lambda: f"for {q} in subsets({self.servers(names)}):\n    yield st.set(some={q})",
            lambda: f"for {m} in st.net.of(Ping):\n    yield st.set(n={m}.n, who={m}.dest)",
            *self.has(
                "set of enums",
                f"for {q} in subsets(st.roles):\n    yield st.set(roles={q})",
                f"for {q} in st.roles:\n    yield st.set(role={q})",
            ),
            *self.has(
                "wide message",
                f"for {m} in st.net.of(Batch):\n    yield st.set(ps={m}.places.upto(min(len({m}.places), 2)))",
            ),
            *self.has(
                "optional fields",
                f"for {m} in st.net.of(Ask):\n    if isinstance({m}, AskMore):\n        yield st.set(who={m}.more)",
            ),
            *self.has(
                "second type", f"for {q} in Value:\n    yield st.set(owner=st.owner.set({q}, {self.server(names)}))"
            ),
            *self.has(
                "spawned",
                f"for {q} in st.alive.keys():\n    yield st.set(alive=st.alive.without({q}))",
            ),
            *self.has(
                "pairs", f"for {q} in st.cut:\n    yield st.set(cut=st.cut - {{{q}}}, linked=st.linked.set({q}, False))"
            ),
        )
        return text.split("\n")

    def binding(self, names: Names, leave: str) -> list[str]:
        """A name for a number, or for the record that a helper with a guard returns; then a body."""
        v = self.name("v")
        if self.pick("let", "helper") == "helper":
            inner = self.body(replace(names.with_int(f"{v}.n"), depth=1), leave)
            return [f"{v} = first_of(st, {self.server(names)})", *inner]
        inner = self.body(replace(names.with_int(v), depth=1), leave)
        return [f"if {self.truth(names)}:", f"    {v} = {self.integer(names)}", "else:", f"    {v} = st.n", *inner]


FIELDS = (
    "set of enums",
    "pairs",
    "union",
    "wide sequence",
    "wide records",
    "second network",
    "message in a field",
    "maps of other keys",
    "spawned",
    "second type",
)
"""The features that have fields."""


def indented(lines: list[str]) -> list[str]:
    """One step to the right."""
    return [f"    {line}" for text in lines for line in text.split("\n")]
