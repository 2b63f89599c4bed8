"""The result or error of a check whose spec the compiler refuses. If the construct is a mistake, the interpreter
explains it better.

The compiler sees types where the interpreter sees values. For a member of the wrong Enum, the compiler reports an
unsupported value, and the interpreter a value outside its domain. An author who is sent to the interpreter should not
fail there again.
"""

from __future__ import annotations

from kmc.compiler.view_order import fingerprint_order
from kmc.errors import SpecError
from kmc.frontend.model import Model
from kmc.lang.records import State
from kmc.reference.search import Search
from kmc.result import Limits, Result

# Enough to find a mistake in the first actions that fire, and quickly done.
_STATES = 1_000
_SECONDS = 3.0

INTERPRETER_TAKES_IT = "the interpreter accepts it, and its counts are the same"
"""The beginning of the note that says which option selects the interpreter."""


def result_instead(model: Model, start: State | None, refused: SpecError, interpreter: str) -> Result:
    """The interpreter's result, if a mistake shows in its first states, with the trace to it.

    Raises the interpreter's error if there are no initial states. Otherwise raises `refused` with a note that the
    interpreter accepts the spec, and with the option that selects it: `interpreter`.
    """
    limits = Limits(None, _STATES, _SECONDS, None)
    result = Search(model, limits, start=start, view_order=fingerprint_order).run()
    if result.violation is None or result.violation.error is None:
        raise refused.noting(f"{INTERPRETER_TAKES_IT}: add {interpreter}")
    return result
