"""The error for a construct that the compiler refuses. If it is a mistake, the interpreter's error explains it better.

The compiler sees types where the interpreter sees values. For a member of the wrong Enum, the compiler reports an
unsupported value, and the interpreter a value outside its domain. An author who is sent to the interpreter should not
fail there again.
"""

from __future__ import annotations

from typing import Any

from kmc.compiler.view_order import fingerprint_order
from kmc.errors import KmcError, SpecError
from kmc.reference.search import Search
from kmc.result import Limits
from kmc.spec.model import Model

# Enough to find a mistake in the first actions that fire, and quickly done.
_STATES = 1_000
_SECONDS = 3.0

INTERPRETER_TAKES_IT = "the interpreter accepts it: add --engine python"


def refusal(model: Model, start: Any, refused: SpecError) -> KmcError:
    """The interpreter's error, if one occurs in its first states; else `refused`, noting that the interpreter works."""
    try:
        limits = Limits(None, _STATES, _SECONDS, None)
        violation = Search(model, limits, start=start, view_order=fingerprint_order).run().violation
    except KmcError as error:
        return error
    if violation is None or violation.error is None:
        return refused.noting(INTERPRETER_TAKES_IT)
    return violation.error.noting("--engine python shows the behavior up to this point")
