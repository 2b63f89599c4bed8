"""Random specs: source text drawn from a grammar of the language, small enough that a whole graph is explored.

Numbers stay near the ends of their domains, sequences near their capacities and indices near their lengths, so that
errors occur about as often as successors. Every name that an expression uses is in scope and of its kind.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import strategies as st

HEAD = """
Server = constant("Server", IdentSet(), "Who")


class Role(Enum):
    LOW, HIGH, TOP = range(3)


class Pos(Record):
    n: Int({low}, {high})
    who: Opt[Server]


class Ping(Message):
    source: Server
    dest: Server
    n: Int({low}, {high})


class Pong(Message):
    source: Server
    dest: Server
    role: Role


class State(Record):
    n: Int({low}, {high})
    role: Role
    who: Opt[Server]
    maybe: Opt[Int({low}, {high})]
    some: Set[Server]
    xs: Seq[Int({low}, {high}), {capacity}]
    ps: Seq[Pos, 2]
    mapped: Map[Server, Int({low}, {high})]
    part: PartialMap[Server, Pos]
    net: {network}


def clipped(a, b):
    if a < b:
        return a
    if a == b and b > {low}:
        return b - 1
    return {high}


def first_of(st, i):
    require(i in st.part)
    return st.part[i]


@spec.init
def init():
    one, two = Server.at(1), Server.at(2)
    bare = State(
        n={low}, role=Role.LOW, who=None, maybe=None, some=set(), xs=[], ps=[],
        mapped={{s: {low} for s in Server}}, part={{}}, net={empty},
    )
    yield bare
    yield bare.set(
        n={high}, who=one, maybe={low}, some={{one}}, xs=[{low}], ps=[Pos(n={low}, who=two)],
        part={{s: Pos(n={high}, who=s) for s in Server if s != one}},
        net=bare.net.{add}(Ping(source=one, dest=two, n={low})),
    )
    yield bare.set(
        role=Role.HIGH, who=two, maybe={high}, some={{one, two}}, ps=[Pos(n={low}, who=None), Pos(n={high}, who=one)],
        mapped={{s: {high} if s == one else {low} for s in Server}}, part={{s: Pos(n={low}, who=None) for s in Server}},
        net=bare.net.{add}(Pong(source=two, dest=two, role=Role.TOP)).{add}(Ping(source=two, dest=one, n={high})),
    )


@spec.action
def around(st):
    yield st.set(n=st.n + 1 if st.n < {high} else {low})


@spec.action
def meet(st, i: Server):
    yield st.set(who=i, some=st.some | {{i}} if st.who != i else st.some - {{i}})
