"""What a check says of a construct that the compiler refuses. If it is a mistake, the interpreter explains it better.

The compiler sees types where the interpreter sees values. For a member of the wrong Enum, the compiler reports an
unsupported value, and the interpreter a value outside its domain. An author who is sent to the interpreter should not
fail there again.
"""

from __future__ import annotations

from typing import Any

from kmc.compiler.view_order import fingerprint_order
from kmc.errors import SpecError
from kmc.reference.search import Search
from kmc.result import Limits, Result
from kmc.spec.model import Model

# Enough to find a mistake in the first actions that fire, and quickly done.
_STATES = 1_000
_SECONDS = 3.0

INTERPRETER_TAKES_IT = "the interpreter accepts it, and its counts are the same: add --engine python"


def result_instead(model: Model, start: Any, refused: SpecError) -> Result:
    """The interpreter's result, if a mistake shows in its first states, with the trace to it.

    Raises the interpreter's error if there are no initial states; else `refused`, noting that the interpreter works.
    """
    limits = Limits(None, _STATES, _SECONDS, None)
    result = Search(model, limits, start=start, view_order=fingerprint_order).run()
    if result.violation is None or result.violation.error is None:
        raise refused.noting(INTERPRETER_TAKES_IT)
    return result
