"""Statements of generated Python in lines of at most 120 characters, broken where a person would break them.

Invariant: the lines parse to the same tree as the statement; where a break would change it, the statement is one line.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

_WIDTH = 120
_INDENT = "    "
_OPERATORS = {ast.And: "and", ast.Or: "or"}


def formatted(text: str, depth: int) -> list[str]:
    """Return the lines of a statement, or of the line that begins a block, at a depth of indentation."""
    is_block = text.endswith(":")
    if text == "else:":
        return [_INDENT * depth + text]
    word = "el" if text.startswith("elif ") else ""
    statement = ast.parse(f"{text[len(word) :]} pass" if is_block else text).body[0]
    flat = word + ast.unparse(statement).splitlines()[0]
    lines = [_INDENT * depth + flat]
    if len(lines[0]) > _WIDTH:
        broken = _statement(statement, depth, word)
        if broken is not None and _is_same(broken, statement, is_block, word):
            return broken
    return lines


def names_of(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the free names of an expression or a statement's first line, and those that its comprehensions bind."""
    whole = text.removeprefix("el") if text.startswith("elif ") else text
    tree = ast.parse("pass" if text == "else:" else f"{whole} pass" if whole.endswith(":") else whole)
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    bound = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    for node in ast.walk(tree):
        if isinstance(node, ast.comprehension):
            bound |= {part.id for part in ast.walk(node.target) if isinstance(part, ast.Name)}
    return frozenset(node.id for node in names if isinstance(node.ctx, ast.Load)) - bound, frozenset(bound)


def unparsed(source: str) -> str:
    """Return an expression as `formatted` writes it where it is in one line."""
    return ast.unparse(ast.parse(source, mode="eval"))


def _is_same(lines: list[str], statement: ast.stmt, is_block: bool, word: str) -> bool:
    whole = "\n".join(lines).lstrip()[len(word) :]
    try:
        tree = ast.parse(f"{whole} pass" if is_block else whole).body[0]
    except SyntaxError:
        return False
    return ast.dump(tree) == ast.dump(statement)


def _statement(statement: ast.stmt, depth: int, word: str) -> list[str] | None:
    match statement:
        case ast.If(test=test):
            return _around(f"{word}if ", test, ":", depth)
        case ast.For(target=target, iter=values):
            return _around(f"for {ast.unparse(target)} in ", values, ":", depth)
        case ast.Assign(targets=[target], value=value):
            return _around(f"{ast.unparse(target)} = ", value, "", depth)
        case ast.Return(value=ast.expr() as value):
            return _around("return ", value, "", depth)
        case ast.Expr(value=ast.Yield(value=ast.expr() as value)):
            return _around("yield ", value, "", depth)
        case _:
            return None


def _around(before: str, value: ast.expr, after: str, depth: int) -> list[str]:
    lines = _broken(value, depth, len(before) + len(after))
    lines[0], lines[-1] = before + lines[0], lines[-1] + after
    return [_INDENT * depth + lines[0], *lines[1:]]


def _broken(node: ast.expr, depth: int, used: int, *, is_operand: bool = False) -> list[str]:
    """Return the lines of an expression; the first is not indented."""
    if not _is_long(node):
        flat = _flat(node, is_operand=is_operand)
        if len(_INDENT) * depth + used + len(flat) <= _WIDTH:
            return [flat]
    match node:
        case ast.Call(func=function, args=arguments, keywords=keywords):
            return _call(function, arguments, keywords, depth)
        case ast.BoolOp(op=operator, values=values):
            sign = _OPERATORS[type(operator)]
            items = [_broken(value, depth + 1, len(sign) + 1, is_operand=True) for value in values]
            return _listed(
                "(",
                [[f"{sign} {item[0]}" if index else item[0], *item[1:]] for index, item in enumerate(items)],
                ")",
                depth,
            )
        case ast.IfExp(test=test, body=body, orelse=otherwise):
            parts = (("", body), ("if ", test), ("else ", otherwise))
            return _listed("(", [_prefixed(word, part, depth + 1) for word, part in parts], ")", depth)
        case ast.GeneratorExp() | ast.ListComp() | ast.SetComp() | ast.DictComp():
            return _comprehension(node, depth)
        case ast.Set(elts=elements) | ast.List(elts=elements):
            signs = "{}" if isinstance(node, ast.Set) else "[]"
            return _listed(signs[0], [_item(element, depth) for element in elements], signs[1], depth)
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            items = [
                _with_comma(_prefixed(f"{ast.unparse(key)}: ", value, depth + 1))
                for key, value in pairs
                if key is not None
            ]
            return _listed("{", items, "}", depth)
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            return _binary(left, _sign(operator), right, depth)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            lines = _broken(operand, depth, used + 4, is_operand=True)
            return [f"not {lines[0]}", *lines[1:]]
        case _:
            return [_flat(node, is_operand=is_operand)]


