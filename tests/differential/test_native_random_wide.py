"""Random small specs whose enumeration has more members than a word has bits mean the same to both engines.

Sets of roles are masks of two words in them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import Phase, assume, given, note, seed, settings
from support.drawing.runs import compared
from support.drawing.specs import Drawn, specs

from kmc.errors import SpecError

EXAMPLES = settings().max_examples // 5
"""20, and with `make fuzz` 400."""

SEED = 7

ROLES = ("LOW", *(f"LOWER{number}" for number in range(63)), "HIGH", *(f"HIGHER{number}" for number in range(4)), "TOP")
"""The three roles that specs name, on both sides of the end of a word, among others."""


def widened(drawn: Drawn) -> Drawn:
    """A drawn spec with more roles, whose choices among subsets are those of the three."""
    source = drawn.source.replace("LOW, HIGH, TOP = range(3)", f"{', '.join(ROLES)} = range({len(ROLES)})")
    return replace(
        drawn, source=source.replace("subsets(st.roles)", "subsets(st.roles & {Role.LOW, Role.HIGH, Role.TOP})")
    )


@pytest.mark.hypothesis
@pytest.mark.slow
def test_a_random_spec_with_a_wide_enumeration_means_the_same_compiled() -> None:
    counts: Counter[str] = Counter()

    @settings(max_examples=EXAMPLES, phases=[Phase.explicit, Phase.reuse, Phase.generate])
    @given(specs())
    def compare(drawn: Drawn) -> None:
        assume("set of enums" in drawn.world.features)
        drawn = widened(drawn)
        note(str(drawn))
        with TemporaryDirectory() as folder:
            try:
                run = compared(drawn, Path(folder))
            except SpecError as error:
                counts[f"refused {error.code}"] += 1
                return
            counts["of order" if run is None else "changed" if run.changes("roles") else "the same"] += 1

    run = seed(SEED)(compare) if settings().derandomize else compare
    run()
    assert counts["changed"] > 1
