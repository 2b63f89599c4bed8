"""The full fingerprint of a state as the native engine computes it: it decides which state stands for its view.

Invariant: the kernel is the one that the native engine runs, written in Python; so both engines keep the same state.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kmc.compiler.ir.emit_python import emit_python
from kmc.compiler.ir.nodes import Module
from kmc.compiler.symmetry.fingerprint_kernels import identity_functions
from kmc.errors import SpecError
from kmc.lang.order import SortKey
from kmc.runtime.codec import encode_row
from kmc.runtime.state_layout import row_layout
from kmc.spec.model import Model

_PADDING = [0] * 64


def full_fingerprints(model: Model) -> Callable[[Any], SortKey] | None:
    """What the states of one view are told apart by, the least first; None where states have no layout."""
    try:
        row = row_layout(model.spec.state_class)
        module = emit_python(Module(tuple(identity_functions(model, row))))
    except SpecError:
        return None
    return lambda state: (module.call("rank", [(encode_row(state) + _PADDING, 0)]),)
