"""A state is shown with its verdicts when kmc cannot say why one of them fails."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.faults.planted import PlantedMistake, failing, functions_of
from support.specs.small import COUNTER, model_of
from support.views.exploring import do, session_of

from kmc.explorer.shown import view_of
from kmc.unexplained import ERRORS_VARIABLE


def test_a_mistake_in_why_costs_the_reason_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = session_of(model_of(tmp_path, COUNTER, "INVARIANT BelowTwo"))
    for _ in range(2):
        do(session, "take", at=session.tree.at, move=0)
    expected = view_of(session)
    with failing(functions_of("kmc.story")["kmc.story.explain.why:why_fails"]):
        with pytest.raises(PlantedMistake):  # in tests, no mistake is hidden
            view_of(session)
        monkeypatch.delenv(ERRORS_VARIABLE)
        shown = view_of(session)
    (verdict,) = (found for found in shown["verdicts"] if found["outcome"] == "fails")
    reason = (
        "BelowTwo fails here; the explanation failed with PlantedMistake: planted (a mistake in kmc, not in your spec)."
    )
    assert verdict["why"] == {"sentence": reason, "pairs": []}
    verdict["why"] = next(found["why"] for found in expected["verdicts"] if found["outcome"] == "fails")
    assert shown == expected
