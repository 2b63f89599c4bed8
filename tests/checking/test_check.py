"""A check as a library: a request, an outcome, the names that a face gives its options."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from typing import Any

import pytest

from kmc.checking.check import check
from kmc.checking.model_choice import choose_bound, choose_model
from kmc.checking.request import Acceptance, CheckRequest, Engine
from kmc.checking.search_place import InMemory, InShards, SearchPlace
from kmc.checking.surroundings import Surroundings
from kmc.engine.files.run_directory import RunDirectory
from kmc.errors import CommandLineError, ExitStatus
from kmc.frontend.shipped import find_spec_root
from kmc.model_files.value_text import parse_set
from kmc.result import Bound, Counters, Limits, Verdict


def of(model: str, spec: str = "die_hard", **changes: Any) -> CheckRequest:
    """A request for a shipped model."""
    return CheckRequest(choose_model(spec, model, ()), **changes)


@pytest.mark.parametrize("engine", Engine)
def test_an_outcome_has_the_result_its_comparison_and_a_replayed_counterexample(engine: Engine) -> None:
    found = check(of("solution", engine=engine))
    assert (found.result.verdict, found.status) == (Verdict.VIOLATION, ExitStatus.SAFETY)
    assert (found.differences, found.not_compared, found.unexpected) == ((), None, ())
    assert found.example is not None
    assert found.example.violation is found.result.violation
    assert found.as_json("trace.json")["trace_file"] == "trace.json"


@pytest.mark.slow
@pytest.mark.parametrize("place", [InMemory(), InShards(3), InShards(2, processes=2)])
def test_where_a_search_holds_its_states_changes_nothing(place: SearchPlace, tmp_path: Path) -> None:
    counters: list[Counters] = []
    directory = RunDirectory.created(tmp_path, {})
    around = Surroundings(lambda: directory, progress=counters.append)
    found = check(of("smoke", "two_phase_commit", place=place), around)
    alone = check(of("smoke", "two_phase_commit"))
    directory.discard()
    assert (found.result.levels, found.status) == (alone.result.levels, ExitStatus.OK)


def test_a_cache_that_could_not_be_written_is_a_warning_of_the_check_that_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("KMC_CACHE_DIR", str(tmp_path / "file"))
    assert "Compiled code cannot be kept" in (check(of("smoke")).cache_warning or "")
    monkeypatch.setenv("KMC_CACHE_DIR", str(tmp_path / "folder"))
    assert check(of("smoke")).cache_warning is None


def test_the_acceptance_decides_the_status_and_nothing_else() -> None:
    accepted = [Acceptance(), Acceptance(bounded_ok=True), Acceptance(expect=True)]
    found = [check(of("solution", limits=Limits(states=3), acceptance=accepts)) for accepts in accepted]
    assert [outcome.result.bound for outcome in found] == [Bound.STATES] * 3
    assert [outcome.status for outcome in found] == [
        ExitStatus.BOUND_REACHED,
        ExitStatus.OK,
        ExitStatus.ASSUMPTION,
    ]


def test_a_face_names_its_options_in_every_sentence() -> None:
    def spoken(option: str, value: object = None) -> str:
        return f"<{option}>"

    chosen = choose_bound(find_spec_root("die_hard"), "solution", [parse_set("Wanted=3")])
    request = CheckRequest(chosen, keep_going=True, naming=spoken)
    assert request.changes == ("<set>", "<continue>")
    assert check(request).not_compared == "<set> and <continue> made this another check"
    with pytest.raises(CommandLineError, match="<set> and <continue> would make this another check") as caught:
        check(replace(request, acceptance=Acceptance(expect=True)))
    assert (caught.value.code, "<expect>" in str(caught.value.help)) == ("KMC624", True)


def test_a_request_that_is_refused_opens_no_directory() -> None:
    def opened() -> None:
        raise AssertionError("it was opened")

    request = of("solution", keep_going=True, acceptance=Acceptance(expect=True))
    with pytest.raises(CommandLineError):
        check(request, Surroundings(opened))


def test_a_request_does_not_change() -> None:
    request: Any = of("solution")
    with pytest.raises(FrozenInstanceError):
        request.threads = 3


def test_a_bound_on_levels_that_the_model_does_not_have_makes_another_check() -> None:
    assert of("solution", limits=Limits(depth=3)).changes == ("--max-depth",)
    assert of("solution", limits=Limits(states=3)).changes == ()
    assert CheckRequest(choose_model("die_hard", "solution", (), max_depth=3), Limits(depth=3)).changes == (
        "--max-depth",
    )
