"""`kmc.check` gives the result of `kmc check`, on both engines, whatever way a check ends."""

from __future__ import annotations

import json
import signal
import threading
import traceback
from pathlib import Path
from typing import Any

import pytest
from support.commands.cli_runner import COUNTER, check_json

import kmc
from kmc.errors import CommandLineError, KmcError, ModelError, SpecError
from kmc.result import Counters

VARYING = {"seconds", "cpu_seconds", "compile_seconds", "peak_memory_bytes", "trace_file"}
"""What differs from run to run, or is a file that only the command line writes."""

COUNTER_MODELS = (
    *("smoke", "wrong", "deadlock", "initial", "step", "temporal"),
    *("assertion", "overflow", "bounded", "bounded_wrong", "constrained", "two"),
)


def steady_figures(found: dict[str, Any]) -> dict[str, Any]:
    """The object of a check without what differs from run to run."""
    assert found.keys() >= VARYING
    return {key: value for key, value in found.items() if key not in VARYING}


def assert_same_as_command_line(spec: str, model: str, engine: str) -> None:
    """The Python API and the command line agree on a model."""
    told = check_json(spec, model, "--engine", engine)
    result = kmc.check(spec, model, engine=engine)
    assert steady_figures(result.to_dict()) == steady_figures(told)
    assert json.loads(result.to_json()) == result.to_dict()


@pytest.mark.parametrize("model", COUNTER_MODELS)
def test_the_result_is_that_of_the_command_line_on_the_interpreter(model: str) -> None:
    assert_same_as_command_line(COUNTER, model, "python")


@pytest.mark.slow
@pytest.mark.parametrize(("spec", "model"), [("kraft", "restarts"), (COUNTER, "temporal"), (COUNTER, "overflow")])
def test_the_result_is_that_of_the_command_line_on_the_native_engine(spec: str, model: str) -> None:
    assert_same_as_command_line(spec, model, "native")


def test_what_is_changed_in_python_is_what_options_change() -> None:
    told = check_json(
        COUNTER, "smoke", "--max-depth", "2", "--deadlock", "--engine", "python", "--set", "AssertBelow=2"
    )
    spec = kmc.load(COUNTER, "smoke", AssertBelow=2)
    result = kmc.check(spec, max_depth=2, deadlock=True, engine="python")
    found = result.to_dict()
    # Each face calls options as the person who gave them does.
    assert told.pop("unexpected") == [
        "The result is not compared: --set and --max-depth and --deadlock made this another check."
    ]
    assert found.pop("unexpected") == [
        "The result is not compared: constants and max_depth and deadlock=True made this another check."
    ]
    assert steady_figures(found) == steady_figures(told)
    assert (result.verdict, result.depth, result.ok, result.differences) == ("bound reached", 2, False, None)


def test_properties_take_the_place_of_those_of_the_model() -> None:
    result = kmc.check(COUNTER, "two", properties=["NeverToTwo", "InRange"], engine="python")
    assert result.properties == {"InRange": "holds", "NeverToTwo": "violated"}
    assert (result.violated, result.exit_status) == ("NeverToTwo", 13)


def test_a_check_may_start_in_any_state() -> None:
    spec = kmc.load(COUNTER, "smoke")
    (first,) = kmc.initial_states(spec)
    later = kmc.successors(spec, kmc.successors(spec, first)[0].state)[0].state
    assert kmc.check(spec, start=later, engine="python").distinct == 2


@pytest.mark.slow
def test_ctrl_c_ends_a_check_with_keyboard_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    import kmc.engine.search.level_search as search

    monkeypatch.setattr(search, "PROGRESS_SECONDS", 0.0)

    def interrupt(counters: Counters) -> None:
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        kmc.check("kraft", "corrected_whole", progress=interrupt, timeout=600, memory="4G")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.slow
def test_checks_in_threads_have_their_own_results() -> None:
    found: dict[str, int] = {}

    def check(model: str) -> None:
        found[model] = kmc.check("kraft", model, progress=lambda counters: None).distinct

    threads = [threading.Thread(target=check, args=(model,)) for model in ("smoke", "restarts")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {"smoke": 10468, "restarts": 352}


@pytest.mark.parametrize(
    "wrong",
    [
        {"engine": "nativ"},
        {"threads": 0},
        {"threads": True},
        {"max_depth": 0},
        {"max_states": "many"},
        {"timeout": 0},
        {"timeout": "soon"},
        {"memory": "8 apples"},
        {"memory": 0.5},
        {"fingerprint_bits": 96},
        {"deadlock": "no"},
        {"properties": "InRange"},
        {"properties": [3]},
        {"progress": True},
    ],
)
def test_an_argument_that_cannot_be_is_refused_by_its_name(wrong: dict[str, Any]) -> None:
    with pytest.raises(CommandLineError) as caught:
        kmc.check(COUNTER, "smoke", **wrong)
    assert caught.value.code == "KMC690"
    assert caught.value.message.startswith(f"{next(iter(wrong))} is ")


def test_durations_and_sizes_are_those_of_the_command_line() -> None:
    result = kmc.check(COUNTER, "smoke", timeout="10m", memory="4.5G", engine="python")
    assert result.ok


@pytest.mark.parametrize("engine", ["native", "python"])
def test_a_limit_of_memory_that_is_too_low_is_refused(engine: str) -> None:
    with pytest.raises(CommandLineError) as caught:
        kmc.check(COUNTER, "smoke", memory="1K", engine=engine)
    assert caught.value.code == "KMC636"


def test_an_error_shows_its_line_and_its_help_in_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "spec.py").write_text("import os\n", encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        kmc.check(tmp_path)
    (note,) = caught.value.__notes__
    assert "1 | import os" in note
    assert "= help: " in note


def test_a_traceback_of_a_mistake_ends_at_the_callers_line() -> None:
    with pytest.raises(KmcError) as caught:
        kmc.evaluate(kmc.load(COUNTER, "smoke"), "st.nothing", kmc.initial_states(kmc.load(COUNTER, "smoke"))[0])
    _, entry = (frame.name for frame in traceback.extract_tb(caught.value.__traceback__))
    assert entry == "explaining"
    inner = caught.tb.tb_next
    assert inner is not None
    assert inner.tb_frame.f_locals["__tracebackhide__"]
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)


def test_initial_states_outside_of_a_constraint_are_one_warning(tmp_path: Path) -> None:
    text = Path(COUNTER, "spec.py").read_text(encoding="utf-8")
    (tmp_path / "spec.py").write_text(f"{text}\n\n@spec.constraint\ndef Never(st):\n    return False\n", "utf-8")
    model = tmp_path / "never.cfg"
    model.write_text("CONSTRAINT Never\nCHECK_DEADLOCK FALSE\n", encoding="utf-8")
    result = kmc.check(tmp_path, str(model), engine="python")
    assert result.warnings == ("All initial states are outside of Never, so nothing was explored.",)


def test_an_unknown_property_or_model_is_an_error_with_a_near_miss() -> None:
    with pytest.raises(ModelError) as caught:
        kmc.check(COUNTER, "smoke", properties=["InRnge"])
    assert (caught.value.code, caught.value.help) == ("KMC346", "did you mean 'InRange'?")
    with pytest.raises(ModelError) as caught:
        kmc.check(COUNTER, "smok")
    assert caught.value.code == "KMC349"
