r"""Drawn actions of protocols as lines of TLA+: branches that assign in every order, helpers that assign, lazy LETs.

What a branch assigns is assigned again by others, tested where it has a value already, or left to the conjuncts behind
the branch. A block is a list of lines, so that a module that fails can be made smaller line by line.
"""

from __future__ import annotations

from dataclasses import dataclass

from support.modules.protocol_values import HOLDS, Around, Values

Block = list[str]
BECOME = ("numbers", "modes", "owner")
"""What the operator `Become` of a module assigns, with the helpers for one variable."""


def junction(sign: str, items: list[Block]) -> Block:
    r"""Return a list with the sign `/\` or `\/` before each item."""
    if len(items) == 1:
        return items[0]
    return [line for item in items for line in headed(f"{sign} ", item)]


def headed(text: str, block: Block) -> Block:
    """Return a block behind a text."""
    return [text + block[0], *(" " * len(text) + line for line in block[1:])]


def both(*items: Block) -> Block:
    """Return a conjunction."""
    return junction("/\\", list(items))


@dataclass
class Actions:
    """Draws actions over the variables of some values."""

    values: Values

    def value(self, name: str, around: Around) -> str:
        """Draw a new value of a variable."""
        v = self.values
        process, number, old, i = v.process(around), v.number(around), v.read(name, around), v.fresh("i")
        match HOLDS[name]:
            case "number":
                return v.one(f"({number}) % 3", f"IF {v.test(around, 0)} THEN ({number}) % 3 ELSE {name}")
            case "owner":
                return v.one(process, "Nil", f"IF {v.test(around, 0)} THEN {process} ELSE {old}")
            case "numbers":
                return v.one(
                    f"[{old} EXCEPT ![{process}] = ({number}) % 3]",
                    f"[{old} EXCEPT ![{process}] = IF {v.test(around, 0)} THEN (@ + 1) % 3 ELSE @]",
                    f"[{i} \\in DOMAIN {old} |-> IF {i} = {process} THEN ({number}) % 3 ELSE {old}[{i}]]",
                    f"[{i} \\in Proc |-> {old}[{i}]]",
                    *([f"({process} :> ({number}) % 3) @@ {old}"] if v.chance(0.1) else ()),
                )
            case "modes":
                mode = v.mode(around)
                rebuilt = f"[{i} \\in DOMAIN {old} |-> IF {i} = {process} THEN {mode} ELSE {old}[{i}]]"
                return v.one(f"[{old} EXCEPT ![{process}] = {mode}]", rebuilt)
            case "groups":
                group = v.processes_set(around)
                return v.one(
                    f"[{old} EXCEPT ![{process}] = {group}]",
                    f"[{old} EXCEPT ![{process}] = @ \\union {group}]",
                    f"[{i} \\in DOMAIN {old} |-> {old}[{i}] \\ {group}]",
                )
            case "record":
                return self.record(around)
            case "records":
                return v.one(
                    f"[{old} EXCEPT ![{process}] = {self.record(around)}]",
                    f"[{old} EXCEPT ![{process}].a = ({number}) % 3]",
                    f"[{old} EXCEPT ![{process}] = [@ EXCEPT !.b = {v.mode(around)}, !.a = (@ + 1) % 3]]",
                )
            case "queue":
                return v.one(
                    f"IF Len({old}) < 2 THEN Append({old}, ({number}) % 3) ELSE {old}",
                    f"SelectSeq({old}, LAMBDA {i} : {i} # {number})",
                    v.guarded(f"{old} # <<>>", f"Tail({old})", old),
                    f"<<({number}) % 3>>",
                )
            case "messages":
                return v.one(
                    f"{old} \\union {{{self.message(around)}}}",
                    f"{{{i} \\in {old} : {i}.from # {process}}}",
                    f"{old} \\ {{{self.message(around)}}}",
                )
            case "partial":
                return v.one(
                    *([f"{old} @@ ({process} :> ({number}) % 3)"] if v.joins_functions else ()),
                    *([f"({process} :> ({number}) % 3) @@ {old}"] if v.joins_functions else ()),
                    f"[{i} \\in DOMAIN {old} \\ {v.processes_set(around, 0)} |-> {old}[{i}]]",
                    f"[{i} \\in {v.processes_set(around)} |-> ({number}) % 3]",
                    f"[{old} EXCEPT ![{process}] = ({number}) % 3]",
                )
            case _:
                return v.one("Nil", f"[a |-> ({number}) % 3]", f"[a |-> ({number}) % 3, z |-> {process}]", old)

    def record(self, around: Around) -> str:
        """Draw a record of new values."""
        v = self.values
        number, mode, process = f"({v.number(around)}) % 3", v.mode(around), v.process(around)
        choices = [f"[a |-> {number}, b |-> {mode}, c |-> {v.one('Nil', process)}]", f"NewState({process}, {number})"]
        for name in v.having("record"):
            old = v.read(name, around)
            choices += [
                f"[{old} EXCEPT !.a = {number}]",
                f"[{old} EXCEPT !.b = {mode}, !.c = IF {v.test(around, 0)} THEN {process} ELSE @]",
                f"[NewState({process}, {number}) EXCEPT !.c = {old}.c]",
                *([f"([a |-> {number}] @@ {old})"] if v.chance(0.2) else ()),
            ]
        return v.one(*choices)

    def message(self, around: Around) -> str:
        """Draw a message."""
        v = self.values
        process = v.process(around)
        return v.one(
            f"[kind |-> 1, from |-> {process}, value |-> ({v.number(around, 1)}) % 2]",
            f"[kind |-> 2, from |-> {process}]",
        )

    # Formulas that assign

    def assignment(self, name: str, around: Around) -> Block:
        """Draw what gives a variable its new value."""
        v = self.values
        draw, i = v.random.randrange(12), v.fresh("i")
        if draw == 0:
            return [f"UNCHANGED {name}"]
        if draw == 1 and HOLDS[name] in ("number", "owner"):
            choices = {
                "number": v.one(f"{{({v.number(around)}) % 3, One}}", "0..1", f"{{{i} \\in 0..2 : {i} # {name}}}"),
                "owner": v.one("Proc \\union {Nil}", f"{v.processes_set(around)} \\union {{{name}}}"),
            }
            return [f"{name}' \\in {choices[HOLDS[name]]}"]
        if draw == 2:
            return [f"SetTo({name}, {self.value(name, around)})"]
        if draw in (3, 4, 5) and HOLDS[name] in ("numbers", "modes", "groups"):
            value = {
                "numbers": lambda: f"({v.number(around)}) % 3",
                "modes": lambda: v.mode(around),
                "groups": lambda: v.processes_set(around),
            }[HOLDS[name]]()
            return [f"{v.one('MaybeChange', 'MaybeChange', 'Put')}({v.process(around)}, {name}, {value})"]
        if draw == 6:
            test = v.test(around, 1)
            other = v.one(f"UNCHANGED {name}", f"{name}' = {self.value(name, around)}")
            return self.either(test, [f"{name}' = {self.value(name, around)}"], [other])
        return [f"{name}' = {self.value(name, around)}"]

    def either(self, test: str, then: Block, otherwise: Block) -> Block:
        """Return IF over two blocks."""
        return [*headed(f"IF {test} THEN ", then), *headed("  ELSE ", otherwise)]

    def again(self, around: Around) -> Block:
        """Draw a conjunct about what has been assigned already: a test."""
        v = self.values
        name = v.one(*sorted(around.assigned))
        return [v.one(f"UNCHANGED {name}", f"{name}' = {self.value(name, around)}", v.test(around), v.test(around))]

    def assignments(self, wanted: frozenset[str], around: Around) -> Block:
        """Draw one conjunct for each variable, with some tests between them."""
        v = self.values
        items: list[Block] = []
        for name in v.random.sample(sorted(wanted), len(wanted)):
            if v.chance(0.12):
                items.append([v.test(around)])
            items.append(self.assignment(name, around))
            around = around.after(name)
            if v.chance(0.1):
                items.append(self.again(around))
        return both(*items)

    def together(self, wanted: frozenset[str], around: Around) -> Block:
        """Draw helpers that assign several variables with the fields of a record of new values."""
        v = self.values
        become = set(v.having(*BECOME))
        if become and become <= wanted and v.chance(0.5):
            first = [f"Become({v.process(around)}, {self.record(around)})"]
            rest = wanted - become
            return both(first, self.assignments(rest, around.after(*become))) if rest else first
        new = v.fresh("n")
        fields = {"numbers": ("a", "MaybeChange"), "modes": ("b", "MaybeChange")}
        items: list[Block] = []
        process = v.process(around)
        for name in sorted(wanted):
            match HOLDS[name]:
                case "numbers" | "modes" as kind:
                    items.append([f"{fields[kind][1]}({process}, {name}, {new}.{fields[kind][0]})"])
                case "number":
                    items.append([f"SetTo({name}, {new}.a)"])
                case "owner":
                    items.append([f"SetTo({name}, {new}.c)"])
                case "record":
                    items.append([v.one(f"{name}' = {new}", f"SetTo({name}, {new})")])
                case "records":
                    items.append([f"{name}' = [{name} EXCEPT ![{process}] = {new}]"])
                case _:
                    items.append(self.assignment(name, around))
        v.random.shuffle(items)
        return [f"LET {new} == {self.record(around)}", *headed("IN ", both(*items))]

    def action(self, wanted: frozenset[str], around: Around, depth: int) -> Block:
        """Draw an action that gives new values to the variables in `wanted` when others have theirs."""
        v = self.values
        if not wanted:
            return [v.test(around)]
        if depth == 0 or v.chance(0.15):
            return self.assignments(wanted, around)
        draw = v.random.randrange(16)
        if draw < 4:
            return self.branches(wanted, around, depth)
        if draw < 6:
            return self.cases(wanted, around, depth)
        if draw < 8:
            return self.parts(wanted, around, depth)
        if draw == 8:
            return junction("\\/", [self.action(wanted, around, depth - 1) for _ in range(2)])
        if draw < 11:
            return self.lazily(wanted, around, depth)
        if draw < 13:
            return self.together(wanted, around)
        if draw == 13:
            bound = v.fresh("i")
            body = self.action(wanted, around.knowing(("process", bound)), depth - 1)
            return headed(f"\\E {bound} \\in {v.processes_set(around)} : ", body)
        if draw == 14:
            return both([v.test(around)], self.action(wanted, around, depth - 1), [v.test(around.after(*wanted))])
        return self.passed(wanted, around, depth)

    def branches(self, wanted: frozenset[str], around: Around, depth: int) -> Block:
        """Draw IF whose branches assign the same variables, or different ones that are assigned again behind it."""
        v = self.values
        test = v.test(around, 1)
        if v.chance(0.2):
            kept = [f"UNCHANGED <<{', '.join(sorted(wanted))}>>"]
            return self.either(test, self.action(wanted, around, depth - 1), kept)
        if v.chance(0.7):
            return self.either(test, self.action(wanted, around, depth - 1), self.action(wanted, around, depth - 1))
        then, otherwise = (frozenset(name for name in sorted(wanted) if v.chance(0.6)) for _ in range(2))
        branch = self.either(test, self.action(then, around, depth - 1), self.action(otherwise, around, depth - 1))
        return both(branch, self.assignments(wanted, around.after(*(then & otherwise))))

    def cases(self, wanted: frozenset[str], around: Around, depth: int) -> Block:
        """Draw CASE, with OTHER or without."""
        v = self.values
        first, second = v.test(around, 1), v.test(around, 0)
        # As the one item of a list, a CASE inside of an arm ends where it does.
        bodies = [headed("/\\ ", self.action(wanted, around, depth - 1)) for _ in range(3)]
        arms = [headed(f"CASE {first} -> ", bodies[0]), headed(f"  [] {second} -> ", bodies[1])]
        last = "OTHER" if v.chance(0.7) else f"~({second})"
        if not v.chance(v.errors):
            arms.append(headed(f"  [] {last} -> ", bodies[2]))
        return [line for arm in arms for line in arm]

    def parts(self, wanted: frozenset[str], around: Around, depth: int) -> Block:
        """Draw two actions one behind the other."""
        first = frozenset(name for name in sorted(wanted) if self.values.chance(0.5))
        items = [self.action(first, around, depth - 1)] if first else []
        rest = wanted - first
        items += [self.action(rest, around.after(*first), depth - 1)] if rest else [self.again(around.after(*first))]
        return both(*items)

    def lazily(self, wanted: frozenset[str], around: Around, depth: int) -> Block:
        """Draw LET with partial values that are used behind a guard, in several branches or in one."""
        v = self.values
        guard, value = v.partial_number(around)
        first, second, third = v.fresh("l"), v.fresh("l"), v.fresh("l")
        test = v.one(f"{second} > 1", f"{first} = {v.number(around, 0)}", f"{guard} /\\ {second} = 2")
        definitions = [f"LET {first} == {value}", f"    {second} == {first} + {v.number(around, 0)}"]
        definitions.append(f"    {third} == {test}")
        inner = around.knowing(("number", first), ("number", second), ("test", third))
        if v.chance(v.errors):
            body = self.action(wanted, inner, depth - 1)
        elif v.chance(0.5):
            body = both([guard], self.action(wanted, inner, depth - 1))
        else:
            other = self.action(wanted, around, depth - 1)
            body = self.either(guard, self.action(wanted, inner, depth - 1), other)
        return [*definitions, *headed("IN ", body)]

    def passed(self, wanted: frozenset[str], around: Around, depth: int) -> Block:
        """Draw a local operator whose parameters are a number and a variable that it assigns."""
        v = self.values
        name = v.one(*sorted(wanted))
        operator, number, target = v.fresh("Op"), v.fresh("n"), v.fresh("t")
        inner = around.knowing(("number", number))
        value = self.value(name, inner)
        body = v.one(
            f"{target}' = {value}",
            f"IF {v.test(inner, 1)} THEN {target}' = {value} ELSE UNCHANGED {target}",
            f"{v.test(inner, 1)} /\\ {target}' = {value}",
        )
        rest = wanted - {name}
        calls = [f"{operator}({v.number(around, 1)}, {name})" for _ in range(2)]
        first = [calls[0]] if v.chance(0.5) else self.either(v.test(around, 1), [calls[0]], [calls[1]])
        items = [first, self.action(rest, around.after(name), depth - 1)] if rest else [first]
        return [f"LET {operator}({number}, {target}) == {body}", *headed("IN ", both(*items))]
