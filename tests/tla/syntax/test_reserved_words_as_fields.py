r"""Fields of records whose names are reserved words of TLA+, as in `message.NEW`, which SANY takes."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.modules.three_ways import check_ways

from kmc.errors import SpecError
from kmc.tla.syntax.modules import parse_expression_text

MODULE = r"""---- MODULE Protocol ----
EXTENDS Integers
VARIABLE x
Init == x = [STATE |-> 1, by |-> [NEW |-> 2, SF_ |-> 0]]
Next == x' = [x EXCEPT !.STATE = (@ + x.by.NEW) % 5, !.by.NEW = (x.STATE % 3) + 1]
Typed == x.STATE \in 0..4 /\ x.by \in [NEW : 1..3, SF_ : {x.by.SF_}]
====
"""


def test_a_field_may_have_a_reserved_word_as_its_name(tmp_path: Path) -> None:
    checked = check_ways(tmp_path, MODULE, "INIT Init\nNEXT Next\nINVARIANT Typed\n")
    assert (checked.differences(), checked.is_refused) == ([], False)
    assert [checked.module[key] for key in ("generated", "distinct", "depth")] == [7, 6, 6]


@pytest.mark.parametrize("text", ["STATE", "[STATE EXCEPT ![1] = 2]", "r.(x)", "[IF |-> ]", "WF_"])
def test_a_reserved_word_has_no_value(text: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse_expression_text(text)
    assert caught.value.code == "KMC001"
