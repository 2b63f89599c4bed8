"""Random small specs mean the same to both engines: states, successors, hashes, orbits, counts, verdict and trace.

Drawn from the grammar in `support/drawing`, the same ones in every run; `make fuzz` draws others, and many. That each
construct of the language is among them is a test too: it counts what the runs show.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import Phase, given, note, seed, settings
from support.drawing.runs import CONSTRUCTS, compared
from support.drawing.specs import Drawn, specs

EXAMPLES = settings().max_examples * 2 // 5
"""40, and with `make fuzz` 800."""

SEED = 3
"""Where draws start, but for `make fuzz`: so few examples show every construct by luck only, which this is."""

SHARE_MIN = 1 / 80
"""The share of the examples that show a construct, at least."""

OF_ORDER = "a failure that depends on an order"

pytestmark = [pytest.mark.hypothesis, pytest.mark.slow]


@cache
def shown() -> Counter[str]:
    """How many random specs showed each construct; AssertionError where engines differ."""
    counts: Counter[str] = Counter()

    @settings(max_examples=EXAMPLES, phases=[Phase.explicit, Phase.reuse, Phase.generate])
    @given(specs())
    def compare(drawn: Drawn) -> None:
        note(str(drawn))
        with TemporaryDirectory() as folder:
            run = compared(drawn, Path(folder))
            if run is None:
                counts[OF_ORDER] += 1
            else:
                counts.update(construct for construct, evidence in CONSTRUCTS.items() if evidence(run))

    run = seed(SEED)(compare) if settings().derandomize else compare
    run()
    return counts


def test_a_random_spec_means_the_same_compiled() -> None:
    assert shown().total() > 0


def test_random_specs_show_every_construct(capsys: pytest.CaptureFixture[str]) -> None:
    counts = shown()
    if not settings().derandomize:
        with capsys.disabled():
            print()
            for construct in (*CONSTRUCTS, OF_ORDER):
                print(f"{counts[construct] / EXAMPLES:7.1%} {construct}")
    assert [construct for construct in (*CONSTRUCTS, OF_ORDER) if counts[construct] < SHARE_MIN * EXAMPLES] == []
