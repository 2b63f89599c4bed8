"""Random formulas of small modules: the verdict and the length of the lasso are those of a search of all lassos."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from support.drawing.module_formulas import ModuleFormulas, drawn_module
from support.oracles.module_lassos import least_refutation
from support.specs.modules import result_of

from kmc.errors import SpecError
from kmc.liveness.formulas import And

LONGEST = 6
CFG = "SPECIFICATION Spec\nPROPERTY Prop\n"
ALWAYS_FAIR = And(())


@pytest.mark.parametrize("seed", range(60))
def test_the_least_lasso_is_that_of_a_search_of_all(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    module = drawn_module(random, 3)
    formulas = ModuleFormulas(random, module)
    (fair_text, fairness), (text, formula) = formulas.fairness(), formulas.temporal(2)
    # Behind ~~ a formula is one check: of several, the first that fails is shown, not the least.
    is_one = random.random() < 0.7
    shown = f"seed {seed}: {fair_text} |- {text}"
    try:
        result = result_of(tmp_path, module.text(fair_text, f"~(~({text}))" if is_one else text), CFG)
    except SpecError as error:
        if error.code == "KMC706":
            return  # nested <=> has too many cases
        raise
    expected = least_refutation(module, fairness, formula, LONGEST)
    violation = result.violation
    if violation is None:
        assert expected is None, shown
    elif violation.refutation is None or violation.refutation.cycle is None:
        # A finite prefix refutes it, whether or not it has a fair continuation.
        assert least_refutation(module, ALWAYS_FAIR, formula, LONGEST) is not None, shown
    elif is_one:
        assert len(violation.trace) == expected or (expected is None and len(violation.trace) > LONGEST), shown
    else:
        assert expected is None or expected <= len(violation.trace), shown
