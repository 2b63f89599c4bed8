"""The reference card, docs/card.md: the constructs of the language by topic; `make docs` writes it.

A row is a word, whose forms come from the table of words, or a construct of Python, whose forms are here.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from support.pages.words import NAMES_OF_TYPES, code_cell, written_form

from kmc.lang.words import WORDS, LanguageWord, WordKind

PAGE = Path(__file__).parents[3] / "docs" / "card.md"
BY_NAME = {
    f"{'.' * (word.kind is WordKind.METHOD)}{word.name}": word for word in WORDS if word.name not in NAMES_OF_TYPES
}
"""The words by the names that rows use: a method has a dot before it."""


@dataclass(frozen=True, slots=True)
class Construct:
    """A construct that is not a word: its form in TLA+, "" where TLA+ has none, and its lines in Python."""

    tla: str
    python: str


Row: TypeAlias = str | Construct
"""The name of a word, or a construct."""


@dataclass(frozen=True, slots=True)
class Topic:
    """One screen of the card: its title, its rows, and what a reader must know besides."""

    title: str
    rows: tuple[Row, ...]
    remark: str = ""


TOPICS = (
    Topic(
        "Constants and types",
        (
            "constant",
            Construct("CONSTANT Server", 'Server = constant("Server", IdentSet(symmetric=True), "the voters")'),
            Construct("CONSTANT Before(_, _)", 'Before = constant("Before", Operator(2), "the order")'),
            Construct("ASSUME N > 1", "spec.assume(N > 1)"),
            "Int",
            Construct("Int, Nat", "int"),
            Construct("BOOLEAN", "Bool"),
            Construct("{Follower, Leader}", "class Role(Enum):\n    FOLLOWER, LEADER = range(2)"),
            Construct("[role : Role, epoch : 0..3]", "class Node(Record):\n    role: Role\n    epoch: Int(0, 3)"),
            Construct("[type : {Vote}, epoch : 0..3]", "class Vote(Message):\n    epoch: Int(0, 3)"),
            "Opt",
            Construct(r"S \union T, for records", "First | Second"),
            "Set",
            "Pair",
            "Seq",
            "Map",
            "PartialMap",
            "MessageSet",
            "MessageBag",
            "spawned",
        ),
        "Every variable is a field of `class State(Record)`, and every field has a type; only `int` has no bounds.",
    ),
    Topic(
        "Initial states, actions and choices",
        (
            "variables",
            Construct(
                r"Init == x = 0 /\ y \in S", "@spec.init\ndef init():\n    for y in S:\n        yield State(x=0, y=y)"
            ),
            "action",
            Construct(
                r"A(i) == g /\ x' = e /\ UNCHANGED y",
                "@spec.action\ndef a(st, i: Server):\n    if g:\n        yield st.set(x=e)",
            ),
            "receive",
            Construct(r"\E v \in S : x' = v", "for v in S:\n    yield st.set(x=v)"),
            Construct(r"x' = 1 \/ x' = 2", "yield st.set(x=1)\nyield st.set(x=2)"),
            Construct(r"A \/ B as a guard", "for _ in ways(A, B):\n    yield st.set(x=1)"),
            "ways",
            "require",
            "product",
            Construct("Assert(P, message)", "assert P"),
        ),
        "Each `yield` is a successor and counts once. An action that yields nothing is not enabled.",
    ),
    Topic(
        "Expressions",
        (
            Construct(r"P /\ Q, P \/ Q, ~P", "P and Q, P or Q, not P"),
            Construct("P => Q, P <=> Q", "not P or Q, P == Q"),
            Construct("IF P THEN a ELSE b", "a if P else b"),
            Construct("LET x == e IN ...", "x = e"),
            Construct("Op(x) == e", "def op(x):\n    return e"),
            Construct("x = y, x # y", "x == y, x != y"),
            "equals_any",
            Construct(r"a + b, a \div b, a % b, a ^ b", "a + b, a // b, a % b, a ** b"),
            "abs",
            "min",
            "max",
            "range",
            Construct("Nil, x = Nil", "None, x is None"),
            "isinstance",
        ),
    ),
    Topic(
        "Sets and quantifiers",
        (
            "all",
            "any",
            "count",
            "sum",
            Construct(r"x \in S, S \subseteq T", "x in S, S <= T"),
            Construct(r"S \union T, S \intersect T, S \ T", "S | T, S & T, S - T"),
            Construct(r"{x \in S : P}, {e : x \in S}", "{x for x in S if P}, {e for x in S}"),
            "len",
            "set",
            "frozenset",
            "the",
            "subsets",
            "functions",
            "sequences",
            "permutations",
            "pair",
            "pairs",
        ),
    ),
    Topic(
        "Records, functions and sequences",
        (
            Construct("[role |-> Leader, epoch |-> 1]", "Node(role=Role.LEADER, epoch=1)"),
            Construct("r.epoch", "r.epoch"),
            ".set",
            Construct(r"[k \in S |-> e], f[k]", "{k: e for k in S}, f[k]"),
            ".keys",
            ".values",
            ".items",
            ".add",
            ".without",
            Construct("<<>>, <<a, b>>", "[], [a, b]"),
            ".append",
            ".at",
            ".upto",
            ".offsets",
            "fold",
            Construct("RECURSIVE Op(_)", "def op(x) -> Int(0, 9):\n    return 0 if x == 0 else 1 + op(x - 1)"),
            ".fresh",
        ),
        "Values never change: `set`, `add` and `append` return a new one. Offsets of a sequence begin with 1.",
    ),
    Topic(
        "Messages",
        (".send", ".send_all", ".discard", ".keep", ".of", ".take", ".add_all", ".counts"),
        "A `MessageSet` has `send` and `discard`, a `MessageBag` has `add` and `take`; both have `of` and `in`.",
    ),
    Topic(
        "Properties and bounds",
        (
            Construct("INVARIANT P", "@spec.invariant\ndef P(st):\n    return st.x > 0"),
            Construct("PROPERTY [][A]_vars", "@spec.action_property\ndef A(st, new):\n    return new.x >= st.x"),
            Construct("PROPERTY F", "@spec.liveness\ndef F():\n    return leads_to(p, q)"),
            Construct("", "@spec.reachable\ndef goal(st):\n    return st.x == 3"),
            Construct("CONSTRAINT C", "@spec.constraint\ndef C(st):\n    return st.x < 9"),
            Construct(
                "ACTION_CONSTRAINT C", "@spec.action_constraint\ndef C(st, new):\n    return new.x >= st.x"
            ),
            "symmetry",
            "view",
            "abstraction",
            "refines",
            Construct("", "@spec.majority\ndef is_majority(votes):\n    return len(votes) > 2"),
            Construct("", 'spec.columns({"role": "role"})'),
            Construct("Init, Next, Spec", 'spec.names(init="Init", next="Next", specifications=["Spec"])'),
        ),
        "A model names what is checked; a reachable property is checked in every model.",
    ),
    Topic(
        "Fairness and temporal formulas",
        (
            Construct("WF_vars(A(i)), SF_vars(A(i))", "@spec.action(fair=WEAK), @spec.action(fair=STRONG)"),
            Construct(
                r"Spec == Init /\ [][Next]_vars /\ WF_vars(Next)",
                "@spec.specification\ndef Spec():\n    return weak_fairness(NEXT)",
            ),
            Construct("", "and_(FAIR_ACTIONS, strong_fairness(a))"),
            *(word.name for word in WORDS if word.kind is WordKind.FORMULA),
        ),
        "`fair=` is for each combination of the parameters. A function of a state or of a step is a formula.",
    ),
)  # fmt: skip
"""The card, from the declarations at the top of a spec to the formulas at its end."""

HEAD = """\
<!-- Written by `make docs` from tests/support/pages/card.py and kmc/lang/words.py; do not edit. -->
# Reference card

The language in eight tables, one a topic, TLA+ on the left. [The spec language](language.md) explains every construct
with an example that runs, [Fairness and temporal formulas](liveness.md) the last table, and [Models](models.md) what a
model says. A spec imports its words: `from kmc.lang import Record, constant` and `from kmc.spec import spec`.
"""


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, *map(_section, TOPICS)])


def _section(topic: Topic) -> str:
    rows = [f"| {code_cell(tla)} | {code_cell(python)} |" for tla, python in map(forms, topic.rows)]
    remark = ["", topic.remark] if topic.remark else []
    return "\n".join([f"## {topic.title}", "", "| TLA+ | here |", "|---|---|", *rows, *remark, ""])


def forms(row: Row) -> tuple[str, str]:
    """A row in TLA+ and in Python."""
    if isinstance(row, Construct):
        return row.tla, row.python
    word: LanguageWord = BY_NAME[row]
    return word.tla, written_form(word)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
