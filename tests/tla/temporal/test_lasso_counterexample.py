"""The counterexample of a temporal property of a module as people and programs get it: text, story, page, ITF."""

from __future__ import annotations

import json
from pathlib import Path

from support.specs.modules import module_of

from kmc.checking.modules.module_counterexample import ModuleCounterexample, module_counterexample
from kmc.checking.modules.module_search import ModuleSearch
from kmc.trace.itf import itf_text, parse_itf

MODULE = """---- MODULE Blinker ----
VARIABLE lamp
Init == lamp = "off"
On == lamp = "off" /\\ lamp' = "on"
Off == lamp = "on" /\\ lamp' = "off"
Next == On \\/ Off
Spec == Init /\\ [][Next]_lamp /\\ FAIRNESS
\\* Every lamp breaks.
Prop == <>(lamp = "broken")
====
"""


def counterexample(folder: Path, fairness: str) -> ModuleCounterexample:
    module = module_of(folder, MODULE.replace("FAIRNESS", fairness), "SPECIFICATION Spec\nPROPERTY Prop\n")
    violation = ModuleSearch(module).run().violation
    assert violation is not None
    return module_counterexample(module, violation)


def test_a_cycle_is_shown_as_tlc_shows_it_and_explained(tmp_path: Path) -> None:
    example = counterexample(tmp_path, "WF_lamp(Next)")
    told = example.explained(None, 100)
    assert told.failure is None
    assert told.page is not None
    text = [line.text for line in told.lines]
    assert text[:2] == [
        'Prop is violated: `lamp = "broken"` is true in no state. States 1 to 2 repeat for ever.',
        "  Prop:       Every lamp breaks. (Blinker.tla:9)",
    ]
    assert "  WF_lamp(Next): taken in the step to state 2" in text
    assert "Back to state 1: <Off>" in example.plain_lines()


def test_a_state_without_fairness_stutters(tmp_path: Path) -> None:
    example = counterexample(tmp_path, "TRUE")
    assert "State 2: Stuttering" in example.plain_lines()
    assert example.explained("tlc", 100).failure is None


def test_the_trace_file_says_where_the_cycle_begins(tmp_path: Path) -> None:
    example = counterexample(tmp_path, "WF_lamp(Next)")
    text = itf_text(example.file)
    assert json.loads(text)["loop"] == 0
    read = parse_itf(text)
    assert (read.loop, [step.variables["lamp"] for step in read.steps]) == (0, ["off", "on"])
