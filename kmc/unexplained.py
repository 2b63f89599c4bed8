"""The boundary around explanations: each is finished or an error, and never costs the result that it explains.

`try_explaining` is the one place where any error of `kmc.story` or `kmc.views` ends. A caller gets finished values, so
no part of an explanation is made after its boundary.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

ERRORS_VARIABLE = "KMC_EXPLANATION_ERRORS"
"""With the value `raise`, an explanation that fails ends the command, as any mistake of kmc does. Tests set it."""

_REASON_MAX = 200

_Told = TypeVar("_Told")


@dataclass(frozen=True, slots=True)
class Unexplained:
    """The error that ended an explanation, which is always a mistake in kmc."""

    error: Exception

    def warning(self, report: str, without: str = "The trace is shown plain: its explanation") -> str:
        """Return the line that says what is shown `without` it; `report` says how to report it: "it with FILE"."""
        return f"{self.sentence(without)} Please report {report}"

    def sentence(self, what: str) -> str:
        """Return the sentence that `what` failed, with the error."""
        return f"{what} failed with {reason_text(self.error)} (a mistake in kmc, not in your spec)."

    @property
    def text(self) -> str:
        """All that a report needs: the traceback."""
        return "".join(traceback.format_exception(self.error)).rstrip() + "\n"


def reason_text(error: BaseException) -> str:
    """Return the class of an unexpected error and its first line: `TypeError: unhashable type`."""
    try:
        said = str(error).strip().splitlines()
    except Exception:  # a mistake in the error itself
        said = []
    return f"{type(error).__name__}{f': {said[0][:_REASON_MAX]}' if said else ''}"


def try_explaining(explain: Callable[[], _Told], passing: tuple[type[Exception], ...] = ()) -> _Told | Unexplained:
    """Return what `explain` returns, or the error that ended it. It must return finished values, not iterators.

    Errors of the classes `passing` pass: there they are answers.
    """
    try:
        told = explain()
        if isinstance(told, Iterator):
            raise TypeError("an explanation is made whole, inside of its boundary")
    except passing:
        raise
    except Exception as error:  # the one place where any error of an explanation ends
        if os.environ.get(ERRORS_VARIABLE) == "raise":
            raise
        return Unexplained(error)
    return told
