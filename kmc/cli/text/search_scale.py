"""The scale of a check's progress: the manifest's count, the memory of the machine, the bound on levels."""

from __future__ import annotations

from kmc.checking.request import CheckRequest, Engine
from kmc.cli.text.progress_text import Scale
from kmc.process import available_bytes, memory_bytes


def scale_of(request: CheckRequest) -> Scale:
    """The scale of a check; a count of the manifest applies to its own model only."""
    return Scale(
        expected=request.expected_states,
        memory_bytes=request.limits.memory_bytes or memory_bytes() + available_bytes(),
        max_depth=request.max_depth,
        fingerprint_bits=0 if request.engine is Engine.PYTHON else request.fingerprint_bits,
    )
