"""Errors that leave the Python API: with the author's line and the help below the message, as notes that tracebacks
show.

Python, notebooks and pytest print the notes of an exception (`BaseException.add_note`) after its message.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from kmc.errors import ExitStatus, KmcError

_Given = ParamSpec("_Given")
_Returned = TypeVar("_Returned")


def explained(function: Callable[_Given, _Returned]) -> Callable[_Given, _Returned]:
    """A function whose KmcErrors have in a traceback the same text as on the command line."""

    @wraps(function)
    def explaining(*given: _Given.args, **named: _Given.kwargs) -> _Returned:
        __tracebackhide__ = True  # pytest shows the caller's line, and not this one
        try:
            return function(*given, **named)
        except KmcError as error:
            explain(error)
            if error.exit_status is ExitStatus.INTERNAL:
                raise
            mistake = error
        # The place in kmc where a mistake of the caller was found does not help the caller.
        raise mistake.with_traceback(None) from None

    return explaining


def explain(error: KmcError) -> None:
    """Add place, help and notes to an error, once."""
    # Imported here, because it takes a tenth of a second, and few programs end with an error.
    from kmc.error_text import error_text

    _, _, rest = error_text(error).partition("\n")
    if rest and rest not in getattr(error, "__notes__", ()):
        error.add_note(rest)