def _is_long(node: ast.expr) -> bool:
    """Return whether an expression is surely too long for a line: writing it to see takes time at every level."""
    return (node.end_col_offset or 0) - node.col_offset > 4 * _WIDTH


def _flat(node: ast.expr, *, is_operand: bool) -> str:
    flat = ast.unparse(node)
    return f"({flat})" if is_operand and isinstance(node, ast.BoolOp | ast.IfExp | ast.Lambda) else flat


def _call(function: ast.expr, arguments: Sequence[ast.expr], keywords: Sequence[ast.keyword], depth: int) -> list[str]:
    if len(arguments) == 1 and isinstance(arguments[0], ast.GeneratorExp) and not keywords:
        lines = _comprehension(arguments[0], depth)
        return [ast.unparse(function) + lines[0], *lines[1:]]
    items = [_item(argument, depth) for argument in arguments]
    items += [_with_comma(_prefixed(f"{keyword.arg}=", keyword.value, depth + 1)) for keyword in keywords]
    return _listed(ast.unparse(function) + "(", items, ")", depth)


def _comprehension(node: ast.GeneratorExp | ast.ListComp | ast.SetComp | ast.DictComp, depth: int) -> list[str]:
    if isinstance(node, ast.DictComp):
        items = [_prefixed(f"{ast.unparse(node.key)}: ", node.value, depth + 1)]
    else:
        items = [_broken(node.elt, depth + 1, 0)]
    for generator in node.generators:
        items.append(_prefixed(f"for {ast.unparse(generator.target)} in ", generator.iter, depth + 1, is_operand=True))
        items.extend(_prefixed("if ", condition, depth + 1, is_operand=True) for condition in generator.ifs)
    signs = {ast.GeneratorExp: "()", ast.ListComp: "[]", ast.SetComp: "{}", ast.DictComp: "{}"}[type(node)]
    return _listed(signs[0], items, signs[1], depth)


def _binary(left: ast.expr, sign: str, right: ast.expr, depth: int) -> list[str]:
    first = _broken(left, depth, len(sign) + 2, is_operand=True)
    second = _broken(right, depth, len(first[-1]) + len(sign) + 2, is_operand=True)
    return [*first[:-1], f"{first[-1]} {sign} {second[0]}", *second[1:]]


def _sign(operator: ast.cmpop) -> str:
    return ast.unparse(ast.Compare(ast.Name("a"), [operator], [ast.Name("b")]))[2:-2]


def _prefixed(word: str, node: ast.expr, depth: int, *, is_operand: bool = False) -> list[str]:
    lines = _broken(node, depth, len(word) + 1, is_operand=is_operand)
    return [word + lines[0], *lines[1:]]


def _item(node: ast.expr, depth: int) -> list[str]:
    return _with_comma(_broken(node, depth + 1, 1))


def _with_comma(lines: list[str]) -> list[str]:
    return [*lines[:-1], lines[-1] + ","]


def _listed(begin: str, items: Sequence[list[str]], end: str, depth: int) -> list[str]:
    """Return items on lines of their own, one step deeper than the brackets around them."""
    inner = _INDENT * (depth + 1)
    return [begin, *(line for item in items for line in (inner + item[0], *item[1:])), _INDENT * depth + end]
