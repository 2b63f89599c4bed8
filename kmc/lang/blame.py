"""From an exception raised while a spec's code runs to one error at the author's line.

The author's place is the innermost frame that lies in a file of the spec, with the columns that Python keeps for each
instruction. Python's own exceptions are put into the words of the language; nothing of kmc's own frames is shown.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import islice
from types import TracebackType

from kmc.errors import EvaluationError, KmcError, Span, did_you_mean
from kmc.lang.maps import MapValue
from kmc.lang.networks import MessageBagValue, MessageSetValue
from kmc.lang.records import Record
from kmc.lang.seqs import SeqValue
from kmc.lang.symbols import Symbol


def author_span(traceback: TracebackType | None, files: Collection[str]) -> Span | None:
    """The innermost place of `traceback` in one of `files`, or None."""
    found: Span | None = None
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if code.co_filename in files:
            places = islice(code.co_positions(), traceback.tb_lasti // 2, None)
            line, end_line, column, end_column = next(places, (traceback.tb_lineno, None, None, None))
            found = Span(
                code.co_filename,
                line or traceback.tb_lineno,
                (column or 0) + 1,
                end_line,
                None if end_column is None else end_column + 1,
            )
        traceback = traceback.tb_next
    return found


def blamed(error: Exception, files: Collection[str]) -> KmcError:
    """`error` as a KmcError at the author's place; an AssertionError becomes KMC290, other exceptions KMC24x."""
    span = author_span(error.__traceback__, files)
    if isinstance(error, KmcError):
        return error.at(span)
    if isinstance(error, AssertionError):
        return EvaluationError("KMC290", str(error) or "the assertion does not hold", span)
    if isinstance(error, AttributeError):
        return _attribute(error, span)
    if isinstance(error, NameError):
        return EvaluationError(
            "KMC242", f"{error}", span, help="define it, or import it from kmc.lang or a file of the spec"
        )
    if isinstance(error, TypeError):
        return _type(error, span)
    if isinstance(error, RecursionError):
        return EvaluationError("KMC244", "this recursion does not end", span, help="write a bounded loop or quantifier")
    return EvaluationError("KMC245", f"{type(error).__name__}: {error}", span)


_KINDS: tuple[tuple[type, str, str], ...] = (
    (frozenset, "a set", "sets are immutable: write s | {x}, s & t, s - {x}, x in s, len(s)"),
    (SeqValue, "a sequence", "sequences have at, append, upto, offsets and len"),
    (MapValue, "a map", "maps have m[k], set, add, without, keys, values, items and len"),
    (MessageSetValue, "a message set", "message sets have send, send_all, discard, keep, of and len"),
    (MessageBagValue, "a message bag", "message bags have count, add, add_all, take, of and len"),
    (Symbol, "an identifier", "identifiers and enum members have no fields"),
    (int, "a number", "numbers have no fields"),
)


def _attribute(error: AttributeError, span: Span | None) -> EvaluationError:
    owner, name = error.obj, error.name or "?"
    if isinstance(owner, Record):
        kind = type(owner)
        return EvaluationError(
            "KMC212", f"{kind.__name__} has no field '{name}'", span, did_you_mean(name, kind.fields)
        )
    if owner is None:
        return EvaluationError(
            "KMC241", f"None has no field '{name}'", span, help="guard with `is not None` before using an Opt value"
        )
    for cls, kind_name, help_line in _KINDS:
        if isinstance(owner, cls):
            return EvaluationError("KMC243", f"{kind_name} has no '{name}'", span, help=help_line)
    shown = getattr(owner, "__name__", type(owner).__name__)
    return EvaluationError("KMC243", f"{shown} has no '{name}'", span)


def _type(error: TypeError, span: Span | None) -> EvaluationError:
    message = str(error)
    compared = re.match(r"'(<|>|<=|>=)' not supported between instances of '(\w+)' and '(\w+)'", message)
    if compared:
        operator, left, right = compared.groups()
        if left == right:
            return EvaluationError(
                "KMC246",
                f"values of {left} have no order, so '{operator}' has no meaning",
                span,
                help="identifiers, enums and records are compared with == and != only",
            )
        return EvaluationError(
            "KMC246",
            f"'{operator}' compares {left} with {right}".replace("NoneType", "None"),
            span,
            help="guard with `is not None` before using an Opt value" if "NoneType" in message else None,
        )
    if "unhashable" in message:
        return EvaluationError("KMC247", message, span, help="use the language's sets, sequences, maps and records")
    return EvaluationError("KMC248", message.replace("NoneType", "None"), span)
