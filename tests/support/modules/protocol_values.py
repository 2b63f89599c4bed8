r"""Drawn expressions of protocols as TLA+ text: values of each kind that variables hold, and tests of them.

An expression may be partial: `Head` of what may be empty, a field that some messages lack, a function outside of its
domain, CHOOSE. Such an expression comes with the guard that makes it safe; now and then the guard is left out, so that
some drawn modules stop with an error.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace

HOLDS: dict[str, str] = {
    "x": "number",
    "y": "number",
    "w": "owner",
    "f": "numbers",
    "h": "modes",
    "g": "groups",
    "r": "record",
    "e": "records",
    "q": "queue",
    "m": "messages",
    "k": "partial",
    "o": "several",
}
"""What each variable holds."""


@dataclass(frozen=True)
class Around:
    """Names that an expression may use: locals by their kind, and the variables that have values in the next state."""

    locals: tuple[tuple[str, str], ...] = ()
    assigned: frozenset[str] = frozenset()
    is_new: bool = False
    """Whether the expression is under a prime, where no prime may be."""

    def knowing(self, *named: tuple[str, str]) -> Around:
        """Return the names with more locals."""
        return replace(self, locals=(*self.locals, *named))

    def after(self, *variables: str) -> Around:
        """Return the names when more variables have new values."""
        return replace(self, assigned=self.assigned | set(variables))

    def of(self, kind: str) -> list[str]:
        """Return the locals of a kind."""
        return [name for held, name in self.locals if held == kind]


@dataclass
class Values:
    """Draws expressions over some variables; `errors` is how often the guard of a partial expression is left out."""

    random: random.Random
    variables: tuple[str, ...]
    processes: tuple[str, ...]
    modes: tuple[str, ...]
    has_model_values: bool
    errors: float = 0.03
    joins_functions: bool = False
    """Whether functions whose domains vary are joined, for which the native engine has no translation often."""
    count: int = 0
    operators: list[str] = field(default_factory=list)

    def one(self, *choices: str) -> str:
        """Draw one of some texts."""
        return self.random.choice(choices)

    def chance(self, probability: float) -> bool:
        """Draw whether something happens."""
        return self.random.random() < probability

    def fresh(self, word: str) -> str:
        """Return a name that nothing has yet."""
        self.count += 1
        return f"{word}{self.count}"

    def having(self, *kinds: str) -> list[str]:
        """Return the variables that hold one of some kinds."""
        return [name for name in self.variables if HOLDS[name] in kinds]

    def read(self, name: str, around: Around) -> str:
        """Read a variable, in the next state if that is possible and drawn."""
        is_new = name in around.assigned and not around.is_new and self.chance(0.4)
        return f"{name}'" if is_new else name

    def later(self, around: Around) -> str:
        """Draw a number in the next state: a prime over an expression, or over the name of a LET."""
        variables, self.variables = self.variables, tuple(sorted(around.assigned))
        known = tuple(pair for pair in around.locals if pair[0] == "process")
        value = self.number(Around(known, is_new=True), 1)
        self.variables = variables
        name = self.fresh("l")
        return self.one(f"({value})'", f"(LET {name} == {value} IN {name}' + {name})")

    # Processes, modes, Booleans

    def process(self, around: Around) -> str:
        """Draw a process."""
        known = around.of("process")
        if known and (not self.processes or self.chance(0.8)):
            return self.one(*known)
        return self.one(*self.processes) if self.processes else "(CHOOSE any \\in Proc : TRUE)"

    def mode(self, around: Around, depth: int = 1) -> str:
        """Draw one of the modes."""
        choices = [*self.modes, *around.of("mode")]
        for name in self.having("modes"):
            choices.append(f"{self.read(name, around)}[{self.process(around)}]")
        for name in self.having("record"):
            choices.append(f"{self.read(name, around)}.b")
        if depth and self.chance(0.3):
            return f"(IF {self.test(around, depth - 1)} THEN {self.mode(around, 0)} ELSE {self.mode(around, 0)})"
        return self.one(*choices)

    def number(self, around: Around, depth: int = 2) -> str:
        """Draw a small number."""
        choices = ["0", "1", "2", "One", *around.of("number")]
        for name in self.variables:
            now = self.read(name, around)
            match HOLDS[name]:
                case "number":
                    choices += [now, now]
                case "numbers":
                    choices.append(f"{now}[{self.process(around)}]")
                case "record":
                    choices.append(f"{now}.a")
                case "records":
                    choices.append(f"{now}[{self.process(around)}].a")
                case "queue":
                    choices.append(f"Len({now})")
                case "messages" | "groups" | "partial":
                    part = {"messages": now, "groups": f"{now}[{self.process(around)}]", "partial": f"DOMAIN {now}"}
                    choices.append(f"Cardinality({part[HOLDS[name]]})")
        if depth == 0:
            return self.one(*choices)
        inner = self.number(around, depth - 1)
        draw = self.random.randrange(12)
        if draw < 4 or (draw == 11 and (around.is_new or not around.assigned)):
            return inner
        match draw:
            case 4:
                return f"({inner} + {self.number(around, 0)})"
            case 5:
                return f"(IF {self.test(around, depth - 1)} THEN {inner} ELSE {self.number(around, 0)})"
            case 6:
                test, other = self.test(around, 0), self.test(around, 0)
                last = self.number(around, 0)
                return f"(CASE {test} -> {inner} [] {other} -> {last} [] OTHER -> {self.number(around, 0)})"
            case 7:
                return self.let_number(around, depth)
            case 8:
                return f"Cardinality({self.processes_set(around, depth - 1)})"
            case 9:
                return f"Up({inner})"
            case 11:
                return self.later(around)
            case _:
                guard, value = self.partial_number(around)
                return self.guarded(guard, value, self.number(around, 0))

    def guarded(self, guard: str, value: str, other: str) -> str:
        """Return a partial value behind its guard, as IF or as CASE."""
        if self.chance(self.errors):
            return value
        return self.one(f"(IF {guard} THEN {value} ELSE {other})", f"(CASE {guard} -> {value} [] OTHER -> {other})")

    def partial_number(self, around: Around) -> tuple[str, str]:
        """Draw a number that only some states have, and the guard of those that have it."""
        process, least, i = self.process(around), self.number(around, 0), self.fresh("i")
        found = [
            (f"\\E {i} \\in 0..2 : {i} > {least}", f"(CHOOSE {i} \\in 0..2 : {i} > {least})"),
            *(((f"{name}.kind = 1"), f"{name}.value") for name in around.of("message")),
        ]
        for name in self.variables:
            now = self.read(name, around)
            match HOLDS[name]:
                case "queue":
                    found += [(f"{now} # <<>>", f"Head({now})"), (f"Len({now}) > 1", f"{now}[2]")]
                case "partial":
                    found += [(f"{process} \\in DOMAIN {now}", f"{now}[{process}]")] * 2
                case "owner" if self.having("numbers"):
                    found.append((f"{now} # Nil", f"{self.having('numbers')[0]}[{now}]"))
                case "several":
                    found.append((f"{now} # Nil", f"{now}.a"))
                case "messages":
                    some = f"\\E {i} \\in {now} : {i}.kind = 1"
                    found.append((some, f"(CHOOSE {i} \\in {now} : {i}.kind = 1).value"))
        return self.random.choice(found)

    def let_number(self, around: Around, depth: int) -> str:
        """Draw a LET whose definitions read each other, and are used where a guard makes them safe, more than once."""
        guard, value = self.partial_number(around)
        first, second, third = (self.fresh("l") for _ in range(3))
        inner = around.knowing(("number", first), ("number", second))
        use = f"{self.number(inner, depth - 1)} + {second}"
        third_value = self.one(f"{guard} /\\ {second} > 1", f"IF {guard} THEN {first} = {second} ELSE FALSE")
        return (
            f"(LET {first} == {value} {second} == {first} + {self.number(around, 0)} {third} == {third_value} "
            f"IN IF {guard} THEN {use} ELSE IF {third} THEN {first} ELSE {self.number(around, 0)})"
        )

    # Sets

    def processes_set(self, around: Around, depth: int = 1) -> str:
        """Draw a set of processes."""
        choices = ["Proc", "{}", f"{{{self.process(around)}}}", *around.of("processes")]
        for name in self.having("groups"):
            choices.append(f"{self.read(name, around)}[{self.process(around)}]")
        for name in self.having("partial"):
            choices.append(f"DOMAIN {self.read(name, around)}")
        for name in self.having("owner"):
            choices.append(f"({{{self.read(name, around)}}} \\ {{Nil}})")
            choices.append(f"({{{self.read(name, around)}, Nil}} \\intersect Proc)")
        for name in self.having("messages"):
            bound = self.fresh("i")
            choices.append(f"{{{bound}.from : {bound} \\in {self.read(name, around)}}}")
        for name in self.having("several") if self.has_model_values else ():
            now = self.read(name, around)
            choices.append(f"({{{now}, {self.process(around)}}} \\intersect Proc)")
            choices.append(f"({{{now}, {self.process(around)}, Nil}} \\ {{{now}, Nil}})")
        if depth == 0:
            return self.one(*choices)
        left, right, bound = self.processes_set(around, 0), self.processes_set(around, 0), self.fresh("i")
        test = self.test(around.knowing(("process", bound)), 0)
        return self.one(
            *choices,
            f"({left} \\union {right})",
            f"({left} \\intersect {right})",
            f"({left} \\ {right})",
            f"{{{bound} \\in {left} : {test}}}",
            f"(IF {self.test(around, depth - 1)} THEN {left} ELSE {right})",
        )

    # Tests

    def test(self, around: Around, depth: int = 2) -> str:
        """Draw a Boolean expression, without splits that matter where it is a value."""
        if depth == 0:
            return self.plain_test(around)
        left, right = self.test(around, depth - 1), self.test(around, 0)
        draw = self.random.randrange(10)
        if draw < 3:
            return left
        match draw:
            case 3:
                return f"({left} \\/ {right})"
            case 4:
                return f"({left} /\\ {right})"
            case 5:
                return f"~({left})"
            case 6:
                return f"({left} => {right})"
            case 7:
                bound = self.fresh("i")
                inner = self.test(around.knowing(("process", bound)), 0)
                return f"(\\{self.one('A', 'E')} {bound} \\in {self.processes_set(around, 0)} : {inner})"
            case 8:
                guard, value = self.partial_number(around)
                name = self.fresh("l")
                safe = f"{guard} /\\ " if not self.chance(self.errors) else ""
                return f"(LET {name} == {value} IN {safe}{name} {self.one('=', '#', '<')} {self.number(around, 0)})"
            case _:
                return f"(IF {left} THEN {right} ELSE {self.test(around, 0)})"

    def plain_test(self, around: Around) -> str:
        """Draw a test of one or two values; some are constant."""
        number, i = self.number(around, 0), self.fresh("i")
        choices = [
            f"{self.number(around, 0)} {self.one('<', '=', '#', '>=')} {number}",
            f"{self.number(around, 0)} {self.one('<', '=', '#', '>=')} {number}",
            f"{self.process(around)} {self.one('=', '#', 'Before')} {self.process(around)}".replace("Before", "="),
            f"{self.process(around)} \\{self.one('in', 'notin')} {self.processes_set(around, 0)}",
            f"Matches({self.one('AnyNumber', 'One', number)}, {number})",
            self.one("Flag", "~Flag", "(Flag \\/ One = 2)", "(One = 1 /\\ ~Flag)", "One > 2", "AnyNumber = 99"),
            *around.of("test"),
        ]
        for name in self.variables:
            now = self.read(name, around)
            match HOLDS[name]:
                case "owner":
                    choices += [f"{now} = {self.process(around)}", f"{now} # Nil", f"{now} \\in Proc"]
                case "modes":
                    choices.append(f"{now}[{self.process(around)}] {self.one('=', '#')} {self.one(*self.modes)}")
                case "record":
                    choices.append(f"{now}.b {self.one('=', '#')} {self.mode(around, 0)}")
                case "records":
                    choices.append(f"{now}[{self.process(around)}].c {self.one('=', '#')} Nil")
                case "messages":
                    choices.append(f"\\E {i} \\in {now} : {i}.kind = 1 /\\ {i}.value = {number}")
                    choices.append(f"\\A {i} \\in {now} : {i}.kind = 2 \\/ {i}.value <= {number}")
                    choices.append(f"[kind |-> 2, from |-> {self.process(around)}] \\in {now}")
                case "several":
                    choices.append(f"{now} = Nil")
                    choices.append(f"{now} # Nil /\\ {now}.a = {number}")
                case "partial":
                    choices.append(f"{self.process(around)} \\in DOMAIN {now}")
                case "queue":
                    choices.append(f"{now} # <<>> /\\ Head({now}) = {number}")
                    choices.append(f"{now} = <<>>")
        for name in around.of("message"):
            choices += [f"{name}.kind = 1 /\\ {name}.value = {number}", f"{name}.from = {self.process(around)}"] * 2
        return f"({self.one(*choices)})"
