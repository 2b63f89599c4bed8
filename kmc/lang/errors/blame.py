"""From an exception raised while a spec's code runs to one error at the author's line.

The author's place is the innermost frame that lies in a file of the spec, with the columns that Python keeps for each
instruction. Python's own exceptions are put into the words of the language (`kmc.lang.errors.python_errors`); nothing
of kmc's own frames is shown.
"""

from __future__ import annotations

import ast
import inspect
from bdb import BdbQuit
from collections.abc import Collection
from dataclasses import replace
from itertools import islice
from types import CodeType, FunctionType, GeneratorType, TracebackType
from typing import Any

from kmc.errors import KmcError, Span
from kmc.lang.errors.python_errors import in_words

# Methods whose errors say "this sequence", "this map" or "this network" of the value that they are called on.
_METHODS = frozenset(["add", "add_all", "append", "at", "send", "send_all", "set", "take", "upto", "without"])
_SUBJECTS = ("this sequence", "this map", "this network")
_SUBJECT_LENGTH_MAX = 40


def author_span(traceback: TracebackType | None, files: Collection[str]) -> Span | None:
    """The innermost place of `traceback` in one of `files`, or None."""
    span: Span | None = None
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if code.co_filename in files:
            span = instruction_span(code, traceback.tb_lasti, traceback.tb_lineno)
        traceback = traceback.tb_next
    return span


def caller_span() -> Span:
    """The place of the innermost call from outside of kmc: where a spec uses a word of the language."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith("kmc."):
        frame = frame.f_back
    return instruction_span(frame.f_code, frame.f_lasti, frame.f_lineno) if frame else Span("?", 1)


def instruction_span(code: CodeType, instruction: int, line: int) -> Span:
    """The place of the instruction at a byte offset of `code`; `line` is known even where its columns are not."""
    positions = islice(code.co_positions(), instruction // 2, None)
    first, last, column, end_column = next(positions, (line, None, None, None))
    span = Span(
        code.co_filename, first or line, (column or 0) + 1, last, None if end_column is None else end_column + 1
    )
    span = in_characters(span)
    return _of_class_header(span) if last is not None and last > span.line else span


def body_span(function: FunctionType) -> Span:
    """The place of the expression that a function or lambda evaluates."""
    code = function.__code__
    positions = [
        (line, column, last, end)
        for line, last, column, end in code.co_positions()
        # The first instruction of a function has no place of its own, or an empty one.
        if line is not None and column is not None and last is not None and end is not None and column != end
    ]
    if not positions:
        return Span(code.co_filename, code.co_firstlineno)
    line, column, *_ = min(positions)
    last, end = max((last, end) for _, _, last, end in positions)
    return in_characters(Span(code.co_filename, line, column + 1, last, end + 1))


def in_characters(span: Span) -> Span:
    """A span whose columns count bytes, as Python counts them, with columns that count characters."""
    text = span.source_line() or ""
    last = text if span.end_line in (None, span.line) else replace(span, line=span.end_line).source_line() or ""
    if text.isascii() and last.isascii():
        return span
    end_column = None if span.end_column is None else _in_characters(last, span.end_column)
    return replace(span, column=_in_characters(text, span.column), end_column=end_column)


def _in_characters(text: str, column: int) -> int:
    return len(text.encode()[: column - 1].decode(errors="ignore")) + 1


def yield_span(successors: Any, files: Collection[str]) -> Span | None:
    """The place of the `yield` at which a generator of a spec is suspended, or None."""
    span: Span | None = None
    while isinstance(successors, GeneratorType):
        frame = successors.gi_frame
        if frame is not None and frame.f_code.co_filename in files:
            span = instruction_span(frame.f_code, frame.f_lasti, frame.f_lineno)
        successors = successors.gi_yieldfrom
    return span


def blamed(error: Exception, files: Collection[str]) -> KmcError:
    """`error` as a KmcError at the author's place; an AssertionError becomes KMC290, other exceptions KMC24x.

    Raises `error` itself when a person ends a debugger in the spec.
    """
    if isinstance(error, BdbQuit):
        raise error
    span = author_span(error.__traceback__, files)
    if isinstance(error, KmcError):
        return error if error.span is not None else _naming_subject(error.at(span))
    return in_words(error).at(span)


def _of_class_header(span: Span) -> Span:
    """For a whole class, only `class Name`."""
    text = span.source_line() or ""
    if not text.lstrip().startswith("class "):
        return span
    name = text.partition("class ")[2].partition("(")[0].partition(":")[0]
    column = text.index("class ") + len("class ") + 1
    return Span(span.path, span.line, column, span.line, column + len(name))


def _naming_subject(error: KmcError) -> KmcError:
    """`error` with "this sequence" and the like replaced by the author's expression for it."""
    subject = _subject(error.span) if error.span is not None else None
    if subject is None or error.message.startswith("'") or not any(word in error.message for word in _SUBJECTS):
        return error
    message, help_line = error.message, error.help or ""
    for word in _SUBJECTS:
        message = message.replace(word, f"'{subject}'")
    return type(error)(error.code, message, error.span, help_line.replace("len(...)", f"len({subject})"), error.notes)


def _subject(span: Span) -> str | None:
    """The object of the call or subscription at `span`, as the author wrote it."""
    try:
        tree = ast.parse(f"({_source(span)}\n)", mode="eval").body
    except (SyntaxError, ValueError):
        return None
    match tree:
        case ast.Call(func=ast.Attribute(value=owner, attr=method)) if method in _METHODS:
            subject = ast.unparse(owner)
        case ast.Subscript(value=owner):
            subject = ast.unparse(owner)
        case _:
            return None
    return subject if len(subject) <= _SUBJECT_LENGTH_MAX else None


def _source(span: Span) -> str:
    """The text at `span`; empty when the file cannot be read."""
    last = span.end_line or span.line
    lines = [replace(span, line=line).source_line() or "" for line in range(span.line, last + 1)]
    lines[-1] = lines[-1][: None if span.end_column is None else span.end_column - 1]
    lines[0] = lines[0][span.column - 1 :]
    return "\n".join(lines)
