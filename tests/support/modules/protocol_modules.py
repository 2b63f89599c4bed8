r"""Random TLA+ modules that are written as people write large protocols, from a seed.

Helpers take variables as arguments and assign them; IF and CASE assign in every order; LETs are lazy and partial; new
values are records that helpers take apart; filters are disjunctions with a constant; sets hold several kinds.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from support.modules.protocol_actions import BECOME, Actions, Block, headed, junction
from support.modules.protocol_values import HOLDS, Around, Values

_HEAD = r"""---- MODULE Protocol ----
EXTENDS Naturals, Sequences, FiniteSets, TLC
CONSTANTS Proc, Nil, AnyNumber, Flag%(constants)s
VARIABLES %(variables)s
vars == <<%(variables)s>>
One == 1
Up(n) == IF n < 2 THEN n + 1 ELSE 0
Matches(n, given) == n = AnyNumber \/ n = given
SetTo(field, v) == IF field # v THEN field' = v ELSE UNCHANGED field
MaybeChange(p, field, v) == IF field[p] # v THEN field' = [field EXCEPT ![p] = v] ELSE UNCHANGED field
Put(p, field, v) == field' = [field EXCEPT ![p] = v]
"""


@dataclass(frozen=True)
class DrawnModule:
    """A module `Protocol` and its `.cfg` file."""

    module: str
    configuration: str


class _Drawing:
    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        one = self._random.choice
        count = one((2, 3, 3, 4, 5))
        drawn = self._random.sample(sorted(HOLDS), count)
        variables = tuple(name for name in HOLDS if name in drawn)
        self._kind = one(("model values", "model values", "numbers", "strings"))
        elements = {"model values": ("a", "b"), "numbers": ("1", "2"), "strings": ('"p1"', '"p2"')}[self._kind]
        self._elements = elements
        self._is_symmetric = self._kind == "model values" and self._random.random() < 0.25
        self._modes = one((('"idle"', '"busy"'), ('"idle"', '"busy"', '"done"'), ("Idle", "Busy")))
        self.values = Values(
            self._random,
            variables,
            () if self._is_symmetric else elements,
            self._modes,
            self._kind == "model values",
            one((0.0, 0.0, 0.05)),
            self._random.random() < 0.3,
        )
        self.actions = Actions(self.values)

    def new_state(self) -> Block:
        """Draw the operator that gives a record of new values."""
        v, around = self.values, Around((("process", "p"), ("number", "n")))
        fields = [
            f"a |-> {v.one('n', '0', 'Up(n)')}, b |-> {v.mode(around, 0)}, c |-> {v.one('p', 'Nil')}" for _ in range(3)
        ]
        tests = [v.test(around, 1) for _ in range(2)]
        return [
            f"NewState(p, n) == CASE {tests[0]} -> [{fields[0]}]",
            f"                    [] {tests[1]} -> [{fields[1]}]",
            f"                    [] OTHER -> [{fields[2]}]",
        ]

    def become(self) -> Block:
        """Return the operator that gives several variables the values of a record."""
        v = self.values
        helpers = {"numbers": "MaybeChange(p, %s, s.a)", "modes": "MaybeChange(p, %s, s.b)", "owner": "SetTo(%s, s.c)"}
        items = [[helpers[HOLDS[name]] % name] for name in v.having(*BECOME)]
        v.random.shuffle(items)
        return headed("Become(p, s) == ", junction("/\\", items or [["TRUE"]]))

    def initial(self) -> Block:
        """Draw the initial predicate: one state, or several."""
        one = self.values.one
        mode = self._modes[0]
        values = {
            "number": one("= 0", "= 1", "\\in 0..1", "\\in {0, 2}"),
            "owner": one("= Nil", "\\in Proc", "\\in Proc \\union {Nil}"),
            "numbers": one("= [i \\in Proc |-> 0]", "\\in [Proc -> 0..1]"),
            "modes": one(f"= [i \\in Proc |-> {mode}]", f"\\in [Proc -> {{{mode}, {self._modes[1]}}}]"),
            "groups": one("= [i \\in Proc |-> {}]", "= [i \\in Proc |-> {i}]", "\\in [Proc -> SUBSET Proc]"),
            "record": f"= [a |-> 0, b |-> {mode}, c |-> Nil]",
            "records": f"= [i \\in Proc |-> [a |-> 0, b |-> {mode}, c |-> {one('Nil', 'i')}]]",
            "queue": one("= <<>>", "= <<1>>", "\\in {<<>>, <<0, 1>>}"),
            "messages": one("= {}", "= {[kind |-> 2, from |-> i] : i \\in Proc}"),
            "partial": one("= [i \\in {} |-> 0]", "= [i \\in Proc |-> 1]"),
            "several": one("= Nil", "= [a |-> 1]", "\\in {Nil, [a |-> 0]}"),
        }
        return headed(
            "Init == ", junction("/\\", [[f"{name} {values[HOLDS[name]]}"] for name in self.values.variables])
        )

    def small(self) -> str:
        """Return a constraint that keeps the state space small."""
        v = self.values
        bounds = {"queue": "Len(%s) <= 2", "messages": "Cardinality(%s) <= 2"}
        parts = [bounds[HOLDS[name]] % name for name in v.variables if HOLDS[name] in bounds]
        parts += [v.test(Around(), 1)] if v.chance(0.15) and not self._is_symmetric else []
        return " /\\ ".join(["TRUE", *parts])

    def draw(self) -> DrawnModule:
        """Draw the module."""
        v = self.values
        everything = frozenset(v.variables)
        actions, following = list[Block](), list[Block]()
        new_state = self.new_state()
        for number in range(v.random.choice((1, 2, 2, 3))):
            name, depth = f"Act{number}", v.random.choice((2, 3))
            if v.having("messages") and v.chance(0.4):
                around, call = Around((("message", "msg"), ("process", "msg.from"))), f"\\E i \\in m : {name}(i)"
                actions.append(headed(f"{name}(msg) == ", self.actions.action(everything, around, depth)))
            elif self._is_symmetric or v.chance(0.8):
                around, call = Around((("process", "p"),)), f"\\E p \\in Proc : {name}(p)"
                actions.append(headed(f"{name}(p) == ", self.actions.action(everything, around, depth)))
            else:
                call = name
                actions.append(headed(f"{name} == ", self.actions.action(everything, Around(), depth)))
            following.append([call])
        following_block = headed("Next == ", junction("\\/", following))
        process = Around((("process", "p"),))
        invariant = [f"Inv == \\A p \\in Proc : {v.test(process, 2)} \\/ {v.test(process, 0)}"]
        constants = ["", *(self._elements if self._kind == "model values" else ())]
        constants += self._modes if self._modes[0] == "Idle" else ()
        head = _HEAD % {"variables": ", ".join(v.variables), "constants": ", ".join(constants)}
        blocks = [new_state, self.become(), self.initial(), *actions, following_block, [f"Small == {self.small()}"]]
        blocks += [invariant, ["Perms == Permutations(Proc)"]]
        order = v.random.sample(v.variables, len(v.variables))
        blocks += [[f"View == <<{', '.join(order)}>>"], ["===="]]
        text = head + "".join("\n".join(block) + "\n" for block in blocks)
        return DrawnModule(text, self.configuration(constants))

    def configuration(self, constants: list[str]) -> str:
        """Return the `.cfg` file."""
        v = self.values
        lines = ["INIT Init", "NEXT Next", "CONSTRAINT Small", f"CONSTANT Proc = {{{', '.join(self._elements)}}}"]
        lines += [
            "CONSTANT Nil = Nil",
            f"CONSTANT AnyNumber = {v.one('99', '99', '1')}",
            f"CONSTANT Flag = {v.one('TRUE', 'FALSE')}",
        ]
        lines += [f"CONSTANT {name} = {name}" for name in constants if name]
        lines += ["SYMMETRY Perms"] if self._is_symmetric else []
        lines += ["VIEW View"] if v.chance(0.1) else []
        lines += ["INVARIANT Inv"] if v.chance(0.3) else []
        lines += [f"CHECK_DEADLOCK {v.one('TRUE', 'FALSE', 'FALSE', 'FALSE')}"]
        return "\n".join(lines) + "\n"


def protocol_module(seed: int) -> DrawnModule:
    """Return a random module."""
    return _Drawing(seed).draw()
