"""The compiled insertions read a line once: the same load is compared with the fingerprint and with 0.

Two loads would be wrong, as the mutants `line_is_read_twice` and `wide_line_is_read_twice` of the spec
`fingerprint_table` show: a fingerprint could get two slots, and its state be explored twice.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from llvmlite import binding as llvm

from kmc.engine.loops import expand, storage
from kmc.engine.native.specialization import Specialization
from kmc.engine.native.translate import llvm_text
from kmc.runtime.native_module import Target, host_target, target_machine
from kmc.runtime.object_code import _optimise

LINE = "<8 x i64>"
WIDTHS = {"x86-64-v2": 4, "x86-64-v3": 2, "x86-64-v4": 1}
"""The loads that a line takes on processors with 128, 256 and 512 bits in a register."""


def parsed(text: str, cpu: str | None = None) -> tuple[llvm.ModuleRef, llvm.TargetMachine]:
    """A module for this machine, or for a processor with the same instruction set, and the code generator for that."""
    target = host_target() if cpu is None else Target(host_target().triple, cpu, "")
    machine = target_machine(target)
    module = llvm.parse_assembly(text)
    module.data_layout = str(machine.target_data)
    return module, machine


def optimised(text: str, cpu: str | None = None) -> tuple[llvm.ModuleRef, llvm.TargetMachine]:
    """A module as `emit_object` makes code of it."""
    module, machine = parsed(text, cpu)
    _optimise(module, machine)
    return module, machine


def loads_behind(text: str, value: str) -> set[str]:
    """The loads of lines that a value may be, through all phis."""
    found, seen, left = set(), set(), [value]
    while left:
        name = left.pop()
        if name in seen:
            continue
        seen.add(name)
        made = re.search(rf"^ *{re.escape(name)} = (.*)$", text, re.MULTILINE)
        assert made is not None, name
        if made[1].startswith((f"load {LINE}", f"load volatile {LINE}")):
            found.add(name)
        elif made[1].startswith(f"phi {LINE}"):
            left += re.findall(r'\[ (%[\w."]+),', made[1])
        else:
            raise AssertionError(made[1])
    return found


def compared_lines(module: llvm.ModuleRef) -> tuple[set[str], set[str]]:
    """The loads of lines that are compared with a word, and those that are compared with 0."""
    (text,) = (str(function) for function in module.functions if LINE in str(function))
    with_word: set[str] = set()
    with_zero: set[str] = set()
    for line, other in re.findall(rf'icmp eq {re.escape(LINE)} (%[\w."]+), (\S+)', text):
        (with_zero if other == "zeroinitializer" else with_word).update(loads_behind(text, line))
    return with_word, with_zero


INSERTIONS: list[Any] = [
    pytest.param(storage.admit, Specialization(), id="admit"),
    pytest.param(storage.admit_wide, Specialization(wide=True), id="admit_wide"),
    pytest.param(expand.work, Specialization(), id="work"),
    pytest.param(expand.work, Specialization(edges=True), id="work_edges"),
    pytest.param(expand.work, Specialization(wide=True), id="work_wide"),
    pytest.param(expand.work, Specialization(sharded=True), id="work_sharded"),
]
"""The loops that insert into a table while other threads do."""


@pytest.mark.slow
@pytest.mark.parametrize(("loop", "specialization"), INSERTIONS)
def test_a_line_is_compared_with_0_as_it_was_compared_with_the_word(
    loop: Callable[..., int], specialization: Specialization
) -> None:
    module, _ = optimised(llvm_text(loop, "loop", specialization.values))
    with_word, with_zero = compared_lines(module)
    assert with_word == with_zero != set()


def test_two_loads_of_a_line_are_told_apart() -> None:
    # Volatile loads are never merged.
    text = llvm_text(storage.admit, "loop", Specialization().values)
    module, _ = optimised(text.replace(f"load {LINE}", f"load volatile {LINE}"))
    with_word, with_zero = compared_lines(module)
    assert with_word
    assert with_zero
    assert with_word.isdisjoint(with_zero)


@pytest.mark.slow
@pytest.mark.parametrize("cpu", WIDTHS if host_target().triple.startswith("x86_64") else ())
def test_code_for_any_register_width_loads_each_part_of_a_line_once(cpu: str) -> None:
    module, machine = optimised(llvm_text(storage.admit_wide, "loop", Specialization(wide=True).values), cpu)
    assert len(re.findall(r"\tv?mov[da][^\t]*\t\S*\([^)]*\), %[xyz]mm", machine.emit_assembly(module))) == WIDTHS[cpu]
