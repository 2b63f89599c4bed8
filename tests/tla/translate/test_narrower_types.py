r"""Types that compiled code can keep: what `\cap` and `\` leave, keys that are sets, functions over a DOMAIN."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.modules.agreement import pair_of

import kmc

CONFIGURATION = """
INIT Init
NEXT Next
CONSTANTS Any = Any
          v1 = v1
          v2 = v2
CHECK_DEADLOCK FALSE
"""
MODULE = r"""---- MODULE Pairs ----
EXTENDS Naturals, Sequences, FiniteSets
CONSTANTS Any, v1, v2
VARIABLES log, pending, acked, up
Servers == 1..4
Links == {s \in SUBSET Servers : Cardinality(s) = 2}
Init == /\ log = <<[kind |-> "members", value |-> [id |-> 1, members |-> Servers]]>>
        /\ pending = [s \in Servers |-> {}]
        /\ acked = {}
        /\ up = [l \in Links |-> TRUE]
Values(n) == {log[i].value : i \in 1..n}
Write(s, v) == /\ Len(log) < 3 /\ v \notin acked
               /\ log' = Append(log, [kind |-> "write", value |-> v])
               /\ pending' = [pending EXCEPT ![s] = @ \union {v}]
               /\ UNCHANGED <<acked, up>>
Commit(s) == LET now == pending[s] \cap Values(Len(log))
             IN /\ now # {}
                /\ pending' = [pending EXCEPT ![s] = @ \ Values(Len(log))]
                /\ acked' = acked \union now
                /\ UNCHANGED <<log, up>>
Matches(s, limit) == limit = Any \/ (limit # Any /\ s < limit)
Cut(s, limit) == /\ Matches(s, limit) /\ \E l \in Links : up[l]
                 /\ up' = [l \in DOMAIN up |-> IF s \in l THEN FALSE ELSE up[l]]
                 /\ UNCHANGED <<log, pending, acked>>
Next == \/ \E s \in {1, 2}, v \in {v1, v2} : Write(s, v)
        \/ \E s \in Servers : Commit(s)
        \/ \E s \in Servers : Cut(s, Any) \/ Cut(s, 3)
====
"""


@pytest.fixture
def module(tmp_path: Path) -> Path:
    (tmp_path / "Pairs.tla").write_text(MODULE, "utf-8")
    (tmp_path / "Pairs.cfg").write_text(CONFIGURATION, "utf-8")
    return tmp_path / "Pairs.tla"


def test_compiled_code_counts_as_the_module_does(module: Path) -> None:
    native, interpreted = (kmc.check_module(module, engine=engine) for engine in ("native", "python"))
    assert native.generated_by_action == interpreted.generated_by_action
    assert (native.generated, native.distinct, native.depth) == (
        interpreted.generated,
        interpreted.distinct,
        interpreted.depth,
    )


def test_types_are_as_wide_as_the_values(tmp_path: Path) -> None:
    text = pair_of(tmp_path, MODULE, CONFIGURATION).translated.folder.files["spec.py"]
    assert [line.strip() for line in text.partition("class State(")[2].splitlines()[1:5]] == [
        "log: Seq[KindValue, 3]",
        "pending: Map[Int(1, 4), Set[Atom]]",
        "acked: Set[Atom]",
        "up: PartialMap[Set[Int(1, 4)], Bool]",
    ]


def test_a_guard_that_is_never_true_has_no_steps(tmp_path: Path) -> None:
    text = pair_of(tmp_path, MODULE.replace("Cut(s, 3)", "Cut(s, 1)"), CONFIGURATION).translated.folder.files["spec.py"]
    assert "if False" not in text


def test_an_error_in_the_first_state_is_shown_though_no_log_was_seen_to_grow(module: Path) -> None:
    module.write_text(MODULE.replace("(limit # Any /\\ s < limit)", "s < limit"), "utf-8")
    native, interpreted = (kmc.check_module(module, engine=engine) for engine in ("native", "python"))
    assert str(native.error) == str(interpreted.error)
    assert "'<' needs numbers" in str(native.error)
    assert len(native.counterexample) == len(interpreted.counterexample) == 1
