r"""Advice on text that is not TLA+: the help line of an error that a known habit explains.

Most mistakes are habits from programming languages and from mathematics: `==` for an equation, `;` between definitions,
`\neq`, a condition among the bounds of a set. An error without such a reason has no help.
"""

from __future__ import annotations

from kmc.tla.syntax.tokens import KEYWORDS, ModuleToken

_COMMANDS = {
    "neq": "#", "ne": "#", "le": "<=", "ge": ">=", "cross": "\\X", "setminus": "\\",
    "not": "~", "subset": "\\subseteq", "emptyset": "{}", "rightarrow": "=>", "implies": "=>", "wedge": "/\\",
    "vee": "\\/", "mod": "%",
}  # fmt: skip
"""Commands of LaTeX that are not operators of TLA+, and what TLA+ writes for them."""

_OF_CONFIGURATION = frozenset(
    (
        *("INVARIANT", "INVARIANTS", "PROPERTY", "PROPERTIES", "SPECIFICATION", "INIT", "NEXT", "SYMMETRY", "VIEW"),
        *("ALIAS", "POSTCONDITION", "CHECK_DEADLOCK", "CONSTRAINT", "CONSTRAINTS", "ACTION_CONSTRAINT"),
    )
)

_ONE_EQUAL_SIGN = "an equation has one sign, =; two of them, ==, begin a definition"
_JOINED = "an expression ends before it: join the two by an operator such as /\\, or put a comma between them"
_SUBSETS = "names are bound by \\in: for all subsets of S, write \\in SUBSET S"
_TWO_PARTS = "a set has a condition, {x \\in S : P}, or a value for each member, {e : x \\in S}; for both, nest the two"

# The beginning of what is expected, what is found instead (any text where it is empty), and the help.
_HABITS = (
    ("'----' after MODULE", "", "the name of a module stands between dashes: ---- MODULE Name ----"),
    ("", "==", _ONE_EQUAL_SIGN),
    ("a definition or IN", "; ,", "the definitions of a LET follow each other without a sign between them"),
    ("", ";", "TLA+ has no ';': formulas are joined by /\\, and definitions need no sign between them"),
    ("a definition, a declaration", "=", "a definition has two signs, ==; the .cfg file gives a constant its value"),
    ("a definition, a declaration", "EXTENDS", "EXTENDS stands once, right behind the first line of the module"),
    ("a definition, a declaration", "->", "a set of functions has brackets: [S -> T]"),
    ("a definition, a declaration", ") ] } >>", "it closes nothing that is open here"),
    ("a definition, a declaration", "LET IF CASE ( [ { <<", _JOINED),
    ("'|->', '->', 'EXCEPT' or ']_'", "]", "brackets around an action need its subscript: [A]_v; a tuple is <<a, b>>"),
    ("'|->', '->', 'EXCEPT' or ']_'", ":", "a function has |-> behind its bounds: [x \\in S |-> e]"),
    ("'|->' after the bounds", "]", "a tuple is <<a, b>>; a function has |-> behind its bounds: [x \\in S |-> e]"),
    ("'|->' after the bounds", "->", "a function has |->: [x \\in S |-> e]; a set of functions has no names: [S -> T]"),
    ("'|->' after the bounds", ":", "a function has |-> behind its bounds: [x \\in S |-> e]"),
    (
        "bounds such as",
        "|->",
        "the fields of a record are names; for other keys, write (1 :> a) @@ (2 :> b) of module TLC",
    ),
    ("'\\in' and a set after", "# = < > <= >= =< ( [ /= \\notin ~", _TWO_PARTS),
    ("':' or '\\in' after the names", "\\subseteq", _SUBSETS),
    ("'\\in' and a set after", "\\subseteq", _SUBSETS),
    ("':' before the condition of a CHOOSE", "\\subseteq", _SUBSETS),
    ("':' before the condition of a CHOOSE", "", "a CHOOSE has a condition: CHOOSE x \\in S : P, where P may be TRUE"),
    ("'}' at the end of a set", ":", _TWO_PARTS),
    ("'}' at the end of a set", "->", "a set of functions has brackets: [S -> T]"),
    ("'>>' at the end of a tuple", ":", "a sequence by its indices is a function: [i \\in 1..n |-> e]"),
    (
        "']' at the end of a function",
        "EXCEPT",
        "the function has brackets of its own: [[x \\in S |-> e] EXCEPT ![y] = d]",
    ),
    ("'ELSE'", "", "every IF has a THEN and an ELSE, and no END"),
    ("an expression", "#", "the size of a set is Cardinality(S), and the length of a sequence Len(s)"),
    ("an expression", "RECURSIVE", "RECURSIVE F(_) stands on its own before the definition F(x) == ..."),
)


def advice(expected: str, found: ModuleToken, before: ModuleToken, behind: ModuleToken) -> str | None:
    """Return the help for a token that is not what is expected; `before` and `behind` are its neighbours."""
    if found.shown() == "a comment that is not closed":
        return "close it with *)"
    if found.shown() == "a string that is not closed on its line":
        return 'close it with "'
    command = _command(before) or (_command(behind) if found.text == "\\" else None)
    if command is not None:
        return command
    head = expected.removeprefix("'==' and the meaning of ")
    if head != expected:
        return _of_definition(head.strip("'"), found)
    if before.text == ":=":
        return "a definition has the sign ==, and a step gives a variable its next value by x' = e"
    for beginning, texts, help_line in _HABITS:
        if expected.startswith(beginning) and (not texts or found.raw in texts.split()):
            return help_line
    return None


def _command(token: ModuleToken) -> str | None:
    """Return the help for a name behind a backslash, which was read as a set difference."""
    if token.kind != "name" or token.text not in _COMMANDS:
        return None
    read = f"so it was read as '\\' and '{token.text}'"
    return f"\\{token.text} is not an operator of TLA+, {read}: write {_COMMANDS[token.text]}"


def _of_definition(name: str, found: ModuleToken) -> str:
    """Return the help for a name that was read as the beginning of a definition."""
    if name in _OF_CONFIGURATION:
        return f"{name} is a section of the .cfg file, which stands beside the module"
    if found.text in ("=", ":="):
        return "a definition has two signs, =="
    for word in (name, found.raw):
        if word.upper() in KEYWORDS and word.upper() != word:
            return f"TLA+ writes {word.upper()} in capitals"
    return f"'{name}' begins a definition here, since an expression ends before it: {_JOINED.partition(': ')[2]}"
