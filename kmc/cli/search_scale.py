"""What the progress of a check is measured against: the manifest's count, the memory there is, the bound on levels."""

from __future__ import annotations

from kmc.cli.model_choice import ChosenModel
from kmc.cli.outcome import CheckOptions
from kmc.cli.progress_text import Scale
from kmc.process import available_bytes, memory_bytes
from kmc.reference.search import ENGINE as ENGINE_PYTHON


def scale_of(options: CheckOptions, chosen: ChosenModel) -> Scale:
    """The scale of a check; a count of the manifest applies to its own model only."""
    expected = (chosen.model.file.expect or {}).get("distinct")
    is_other = bool(chosen.changes or options.start or options.keep_going)
    depths = [depth for depth in (options.max_depth, chosen.model.max_depth) if depth is not None]
    return Scale(
        expected=expected if isinstance(expected, int) and not is_other else None,
        memory_bytes=options.memory or memory_bytes() + available_bytes(),
        max_depth=min(depths, default=None),
        fingerprint_bits=0 if options.engine == ENGINE_PYTHON else int(options.fingerprint_bits),
    )
