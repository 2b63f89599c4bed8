"""Where kmc's sources raise errors: the code, the class and the texts of each place, read from the syntax tree.

A code is a string constant `KMCnnn`. `site_of` knows the forms in which a code stands in the sources; a code in any
other form is an `Unknown`, so that no error can be raised past the register.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property

from support.source_tree import Source, nodes_of, tree_of

CODE = re.compile(r"KMC\d{3}")
CLASSES = frozenset(
    {
        "SpecError",
        "EvaluationError",
        "DomainError",
        "InvariantError",
        "ModelError",
        "AssumptionError",
        "InvariantLevelError",
        "TautologyError",
        "TraceError",
        "SystemFault",
        "CommandLineError",
        "InternalError",
    }
)
# What an error is that a helper such as `refuse` makes, by the hundred of its code.
CLASS_OF_HUNDRED = {
    "0": "SpecError",
    "1": "SpecError",
    "2": "EvaluationError",
    "3": "ModelError",
    "4": "TraceError",
    "5": "SystemFault",
    "6": "CommandLineError",
    "7": "SpecError",
    "8": "SpecError",
    "9": "InternalError",
}
HELPERS = frozenset({"refuse", "_refuse", "fail", "mistake", "kind"})
# The code that `refuse(message, help)` of a package stands for.
DEFAULT_CODES = {"kmc/trace/": "KMC422"}
DEPTH_MAX = 4


@dataclass(frozen=True, slots=True)
class Site:
    """One place that raises a code: its texts are templates, an empty one is made elsewhere."""

    code: str
    path: str
    line: int
    kind: str
    messages: tuple[str, ...]
    helps: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unknown:
    """A code in a form that this module does not read."""

    code: str
    path: str
    line: int


class Texts:
    """The texts that an expression of one source can have, with `{name}` for what is known only at run time."""

    def __init__(self, source: Source) -> None:
        self._nodes = nodes_of(source)
        self.functions = {node.name: node for node in self._nodes if isinstance(node, ast.FunctionDef)}
        self._tree = tree_of(source)

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """The node that holds each node of the source."""
        return {child: node for node in self._nodes for child in ast.iter_child_nodes(node)}

    def of(self, node: ast.expr | None, depth: int = 0) -> tuple[str, ...]:
        """The texts of `node`, each once; none when they cannot be told."""
        found = self._texts(node, depth) if node is not None and depth < DEPTH_MAX else ()
        return tuple(dict.fromkeys(text for text in found if text))

    def _texts(self, node: ast.expr, depth: int) -> tuple[str, ...]:
        match node:
            case ast.Constant(value=str(text)):
                return (text,)
            case ast.JoinedStr(values=parts):
                return ("".join(_part(part) for part in parts),)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return tuple(
                    f"{a}{b}" for a in self.of(left, depth) or ("...",) for b in self.of(right, depth) or ("",)
                )
            case ast.IfExp(body=body, orelse=orelse):
                return (*self.of(body, depth), *self.of(orelse, depth))
            case ast.BoolOp(values=values):
                return tuple(text for value in values for text in self.of(value, depth))
            case ast.Call(func=ast.Name(id="did_you_mean")):
                return ("did you mean '...'?",)
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in self.functions:
                return self._returned(self.functions[name], depth + 1)
            case ast.Name(id=name):
                return self._assigned(name, node, depth + 1)
        return ()

    def _returned(self, function: ast.FunctionDef, depth: int) -> tuple[str, ...]:
        """What a function of the same source returns."""
        values = [item.value for item in ast.walk(function) if isinstance(item, ast.Return) and item.value is not None]
        return tuple(text for value in values for text in self.of(value, depth))

    def _assigned(self, name: str, node: ast.AST, depth: int) -> tuple[str, ...]:
        """What a name is bound to: the last value before its use in the same function, else that of the module."""
        around: ast.AST = node
        while not isinstance(around, ast.FunctionDef | ast.Module):
            around = self.parents[around]
        bound = [
            (item.lineno, value)
            for item in ast.walk(around)
            if isinstance(item, ast.Assign) and item.lineno <= getattr(node, "lineno", 0)
            for value in _values(item, name)
        ]
        if not bound and not isinstance(around, ast.Module):
            bound = [
                (0, value) for item in self._tree.body if isinstance(item, ast.Assign) for value in _values(item, name)
            ]
        return self.of(bound[-1][1], depth) if bound else ()


def _values(assignment: ast.Assign, name: str) -> Iterator[ast.expr]:
    """The expressions that an assignment binds a name to."""
    for target in assignment.targets:
        match target, assignment.value:
            case ast.Name(id=bound), value if bound == name:
                yield value
            case ast.Tuple(elts=targets), ast.Tuple(elts=values) if len(targets) == len(values):
                yield from (v for t, v in zip(targets, values, strict=True) if isinstance(t, ast.Name) and t.id == name)


def _part(part: ast.expr) -> str:
    """A part of an f-string: its text, or a name in braces."""
    match part:
        case ast.Constant(value=str(text)):
            return text
        case ast.FormattedValue(value=ast.Name(id=name) | ast.Attribute(attr=name)):
            return f"{{{name}}}"
    return "{...}"


def _name(function: ast.expr) -> str:
    match function:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _site_of_call(texts: Texts, call: ast.Call, code: ast.Constant, path: str) -> Site | None:
    """A call that is given a code: a class of `kmc.errors`, or a helper that raises one."""
    name = _name(call.func)
    if name not in CLASSES | HELPERS or code not in call.args:
        return None
    at = call.args.index(code)
    # `refuse(message, help, code)` of traces ends with the code; all others go on with the message after it.
    trace_order = name == "refuse" and at == 2 and len(call.args) == 3
    rest = call.args[:2] if trace_order else call.args[at + 1 :]
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    behind = 1 if trace_order or name not in CLASSES | {"kind"} else 2  # a span stands between in the classes
    help_ = keywords.get("help", rest[behind] if len(rest) > behind else None)
    kind = name if name in CLASSES else CLASS_OF_HUNDRED[str(code.value)[3]]
    return Site(str(code.value), path, code.lineno, kind, texts.of(rest[0] if rest else None), texts.of(help_))


def _site_of_tuple(texts: Texts, code: ast.Constant, around: ast.Tuple, path: str) -> Site | Unknown | None:
    """A tuple that a code stands in: `(code, message, help)`, `(pattern, code, words)`, or a list of codes."""
    value, line, kind = str(code.value), code.lineno, CLASS_OF_HUNDRED[str(code.value)[3]]
    if all(isinstance(item, ast.Constant) and CODE.fullmatch(str(item.value)) for item in around.elts):
        return None
    match around.elts:
        case [first, message, help_] if first is code:
            return Site(value, path, line, kind, texts.of(message), texts.of(help_))
        case [_, second, ast.Lambda(body=ast.Tuple(elts=[message, help_]))] if second is code:
            return Site(value, path, line, kind, texts.of(message), texts.of(help_))
        case [_, second, ast.Call(args=[message, help_])] if second is code:
            return Site(value, path, line, kind, tuple(f"... {text}" for text in texts.of(message)), texts.of(help_))
        case [_, second, _] if second is code:
            return Site(value, path, line, kind, (), ())
    return Unknown(value, path, line)


def site_of(source: Source, texts: Texts, code: ast.Constant) -> Site | Unknown | None:
    """The place that a code stands for; None where it is only compared or listed."""
    value = str(code.value)
    kind = CLASS_OF_HUNDRED[value[3]]
    match texts.parents[code]:
        case ast.Call() as call if site := _site_of_call(texts, call, code, source.path):
            return site
        case ast.Tuple() as around:
            return _site_of_tuple(texts, code, around, source.path)
        case ast.Dict(values=values) if code in values:  # {"code": code, "message": ...}
            return Site(value, source.path, code.lineno, kind, (), ())
        case ast.Compare() | ast.arguments():
            return None
    return Unknown(value, source.path, code.lineno)


def _default_sites(source: Source, texts: Texts) -> Iterator[Site]:
    """The places that raise the default code of their package: `refuse(message, help)`."""
    for folder, code in DEFAULT_CODES.items():
        if not source.path.startswith(folder):
            continue
        for node in nodes_of(source):
            match node:
                case ast.Call(func=ast.Attribute(attr="refuse"), args=[message, help_]):
                    kind = CLASS_OF_HUNDRED[code[3]]
                    yield Site(code, source.path, node.lineno, kind, texts.of(message), texts.of(help_))


@cache
def sites_of(source: Source) -> tuple[Site | Unknown, ...]:
    """All places of a source that raise a code, in their order."""
    texts = Texts(source)
    codes = [
        node
        for node in nodes_of(source)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and CODE.fullmatch(node.value)
    ]
    found = [site_of(source, texts, code) for code in codes]
    known = [site for site in found if site is not None]
    return tuple(sorted([*known, *_default_sites(source, texts)], key=lambda site: (site.line, site.code)))
