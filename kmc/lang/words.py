"""The table of the words of the language: functions, methods of values, types, formulas, declarations.

A row says how a word is written, in TLA+ too, which arguments it has, and how it treats a generator expression. The
checks of the front end, the inference of kinds, the advice of errors, the mypy plugin and the table in
docs/language.md read it. A new function is a row here, its meaning in `kmc.lang.meanings`, its kinds in
`kmc.compiler.checks.kinds.kinds_of_words` and its lowering in `kmc.compiler.lowering.words`; a test compares the four.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

MANY = 99
"""More arguments than a person writes."""


class WordKind(Enum):
    """The origin of a word, and the way in which it is called."""

    BUILTIN = "a function of Python"
    FUNCTION = "a function of kmc.lang"
    METHOD = "a method of a value"
    TYPE = "a type with arguments in brackets"
    FORMULA = "a function that makes a temporal formula"
    DECLARATION = "a function or decorator that declares a part of a spec"


@dataclass(frozen=True, slots=True)
class Arity:
    """The arguments of a function: how many by position, and which by name."""

    least: int
    most: int
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Brackets:
    """The arguments of a type: so many types, and at most so many bounds after them."""

    types: int
    bounds: int = 0


@dataclass(frozen=True, slots=True)
class LanguageWord:
    """A word of the language.

    `usage` is the advice of an error about the word; "" where no error needs that. `tla` is the form in TLA+, "" where
    TLA+ has none. `arity` is None for methods, whose classes say it, and for what the checks of Python suffice for. A
    generator expression as the argument of a word that `runs_once` runs exactly once, and at once.
    """

    name: str
    kind: WordKind
    usage: str = ""
    tla: str = ""
    arity: Arity | None = None
    runs_once: bool = False
    brackets: Brackets | None = None

    @property
    def goes_through(self) -> bool:
        """Whether the word iterates over its only argument, a collection."""
        return self.runs_once and self.arity is not None and self.arity.most == 1


_BUILTINS = (
    LanguageWord("abs", WordKind.BUILTIN, "write abs(number)", "IF n < 0 THEN -n ELSE n", Arity(1, 1)),
    LanguageWord(
        "all", WordKind.BUILTIN, "write all(... for ... in ...)", r"\A x \in S : P", Arity(1, 1), runs_once=True
    ),
    LanguageWord(
        "any", WordKind.BUILTIN, "write any(... for ... in ...)", r"\E x \in S : P", Arity(1, 1), runs_once=True
    ),
    LanguageWord("isinstance", WordKind.BUILTIN, "write isinstance(x, Shape)", "x.type = Shape", Arity(2, 2)),
    LanguageWord("len", WordKind.BUILTIN, "write len(collection)", "Len(s), Cardinality(S)", Arity(1, 1)),
    LanguageWord(
        "max",
        WordKind.BUILTIN,
        "write max(a, b), max((... for ... in ...), default=0) or max(s, key=lambda x: ...)",
        r"CHOOSE x \in S : \A y \in S : x >= y",
        Arity(1, MANY, ("default", "key")),
        runs_once=True,
    ),
    LanguageWord(
        "min",
        WordKind.BUILTIN,
        "write min(a, b), min((... for ... in ...), default=0) or min(s, key=lambda x: ...)",
        r"CHOOSE x \in S : \A y \in S : x <= y",
        Arity(1, MANY, ("default", "key")),
        runs_once=True,
    ),
    LanguageWord("range", WordKind.BUILTIN, "write range(end) or range(first, end)", "first..(end - 1)", Arity(1, 3)),
    LanguageWord("set", WordKind.BUILTIN, "", r"{}, {x : x \in S}", Arity(0, 1), runs_once=True),
    LanguageWord("frozenset", WordKind.BUILTIN, "", r"{}, {x : x \in S}", Arity(0, 1), runs_once=True),
    LanguageWord(
        "sum", WordKind.BUILTIN, "write sum(... for ... in ...)", "MapThenSumSet(e, S)", Arity(1, 1), runs_once=True
    ),
    LanguageWord("bool", WordKind.BUILTIN, "", "BOOLEAN"),
    LanguageWord("int", WordKind.BUILTIN, "", "Int"),
)

_FUNCTIONS = (
    LanguageWord(
        "count",
        WordKind.FUNCTION,
        "write count(... for ... in ...) or bag.count(message)",
        r"Cardinality({x \in S : P})",
        Arity(1, 1),
        runs_once=True,
    ),
    LanguageWord(
        "pairs",
        WordKind.FUNCTION,
        "write pairs(s)",
        r"{p \in SUBSET S : Cardinality(p) = 2}",
        Arity(1, 1),
        runs_once=True,
    ),
    LanguageWord(
        "product",
        WordKind.FUNCTION,
        "write product(... for ... in ...)",
        r"(\E x \in S : P) /\ (\E y \in T : Q)",
        Arity(1, 1),
        runs_once=True,
    ),
    LanguageWord(
        "fold",
        WordKind.FUNCTION,
        "write fold(lambda so_far, element: ..., first, log)",
        "FoldLeft(Op, first, s)",
        Arity(3, 3),
    ),
    LanguageWord("require", WordKind.FUNCTION, "write require(condition)", r"condition /\ ...", Arity(1, 1)),
    LanguageWord("subsets", WordKind.FUNCTION, "write subsets(s)", "SUBSET S", Arity(1, 1), runs_once=True),
    LanguageWord(
        "functions", WordKind.FUNCTION, "write functions(keys, values)", "[S -> T]", Arity(2, 2), runs_once=True
    ),
    LanguageWord(
        "sequences",
        WordKind.FUNCTION,
        "write sequences(s, longest)",
        r"UNION {[1..n -> S] : n \in 0..longest}",
        Arity(2, 2),
        runs_once=True,
    ),
    LanguageWord(
        "permutations", WordKind.FUNCTION, "write permutations(s)", "Permutations(S)", Arity(1, 1), runs_once=True
    ),
    LanguageWord(
        "the", WordKind.FUNCTION, "write the(x for x in s if ...)", r"CHOOSE x \in S : P", Arity(1, 1), runs_once=True
    ),
    LanguageWord("equals_any", WordKind.FUNCTION, "write equals_any(a, b)", "a = b", Arity(2, 2)),
    LanguageWord("pair", WordKind.FUNCTION, "write pair(a, b)", "{a, b}", Arity(2, 2)),
    LanguageWord("ways", WordKind.FUNCTION, "", r"(A \/ B) /\ ...", Arity(0, MANY)),
)

_METHODS = (
    LanguageWord("add", WordKind.METHOD, "write map.add(key, value) or bag.add(message)", "f @@ (k :> v)"),
    LanguageWord("without", WordKind.METHOD, "write map.without(key)", r"[x \in DOMAIN f \ {k} |-> f[x]]"),
    LanguageWord("append", WordKind.METHOD, "write log.append(element)", "Append(s, e)"),
    LanguageWord("at", WordKind.METHOD, "write log.at(offset)", "s[offset]"),
    LanguageWord("upto", WordKind.METHOD, "write log.upto(offset)", "SubSeq(s, 1, offset)"),
    LanguageWord("send", WordKind.METHOD, "write network.send(message)", r"messages \union {m}"),
    LanguageWord("send_all", WordKind.METHOD, "write network.send_all(messages)", r"messages \union M", runs_once=True),
    LanguageWord("discard", WordKind.METHOD, "write network.discard(message)", r"messages \ {m}"),
    LanguageWord("keep", WordKind.METHOD, "write network.keep(lambda m: condition)", r"{m \in messages : P}"),
    LanguageWord("of", WordKind.METHOD, "write network.of(VoteRequest)", r"{m \in messages : m.type = VoteRequest}"),
    LanguageWord("take", WordKind.METHOD, "write bag.take(message)", "[messages EXCEPT ![m] = @ - 1]"),
    LanguageWord(
        "add_all",
        WordKind.METHOD,
        "write bag.add_all(messages)",
        r"[m \in DOMAIN messages |-> IF m \in M THEN messages[m] + 1 ELSE messages[m]]",
        runs_once=True,
    ),
    LanguageWord("counts", WordKind.METHOD, "write bag.counts()", r"{<<m, messages[m]>> : m \in DOMAIN messages}"),
    LanguageWord("keys", WordKind.METHOD, "write map.keys()", "DOMAIN f"),
    LanguageWord("values", WordKind.METHOD, "write map.values()", r"{f[k] : k \in DOMAIN f}"),
    LanguageWord("items", WordKind.METHOD, "write map.items()", r"{<<k, f[k]>> : k \in DOMAIN f}"),
    LanguageWord("offsets", WordKind.METHOD, "write log.offsets()", "DOMAIN s"),
    LanguageWord("fresh", WordKind.METHOD, "write ServerId.fresh(used)", "Max(used) + 1"),
    LanguageWord(
        "set",
        WordKind.METHOD,
        "write record.set(field=value, ...) or map.set(key, value)",
        "[r EXCEPT !.field = value], [f EXCEPT ![k] = v]",
    ),
)

_TYPES = (
    LanguageWord("Opt", WordKind.TYPE, "write Opt[TYPE]", r"T \union {Nil}", brackets=Brackets(1)),
    LanguageWord("Set", WordKind.TYPE, "write Set[TYPE]", "SUBSET T", brackets=Brackets(1)),
    LanguageWord(
        "Pair", WordKind.TYPE, "write Pair[Server]", r"{p \in SUBSET T : Cardinality(p) = 2}", brackets=Brackets(1)
    ),
    LanguageWord("Seq", WordKind.TYPE, "write Seq[Entry, 4]", "Seq(T)", brackets=Brackets(1, 1)),
    LanguageWord("Map", WordKind.TYPE, "write Map[Server, Node]", "[K -> V]", brackets=Brackets(2)),
    LanguageWord(
        "PartialMap",
        WordKind.TYPE,
        "write PartialMap[Server, Node]",
        r"UNION {[D -> V] : D \in SUBSET K}",
        brackets=Brackets(2),
    ),
    LanguageWord(
        "MessageSet", WordKind.TYPE, "write MessageSet[Vote, capacity]", "SUBSET Message", brackets=Brackets(1, 1)
    ),
    LanguageWord(
        "MessageBag",
        WordKind.TYPE,
        "write MessageBag[Vote, capacity, largest count]",
        "[Message -> Nat]",
        brackets=Brackets(1, 2),
    ),
)

_FORMULAS = (
    LanguageWord("always", WordKind.FORMULA, "write always(p)", "[]F"),
    LanguageWord("eventually", WordKind.FORMULA, "write eventually(p)", "<>F"),
    LanguageWord("always_eventually", WordKind.FORMULA, "write always_eventually(p)", "[]<>F"),
    LanguageWord("eventually_always", WordKind.FORMULA, "write eventually_always(p)", "<>[]F"),
    LanguageWord("leads_to", WordKind.FORMULA, "write leads_to(p, q)", "F ~> G"),
    LanguageWord("and_", WordKind.FORMULA, "write and_(f, g)", r"F /\ G"),
    LanguageWord("or_", WordKind.FORMULA, "write or_(f, g)", r"F \/ G"),
    LanguageWord("not_", WordKind.FORMULA, "write not_(f)", "~F"),
    LanguageWord("implies", WordKind.FORMULA, "write implies(f, g)", "F => G"),
    LanguageWord("iff", WordKind.FORMULA, "write iff(f, g)", "F <=> G"),
    LanguageWord("for_all", WordKind.FORMULA, "write for_all(S, lambda x: formula)", r"\A x \in S : F"),
    LanguageWord("there_exists", WordKind.FORMULA, "write there_exists(S, lambda x: formula)", r"\E x \in S : F"),
    LanguageWord("enabled", WordKind.FORMULA, "write enabled(action, i)", "ENABLED A(i)"),
    LanguageWord("steps", WordKind.FORMULA, "write steps(action, i)", "<<A(i)>>_vars"),
    LanguageWord("weak_fairness", WordKind.FORMULA, "write weak_fairness(action, i)", "WF_vars(A(i))"),
    LanguageWord("strong_fairness", WordKind.FORMULA, "write strong_fairness(action, i)", "SF_vars(A(i))"),
)

_DECLARATIONS = (
    LanguageWord("Int", WordKind.DECLARATION, "write Int(least, greatest)", "least..greatest"),
    LanguageWord(
        "constant", WordKind.DECLARATION, 'write constant("Name", Int(1, 9), "what it means")', "CONSTANT Name"
    ),
    LanguageWord("spawned", WordKind.DECLARATION, 'write spawned("ServerId", 4)', "1..Max"),
    LanguageWord("action", WordKind.DECLARATION, "write @spec.action or @spec.action(fair=WEAK)", "A(i) == ..."),
    LanguageWord(
        "receive",
        WordKind.DECLARATION,
        'write @spec.receive(VoteRequest, s="dest")',
        r"\E m \in messages : m.type = VoteRequest /\ ...",
    ),
    LanguageWord("view", WordKind.DECLARATION, 'write spec.view("View", drop=["field"])', "VIEW"),
    LanguageWord("abstraction", WordKind.DECLARATION, "write @spec.abstraction", ""),
    LanguageWord("refines", WordKind.DECLARATION, 'write @spec.refines("voting")', "PROPERTY Voting!Spec"),
    LanguageWord("symmetry", WordKind.DECLARATION, 'write spec.symmetry("Symmetry", Server)', "SYMMETRY"),
    LanguageWord("variables", WordKind.DECLARATION, 'write spec.variables({"tlaName": "field"})', "VARIABLES"),
)

WORDS = (*_BUILTINS, *_FUNCTIONS, *_METHODS, *_TYPES, *_FORMULAS, *_DECLARATIONS)


def named(*kinds: WordKind) -> frozenset[str]:
    """The words of these kinds."""
    return frozenset(word.name for word in WORDS if word.kind in kinds)


CALLED = {word.name: word for word in (*_BUILTINS, *_FUNCTIONS)}
"""The functions that an expression may call, by name."""
PYTHON_FUNCTIONS = named(WordKind.BUILTIN)
"""The functions of Python that a spec may call."""
FORMULAS = named(WordKind.FORMULA)
"""The functions that make temporal formulas; they keep the lambdas that they are passed."""
USAGE = {word.name: word.usage for word in WORDS if word.usage}
"""The usage of each word, by its name."""
ARITIES = {word.name: word.arity for word in WORDS if word.arity is not None}
"""The number of arguments of each function, by its name."""
BRACKETS = {word.name: word.brackets for word in WORDS if word.brackets is not None}
"""The arguments of each type, by its name."""
RUN_ONCE = frozenset(word.name for word in WORDS if word.runs_once)
"""The words that run a generator expression exactly once, and at once."""
