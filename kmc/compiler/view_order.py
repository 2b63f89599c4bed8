"""The order of the states of one view: the state with the least full fingerprint is the one that is expanded.

Invariant: the fingerprint is that of the kernel `rank` which the native engine runs, emitted as Python. So the
interpreter, which gets this order, expands the same states.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kmc.compiler.ir.emit_python import emit_python
from kmc.compiler.ir.nodes import Module
from kmc.compiler.symmetry.fingerprint_kernels import identity_functions
from kmc.errors import SpecError
from kmc.frontend.model import Model
from kmc.lang.assumed_range import AssumedRangeLeft
from kmc.lang.order import SortKey, sort_key
from kmc.runtime.codec import encode_row
from kmc.runtime.state_layout import row_layout

_PADDING = [0] * 64


def fingerprint_order(model: Model) -> Callable[[Any], SortKey] | None:
    """The full fingerprint of each state of a model with a view; None if the model cannot be compiled."""
    try:
        row = row_layout(model.spec.state_class)
        module = emit_python(Module(tuple(identity_functions(model, row))))
    except SpecError:
        return None

    def key(state: Any) -> SortKey:
        try:
            return 0, module.call("rank", [(encode_row(state) + _PADDING, 0)])
        except AssumedRangeLeft as left:
            if not left.members:
                raise
            return 1, sort_key(state)  # a set that the native engine refuses (KMC808)

    return key