"""


@dataclass(frozen=True, slots=True)
class Names:
    """The names in scope, by kind, and how deep expressions may still go."""

    bag: bool
    ints: tuple[str, ...] = ("st.n",)
    servers: tuple[str, ...] = ()
    depth: int = 2

    def deeper(self) -> Names:
        """The same with less depth."""
        return replace(self, depth=self.depth - 1)


class Grammar:
    """Draws texts of each kind."""

    def __init__(self, draw: st.DrawFn, low: int, high: int) -> None:
        self.draw = draw
        self.low, self.high = low, high
        self.fresh = 0

    def pick(self, *texts: str) -> str:
        """One of these."""
        return self.draw(st.sampled_from(texts))

    def name(self, stem: str) -> str:
        """A name that is used once."""
        self.fresh += 1
        return f"{stem}{self.fresh}"

    def integer(self, names: Names) -> str:
        """An integer, perhaps outside of the domain."""
        leaf = self.pick(*names.ints, str(self.low), str(self.high), str(self.low + 1))
        if names.depth <= 0:
            return leaf
        inner = names.deeper()
        kind = self.pick("leaf", "add", "sub", "mul", "div", "min", "len", "at", "map", "if", "count", "best", "clip",
                         "sum", "maybe", "part", "neg")  # fmt: skip
        match kind:
            case "add":
                return f"({self.integer(inner)} + {self.integer(inner)})"
            case "sub":
                return f"({self.integer(inner)} - {self.integer(inner)})"
            case "mul":
                return f"({self.integer(inner)} * {self.pick('2', '-1', '3')})"
            case "div":
                return f"(abs({self.integer(inner)}) {self.pick('//', '%')} 2)"
            case "min":
                return f"{self.pick('min', 'max')}({self.integer(inner)}, {self.integer(inner)})"
            case "len":
                return f"len({self.pick('st.xs', 'st.some', 'st.part', 'st.net', 'Server', self.servers(inner))})"
            case "at":
                return f"st.xs.at({self.integer(inner)})"
            case "map":
                return f"st.mapped[{self.server(inner)}]"
            case "if":
                return f"({self.integer(inner)} if {self.truth(inner)} else {self.integer(inner)})"
            case "count":
                s = self.name("s")
                body = self.truth(replace(inner, servers=(*inner.servers, s)))
                return f"count({body} for {s} in {self.servers(inner)})"
            case "best":
                o = self.name("o")
                body = self.truth(replace(inner, ints=(*inner.ints, o)))
                return f"max(({o} for {o} in st.xs if {body}), default={self.integer(inner)})"
            case "clip":
                return f"clipped({self.integer(inner)}, {self.integer(inner)})"
            case "sum":
                s = self.name("s")
                return f"sum({self.integer(replace(inner, servers=(*inner.servers, s)))} for {s} in Server)"
            case "maybe":
                return "st.maybe"
            case "part":
                return f"st.part[{self.server(inner)}].n"
            case "neg":
                return f"(-{self.integer(inner)})"
            case _:
                return leaf

    def server(self, names: Names) -> str:
        """A server, or the Opt field."""
        if names.depth <= 0 or not names.servers:
            return self.pick(*names.servers, "Server.at(1)", "Server.at(2)")
        inner = names.deeper()
        kind = self.pick("leaf", "who", "if", "fresh")
        if kind == "if":
            return f"({self.server(inner)} if {self.truth(inner)} else {self.server(inner)})"
        if kind == "fresh":
            return f"Server.fresh({self.pick('st.some', 'st.part.keys()', 'st.part')})"
        return "st.who" if kind == "who" else self.pick(*names.servers)

    def servers(self, names: Names) -> str:
        """A set of servers."""
        leaf = self.pick("st.some", "Server", "st.part.keys()", "{Server.at(1)}")
        if names.depth <= 0:
            return "{s for s in Server}" if leaf == "Server" else leaf
        inner = names.deeper()
        kind = self.pick("leaf", "or", "and", "less", "filter", "literal", "if")
        s = self.name("s")
        match kind:
            case "or":
                return f"({self.servers(inner)} | {self.servers(inner)})"
            case "and":
                return f"({self.servers(inner)} & {self.servers(inner)})"
            case "less":
                return f"({self.servers(inner)} - {self.servers(inner)})"
            case "filter":
                body = self.truth(replace(inner, servers=(*inner.servers, s)))
                return f"{{{s} for {s} in {self.servers(inner)} if {body}}}"
            case "literal":
                return f"{{{self.server(inner)}, {self.server(inner)}}}"
            case "if":
                return f"({self.servers(inner)} if {self.truth(inner)} else {self.servers(inner)})"
            case _:
                return "{s for s in Server}" if leaf == "Server" else leaf

    def numbers(self, names: Names) -> str:
        """A set of integers."""
        o, s = self.name("o"), self.name("s")
        return self.pick(
            f"{{{self.integer(names)}, {self.integer(names)}}}",
            f"{{{o} for {o} in st.xs}}",
            f"{{st.mapped[{s}] for {s} in Server}}",
            f"set(range({self.low}, {self.high}))",
            f"{{{o} for {o} in range(-1, {self.high + 2}) if {self.truth(replace(names, ints=(*names.ints, o)))}}}",
        )

    def position(self, names: Names) -> str:
        """A Pos."""
        made = f"Pos(n={self.integer(names)}, who={self.pick('None', self.server(names), 'st.who')})"
        s = self.server(names)
        return self.pick(made, f"st.ps.at({self.integer(names)})", f"st.part[{s}]", made)

    def truth(self, names: Names) -> str:
        """A Bool."""
        if names.depth <= 0:
            return self.pick("st.who is None", "st.maybe is not None", "st.role == Role.HIGH", f"st.n > {self.low}",
                             "len(st.some) > 0", "len(st.xs) < 2")  # fmt: skip
        inner = names.deeper()
        kind = self.pick("order", "chain", "equal", "and", "or", "not", "any", "all", "in", "subset", "net", "whole",
                         "numbers", "guarded", "leaf", "subsets", "values")  # fmt: skip
        s, o, m = self.name("s"), self.name("o"), self.name("m")
        match kind:
            case "order":
                return f"{self.integer(inner)} {self.pick('<', '<=', '>', '>=', '==', '!=')} {self.integer(inner)}"
            case "chain":
                middle = f"{self.integer(inner)} {self.pick('<', '<=')} {self.integer(inner)}"
                return f"{self.integer(inner)} {self.pick('<', '<=')} {middle}"
            case "equal":
                left = self.pick("st.who", "st.maybe", self.server(inner), self.integer(inner), "None")
                return f"{left} {self.pick('==', '!=')} {self.pick('st.who', 'st.maybe', self.server(inner))}"
            case "and" | "or":
                return f"({self.truth(inner)} {kind} {self.truth(inner)})"
            case "not":
                return f"not ({self.truth(inner)})"
            case "any" | "all":
                body = self.truth(replace(inner, servers=(*inner.servers, s)))
                return f"{kind}({body} for {s} in {self.servers(inner)})"
            case "in":
                return self.membership(inner)
            case "subset":
                return f"{self.servers(inner)} {self.pick('<=', '<', '>=', '==', '!=')} {self.servers(inner)}"
            case "net":
                ping = f"{m}.n == {self.integer(inner)}"
                body = f"isinstance({m}, Pong) or {ping}"
                return self.pick(
                    f"any({ping} for {m} in st.net.of(Ping))",
                    f"all({body} for {m} in st.net)",
                    f"any({m}.dest == {self.server(inner)} for {m} in st.net)",
                    f"{self.message(inner)} in st.net",
                )
            case "whole":
                return self.pick(
                    f"st.xs == [{self.integer(inner)}]",
                    "st.xs != []",
                    f"st.part == st.part.add({self.server(inner)}, {self.position(inner)})",
                    f"{self.position(inner)} == {self.position(inner)}",
                    f"st.ps == [{self.position(inner)}]",
                    f"any({o} == {self.position(inner)} for {o} in st.ps)",
                )
            case "numbers":
                return f"{self.numbers(inner)} {self.pick('==', '<=', '!=')} {self.numbers(inner)}"
            case "guarded":
                return f"len(st.xs) > 0 and st.xs.at(len(st.xs)) == {self.integer(inner)}"
            case "subsets":
                return f"any(len({o}) == {self.integer(inner)} for {o} in subsets({self.servers(inner)}))"
            case "values":
                p = self.name("p")
                tail = self.truth(replace(inner, ints=(*inner.ints, f"{p}.n"), servers=(*inner.servers, s)))
                return f"{self.pick('any', 'all')}({tail} for {s}, {p} in st.part.items())"
            case _:
                return self.truth(replace(names, depth=0))

    def membership(self, inner: Names) -> str:
        """Whether something is in a collection."""
        return self.pick(
            f"{self.server(inner)} in {self.servers(inner)}",
            f"st.who in {self.servers(inner)}",
            f"{self.server(inner)} not in st.part",
            f"{self.integer(inner)} in {self.numbers(inner)}",
            f"{self.integer(inner)} in st.xs",
            f"{self.integer(inner)} in range({self.low}, {self.high})",
        )

    def message(self, names: Names) -> str:
        """A message."""
        ends = f"source={self.server(names)}, dest={self.server(names)}"
        role = self.pick("Role.LOW", "st.role", "Role.TOP")
        return self.pick(f"Ping({ends}, n={self.integer(names)})", f"Pong({ends}, role={role})")

    def change(self, names: Names) -> str:
        """One keyword of `st.set`."""
        kind = self.pick("n", "role", "who", "maybe", "some", "xs", "ps", "mapped", "part", "net")
        s, o = self.name("s"), self.name("o")
        scoped = replace(names, servers=(*names.servers, s))
        match kind:
            case "n":
                return f"n={self.integer(names)}"
            case "role":
                return f"role={self.pick('Role.LOW', 'Role.HIGH', 'Role.TOP', 'Role.TOP if st.n > 0 else st.role')}"
            case "who":
                return f"who={self.pick('None', self.server(names))}"
            case "maybe":
                return f"maybe={self.pick('None', self.integer(names), 'st.n if st.who is None else None')}"
            case "some":
                return f"some={self.servers(names)}"
            case "xs":
                return "xs=" + self.pick(
                    "[]",
                    f"[{self.integer(names)}]",
                    f"st.xs.append({self.integer(names)})",
                    f"st.xs.upto({self.integer(names)})",
                    f"st.xs.upto(len(st.xs) - 1).append({self.integer(names)})",
                )
            case "ps":
                return f"ps={self.pick('[]', f'st.ps.append({self.position(names)})', 'st.ps.upto(len(st.ps) - 1)')}"
            case "mapped":
                return "mapped=" + self.pick(
                    f"st.mapped.set({self.server(names)}, {self.integer(names)})",
                    f"{{{s}: {self.integer(scoped)} for {s} in Server}}",
                    f"{{{s}: {o} if {self.truth(scoped)} else st.n for {s}, {o} in st.mapped.items()}}",
                    f"st.mapped.set({self.server(names)}, st.n).set({self.server(names)}, {self.integer(names)})",
                )
            case "part":
                key = self.server(names)
                return "part=" + self.pick(
                    "{}",
                    f"st.part.add({key}, {self.position(names)})",
                    f"st.part.without({key})",
                    f"st.part.set({key}, {self.position(names)})",
                    f"st.part.set({key}, st.part[{key}].set(n={self.integer(names)}))",
                    f"{{{s}: {self.position(scoped)} for {s} in {self.servers(names)} if {self.truth(scoped)}}}",
                    f"{{{s}: st.part[{s}] for {s} in st.part if {self.truth(scoped)}}}",
                )
            case _:
                return f"net={self.network(names, s, scoped)}"

    def network(self, names: Names, s: str, scoped: Names) -> str:
        """A change of the network."""
        add, remove = ("add", "take") if names.bag else ("send", "discard")
        one = self.message(names)
        several = f"{{{self.message(scoped)} for {s} in {self.servers(names)}}}"
        forms = [f"st.net.{add}({one})", f"st.net.{add}_all({several})", f"st.net.{remove}({one})",
                 f"st.net.{add}({one}).{remove}({self.message(names)})"]  # fmt: skip
        if not names.bag:
            forms.append(f"st.net.keep(lambda kept: isinstance(kept, Ping) or kept.dest == {self.server(names)})")
        return self.pick(*forms)

    def body(self, names: Names, leave: str = "return") -> list[str]:
        """The statements of an action: guards, choices and yields; `leave` ends the innermost choice."""
        changes = sorted({text.partition("=")[0]: text for text in (self.change(names), self.change(names))}.values())
        out = [f"yield st.set({', '.join(changes)})"]
        s, q, v = self.name("s"), self.name("q"), self.name("v")
        match self.pick("plain", "if", "else", "for", "ways", "require", "return", "subsets", "let", "twice", "helper"):
            case "if":
                out = [f"if {self.truth(names)}:", *indented(out)]
            case "else":
                more = [f"elif {self.truth(names)}:", f"    yield st.set({self.change(names)})"]
                out = [
                    f"if {self.truth(names)}:",
                    *indented(out),
                    *more,
                    "else:",
                    f"    yield st.set({self.change(names)})",
                ]
            case "for":
                inner = self.body(replace(names, servers=(*names.servers, s), depth=1), "continue")
                skip = [f"if {self.truth(names)}:", "    continue"]
                out = [f"for {s} in {self.servers(names)}:", *indented([*skip, *inner])]
            case "ways":
                out = [f"for _ in ways({self.truth(names)}, {self.truth(names)}):", *indented(out)]
            case "require":
                out = [f"require({self.truth(names)})", *out]
            case "return":
                out = [f"if {self.truth(names)}:", f"    {leave}", *out]
            case "subsets":
                out = [f"for {q} in subsets({self.servers(names)}):", f"    yield st.set(some={q})"]
            case "let":
                inner = self.body(replace(names, ints=(*names.ints, v), depth=1), leave)
                chosen = [f"if {self.truth(names)}:", f"    {v} = {self.integer(names)}", "else:", f"    {v} = st.n"]
                out = [*chosen, *inner]
            case "helper":
                inner = self.body(replace(names, ints=(*names.ints, f"{v}.n"), depth=1), leave)
                out = [f"{v} = first_of(st, {self.server(names)})", *inner]
            case "twice":
                out = [*out, f"yield st.set({self.change(names)})"]
        return out


def indented(lines: list[str]) -> list[str]:
    """One step to the right."""
    return [f"    {line}" for line in lines]


@st.composite
def specs(draw: st.DrawFn) -> str:
    """The source of a spec."""
    low = draw(st.sampled_from([0, -1, 1]))
    high = low + draw(st.sampled_from([1, 2, 3]))
    capacity = draw(st.sampled_from(["1", "2", "3"]))
    network = draw(st.sampled_from(["MessageSet[Ping | Pong, 3]", "MessageBag[Ping | Pong, 3, 2]"]))
    grammar = Grammar(draw, low, high)
    bag = network.startswith("MessageBag")
    empty = "{}" if bag else "set()"
    parts = [
        HEAD.format(low=low, high=high, capacity=capacity, network=network, empty=empty, add="add" if bag else "send")
    ]
    names = Names(bag)
    given = replace(names, servers=("i",))
    taken = "st.net.take(m)" if bag else "st.net.discard(m)"
    parts += action("@spec.action", "act1(st)", grammar.body(names))
    parts += action("@spec.action", "act2(st, i: Server)", grammar.body(given))
    parts += action("@spec.action", "act3(st, i: Server)", grammar.body(given))
    got = replace(names, servers=("m.source", "m.dest"), ints=("st.n", "m.n"))
    received = [f"yield st.set(net={taken}, n={grammar.integer(got)})", *grammar.body(got)]
    parts += action("@spec.receive(Ping)", "ping(st, m)", received)
    heard = replace(names, servers=("i", "m.source"))
    parts += action(
        '@spec.receive(Pong, i="dest")',
        "pong(st, m, i)",
        [f"yield st.set(net={taken}, role=m.role)", *grammar.body(heard)],
    )
    parts += action("@spec.invariant", "Inv(st)", [f"return {grammar.truth(names)}"])
    parts += action("@spec.reachable", "goal(st)", [f"return {grammar.truth(names)}"])
    parts += action("@spec.transition_invariant", "Step(st, nxt)", [f"return nxt.n != {grammar.integer(names)}"])
    return "\n".join(parts) + "\n"


def action(decorator: str, head: str, body: list[str]) -> list[str]:
    """A decorated function."""
    return ["", "", decorator, f"def {head}:", *indented(body)]
