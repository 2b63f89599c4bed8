"""Random small specs mean the same to both engines: every state, successor, hash, property and error.

Drawn by Hypothesis from `random_specs`, the same ones in every run.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import Phase, given, note, settings
from native_steps import compiled_uncached, differences, level_states
from random_specs import specs
from small_specs import IMPORTS

from kmc.lang.modelfile import parse_set
from kmc.result import Limits
from kmc.spec.model import Model, bind_all

EXAMPLES = 40
STATES = 150


def model_of(source: str, folder: Path) -> Model:
    """The source as a model with all its properties, deadlock not checked."""
    path = folder / "spec.py"
    path.write_text(IMPORTS + source, encoding="utf-8")
    return replace(bind_all(path, [parse_set("Server={s1, s2}")]), deadlock=False)


def test_a_random_spec_means_the_same_compiled() -> None:
    @settings(max_examples=EXAMPLES, derandomize=True, database=None, phases=[Phase.explicit, Phase.generate])
    @given(specs())
    def compare(source: str) -> None:
        note(source)
        with TemporaryDirectory() as folder:
            model = model_of(source, Path(folder))
            kernels = compiled_uncached(model)
            states = level_states(model, Limits(states=STATES), at_most=STATES)
            assert list(differences(kernels, states))[:3] == []

    compare()
