"""What to say of a construct that the compiler refuses: it may be a mistake, and then the interpreter knows which.

The compiler sees types where the interpreter sees values. A member of the wrong Enum is to the one a value that it does
not take, to the other a value outside a domain; an author who is sent to the interpreter should not fail there again.
"""

from __future__ import annotations

from typing import Any

from kmc.compiler.view_order import fingerprint_order
from kmc.errors import KmcError, SpecError
from kmc.reference.search import Search
from kmc.result import Limits
from kmc.spec.model import Model

# Enough to meet a mistake in what fires early, and over before anybody wonders.
_STATES = 1_000
_SECONDS = 3.0


def refusal(model: Model, start: Any, refused: SpecError) -> KmcError:
    """The interpreter's error if it meets one in its first states; else `refused`, with a note that it takes this."""
    try:
        limits = Limits(None, _STATES, _SECONDS, None)
        violation = Search(model, limits, start=start, view_order=fingerprint_order).run().violation
    except KmcError as error:
        return error
    if violation is None or violation.error is None:
        return refused.noting("the interpreter takes it: add --engine python")
    return violation.error.noting("--engine python shows the behavior up to this point")
