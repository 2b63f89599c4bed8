r"""Operators that a `.cfg` file replaces by their signs, and an operator that an instance has before it is defined."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.modules.three_ways import check_ways

from kmc.errors import ModelError
from kmc.model_files.cfg import parse_cfg

SIGNS = r"""---- MODULE Protocol ----
EXTENDS Naturals
CONSTANTS _++_, Add(_, _)
VARIABLE x
Mix(a, b) == (2 * a + b) % 7
Half(a, b) == a - (a % b)
Init == x = 0
Next == x' = x ++ 3 \/ x' = Add(x, 1) % 7 \/ x' = x ^ 2
====
"""

UNTIL_ZERO = r"""---- MODULE Protocol ----
EXTENDS Naturals
VARIABLE x
RECURSIVE Total(_)
Of(n) == INSTANCE Part WITH Below <- Total, top <- n
Total(n) == IF n = 0 THEN 0 ELSE n + Of(n - 1)!Rest
Init == x = 1
Next == x' = Total(x) % 5 \/ x' = (x + 1) % 5
====
"""

PART = r"""---- MODULE Part ----
CONSTANTS Below(_), top
Rest == Below(top)
====
"""


def test_a_file_replaces_operators_by_their_signs(tmp_path: Path) -> None:
    checked = check_ways(tmp_path, SIGNS, "INIT Init\nNEXT Next\nCONSTANTS ++ <- Mix Add <- + ^<-Half\n")
    assert checked.differences() == []
    assert [checked.module[key] for key in ("generated", "distinct", "depth")] == [22, 7, 4]


@pytest.mark.parametrize(
    "text", ["CONSTANT x = +", "INIT Init ++ NEXT Next", "CONSTANT x = 3 # three", "INVARIANT + <- a"]
)
def test_a_sign_elsewhere_is_an_error(text: str) -> None:
    with pytest.raises(ModelError) as caught:
        parse_cfg(text, "M.cfg", for_module=True)
    assert caught.value.code in ("KMC302", "KMC303", "KMC309")


def test_an_instance_has_an_operator_before_it_is_defined(tmp_path: Path) -> None:
    (tmp_path / "Part.tla").write_text(PART)
    checked = check_ways(tmp_path, UNTIL_ZERO, "INIT Init\nNEXT Next\n")
    assert checked.differences() == []
    assert [checked.module[key] for key in ("generated", "distinct", "depth")] == [11, 5, 5]
