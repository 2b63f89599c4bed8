"""The place of a syntax tree's node in its file, as errors show it."""

from __future__ import annotations

import ast

from kmc.errors import Span
from kmc.lang.errors.blame import in_characters


def span_of(node: ast.AST, path: str) -> Span:
    """The place of an AST node; of a compound statement, its first line up to the colon."""
    line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
    end_line, end_column = getattr(node, "end_lineno", None), getattr(node, "end_col_offset", None)
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.AsyncFunctionDef(name=name):
            keyword = {ast.FunctionDef: "def ", ast.ClassDef: "class "}.get(type(node), "async def ")
            column += len(keyword)
            end_line, end_column = line, column + len(name)
        case ast.While(test=last) | ast.If(test=last) | ast.For(iter=last) | ast.Match(subject=last):
            end_line, end_column = last.end_lineno, last.end_col_offset
        case ast.With(items=items):
            end_line, end_column = items[-1].context_expr.end_lineno, items[-1].context_expr.end_col_offset
        case ast.Try() | ast.TryStar():
            end_line, end_column = line, column + len("try")
    return in_characters(Span(path, line, column + 1, end_line, None if end_column is None else end_column + 1))
