"""Constructs of Python that the spec language lacks, and the advice for each: the tables behind `subset`."""

from __future__ import annotations

import ast

_QUANTIFIER_HELP = "write a quantifier: any(...), all(...), max(...), or a comprehension"
_IMPORT_HELP = "a spec imports from kmc.lang, kmc.spec and its own files: from .types import State"
CONSTRUCTS: dict[type[ast.AST], tuple[str, str]] = {
    ast.While: ("while", _QUANTIFIER_HELP),
    ast.For: ("a loop outside of a function", _QUANTIFIER_HELP),
    ast.If: ("if outside of a function", "write a if condition else b"),
    ast.Try: ("try", "guard with if, or require(...)"),
    ast.TryStar: ("try", "guard with if, or require(...)"),
    ast.Raise: ("raise", "write assert condition, which is a violation when false"),
    ast.Assert: ("assert outside of a function", "write spec.assume(condition) about constants"),
    ast.With: ("with", "a spec only computes values"),
    ast.Import: ("import without from", _IMPORT_HELP),
    ast.ImportFrom: ("an import inside of a function", "import at the top of the file"),
    ast.ClassDef: ("a class inside of a function", "declare types at the top level of a file"),
    ast.Global: ("global", "pass the value as a parameter"),
    ast.Nonlocal: ("nonlocal", "pass the value as a parameter"),
    ast.Delete: ("del", "values are immutable; build the value you want: s - {x}, m.without(key)"),
    ast.Break: ("break", "choices have no order; put the condition into the guard"),
    ast.Match: ("match", "write if isinstance(x, Shape) or if x.kind == Kind.A"),
    ast.NamedExpr: (":=", "assign on a line of its own"),
    ast.Await: ("await", "an action is a plain generator"),
    ast.AsyncFunctionDef: ("async", "an action is a plain generator"),
    ast.JoinedStr: ("an f-string", "the language has no text; use an Enum"),
    ast.Starred: ("*", "name the elements one by one"),
    ast.Lambda: ("a lambda that is kept", "pass a lambda directly to the function that applies it, or write a def"),
    ast.Slice: ("a slice with a step", "write [log[k] for k in range(0, len(log), 2)]"),
    ast.AugAssign: ("a change outside of a function", "give the new value a name of its own"),
}
"""Syntax outside of the language: its name, and the advice."""
OPERATORS: dict[type[ast.AST], tuple[str, str]] = {
    ast.Div: ("/", "integers are divided with //, which rounds down"),
    ast.LShift: ("<<", "multiply by a constant"),
    ast.RShift: (">>", "divide by a constant with //"),
    ast.BitXor: ("^", "write (a - b) | (b - a) for sets, a != b for Bools"),
    ast.MatMult: ("@", "a spec only computes integers, Bools and finite values"),
    ast.Invert: ("~", "write not for Bools, S - s for sets"),
}
"""Operators outside of the language, likewise."""
IMPORT_ADVICE = {
    "__future__": "remove this line: annotations are domains, so they are evaluated",
    "typing": "the types are in kmc.lang: Opt[...], Set[...], Seq[..., n], Map[...]",
    "enum": "write from kmc.lang import Enum",
    "dataclasses": "write from kmc.lang import Record, and derive from Record",
    "kmc": "write from kmc.lang import ... and from kmc.spec import spec",
}
"""The advice for an import from these modules."""
PYTHON_TYPES = {
    "bool": "write Bool",
    "set": "write Set[...]",
    "frozenset": "write Set[...]",
    "list": "write Seq[..., n]",
    "dict": "write Map[...] or PartialMap[...]",
    "tuple": "declare a Record",
    "str": "declare an Enum",
    "float": "the language has no fractions: write Int(least, greatest)",
    "object": "write the types that may stand here: A | B | None",
}
"""The advice for these types of Python in an annotation."""
METHOD_ADVICE = {
    "union": "write a | b",
    "intersection": "write a & b",
    "difference": "write a - b",
    "symmetric_difference": "write (a - b) | (b - a)",
    "issubset": "write a <= b",
    "issuperset": "write a >= b",
    "isdisjoint": "write len(a & b) == 0",
    "remove": "values are immutable; write s - {x}, map.without(key), network.discard(message) or bag.take(message)",
    "pop": "values are immutable; write log.upto(len(log) - 1), map.without(key) or s - {x}",
    "update": "values are immutable; write map.set(key, value), or s | t",
    "extend": "values are immutable; append the elements one by one",
    "insert": "values are immutable; write [... for o in range(1, n + 1)]",
    "clear": "values are immutable; write set(), [] or {}",
    "copy": "values are immutable, so a copy is the value itself",
    "sort": "write max(...), min(...) or a quantifier",
    "index": "write max or min of (o for o in log.offsets() if log.at(o) == x)",
    "get": "write m[key] if key in m else ...",
    "replace": "write record.set(field=value)",
}
"""The advice for these methods of Python's collections."""
BUILTINS = {
    "list": "write [... for ... in ...] over a sequence or range(...)",
    "tuple": "declare a Record, or write a sequence [...]",
    "dict": "write {key: value for ...}",
    "str": "the language has no text; use an Enum",
    "float": "the language has no fractions; use an Int",
    "sorted": "sets have no order; write max(...), min(...) or a quantifier",
    "reversed": "write log.at(len(log) + 1 - o) for o in log.offsets()",
    "enumerate": "write for o in log.offsets(), and log.at(o)",
    "zip": "write for o in log.offsets(), with at(o) of both",
    "map": "write a comprehension",
    "filter": "write a comprehension with if",
    "next": "sets have no first element; write a quantifier",
    "iter": "sets have no first element; write a quantifier",
    "type": "write isinstance(x, Shape)",
    "getattr": "name the field",
    "hasattr": "write isinstance(x, Shape)",
    "print": "a spec only computes values; the trace of a violation shows every state",
    "open": "a spec only computes values",
    "round": "the language has no fractions; divide with //",
    "pow": "multiply, or declare the number as a constant",
    "divmod": "write // and %",
    "hash": "values are compared with ==",
    "id": "values are compared with ==",
}
"""The advice for these functions of Python."""

IMMUTABLE_HELP = "values are immutable: write st.set(field=value), m.set(key, value), log.append(x), s | {x}"


def advice_on_a_result(value: ast.expr, *, gives_states: bool) -> str:
    """The advice for an expression on a line of its own, in a function that yields states or does not."""
    match value:
        case ast.Call(func=ast.Attribute(value=ast.Name(), attr="set"), args=[]) if gives_states:
            return f"an action gives its next state with yield: write yield {_shortened(value)}"
        case ast.Call(func=ast.Attribute()):
            return f"{IMMUTABLE_HELP}, and use what it gives" if gives_states else IMMUTABLE_HELP
        case ast.Compare() | ast.BoolOp() | ast.UnaryOp(op=ast.Not()) if gives_states:
            return f"write require({_shortened(value)}) for a guard; yield st.set(...) for a next state"
        case ast.Call(func=ast.Name(id=name)) if gives_states:
            call = f"{name}(...)"
            return f"write yield {call} for a state, yield from {call} if it yields, require({call}) for a guard"
        case _ if gives_states:
            return "write yield before it for a next state, or give it a name"
        case _:
            return "write return before it, or give it a name"


def _shortened(value: ast.expr) -> str:
    """An expression as its author wrote it, without the arguments of a long call."""
    text = ast.unparse(value)
    if len(text) <= 40:
        return text
    return f"{ast.unparse(value.func)}(...)" if isinstance(value, ast.Call) else "..."
