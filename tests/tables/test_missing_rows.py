"""Tables that would lack a state of the run are not written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.runs.kept import checked, kept
from support.specs.small import COUNTER, model_of

from kmc.errors import InternalError
from kmc.tables import parts


def test_a_level_with_fewer_rows_than_states_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = parts.accepted_rows

    def fewer(store: Any, files: Any) -> dict[Any, int]:
        return {segment: rows - 1 for segment, rows in counted(store, files).items()}

    model = model_of(tmp_path, COUNTER, "CHECK_DEADLOCK FALSE")
    checked(model, tmp_path)
    monkeypatch.setattr(parts, "accepted_rows", fewer)
    with kept(model, tmp_path) as (_, states), pytest.raises(InternalError, match="rows for its") as caught:
        list(parts.parts_of(states, 5))
    assert caught.value.code == "KMC929"
