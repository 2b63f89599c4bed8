r"""Choices from `[S -> T]` whose S depends on the state, and functions on the domain of a sequence: the steps."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.modules.agreement import pair_of

from kmc.errors import EvaluationError
from kmc.tla.names.loading import load_model
from kmc.tla.shapes.observation import ObservedExtent
from kmc.tla.translate import iteration
from kmc.tla.translate.translated import translate_model

TABLES = r"""---- MODULE Tables ----
EXTENDS Integers, Sequences, FiniteSets
CONSTANTS Proc, Letter, Other
VARIABLES members, given, log, part, text
vars == <<members, given, log, part, text>>
Letters == Letter \union {Other}
Init == /\ members = {} /\ given = [p \in {} |-> 0] /\ log = <<>> /\ part = [first |-> <<>>, n |-> 0]
        /\ text = [chars |-> <<Other>>]
Join(p) == members' = members \union {p} /\ given' = [q \in {} |-> 0] /\ UNCHANGED <<log, part, text>>
Give == /\ members # {}
        /\ \E f \in {g \in [members -> 0..1] : \E p \in members : g[p] = 1} :
             /\ given' = f
             /\ log' = IF Len(log) < 2 THEN Append(log, Cardinality(DOMAIN f)) ELSE <<>>
        /\ UNCHANGED <<members, part, text>>
Fill == members = {} /\ \E n \in 0..2 : \E s \in [1..n -> 1..2] :
        /\ part' \in [first : [1..Len(log) -> BOOLEAN], n : {n}]
        /\ log' = IF n = 0 THEN log ELSE s
        /\ UNCHANGED <<members, given, text>>
Shuffle == /\ log # <<>>
           /\ log' \in {[i \in DOMAIN log |-> log[f[i]]] :
                        f \in {g \in [DOMAIN log -> DOMAIN log] : \A i \in DOMAIN log : \E j \in DOMAIN log : g[j] = i}}
           /\ UNCHANGED <<members, given, part, text>>
Write == /\ members = {} /\ log = <<>>
         /\ \E new \in [chars : [1..2 -> Letters]] : text' = new
         /\ UNCHANGED <<members, given, log, part>>
Next == Give \/ Fill \/ Shuffle \/ Write \/ \E p \in Proc : Join(p)
Kinds == /\ \E g \in [members -> 0..1] : DOMAIN given # {} => given = g
         /\ Len(part.first) < 3 /\ \E s \in [1..Len(text.chars) -> Letters] : text.chars = s
         /\ <<1, 2>>[1 + Len(log) \div 2] < 3
         /\ \A s \in [1..(0 - 1) -> 1..2] : s = <<>>
====
"""
CONFIGURATION = "CONSTANTS Proc = {a, b} Letter = {x, y} Other = Other\nINIT Init\nNEXT Next\nINVARIANT Kinds\n"
STATES = 60


def test_functions_on_a_set_of_the_state_have_the_steps_of_the_module(tmp_path: Path) -> None:
    tables = pair_of(tmp_path, TABLES, CONFIGURATION)
    assert tables.differences(STATES) == []
    spec = tables.translated.folder.files["spec.py"]
    assert "in functions(st.members" in spec
    assert "in sequences(" in spec


def test_a_symmetric_type_is_chosen_from_whole(tmp_path: Path) -> None:
    module = TABLES.replace("FiniteSets", "FiniteSets, TLC").replace("====\n", "Perms == Permutations(Letter)\n====\n")
    tables = pair_of(tmp_path, module, CONFIGURATION + "SYMMETRY Perms\n")
    assert "set(Letter) | {Atom.OTHER}" in tables.translated.folder.files["spec.py"]
    assert tables.differences(5) == []


def test_sequences_that_are_too_short_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(iteration, "max", lambda *_: 1, raising=False)
    with pytest.raises(EvaluationError):
        pair_of(tmp_path, TABLES, CONFIGURATION).differences(STATES)


INTERVALS = r"""---- MODULE Intervals ----
EXTENDS Integers, FiniteSets
VARIABLES left, n
Init == left = {1..4} /\ n = 0
Cut == \E s \in left : \E k \in s : left' = (left \ {s}) \union {{i \in s : i < k}, {i \in s : i > k}}
Next == Cut /\ n' = n + 1
====
"""


def test_sets_of_sets_have_the_bounds_that_were_seen_where_wider_ones_have_too_many(tmp_path: Path) -> None:
    module = tmp_path / "Intervals.tla"
    module.write_text(INTERVALS, encoding="utf-8")
    module.with_suffix(".cfg").write_text("INIT Init\nNEXT Next\n", encoding="utf-8")
    translated = translate_model(load_model(module, module.with_suffix(".cfg")), extent=ObservedExtent(8, 8))
    assert not translated.observation.is_complete
    assert "left: Set[Set[Int(1, 4)]]" in translated.text.text


BOARD = r"""---- MODULE Board ----
EXTENDS Integers
VARIABLES cell
Pos == {<<x, y>> : x, y \in 1..2}
Init == cell \in [Pos -> BOOLEAN]
Flip == \E p \in Pos : cell' = [cell EXCEPT ![p] = ~@]
Turn == cell' = [p \in Pos |-> cell[<<p[2], p[1]>>]]
Next == Flip \/ Turn
TypeOK == cell \in [Pos -> BOOLEAN]
====
"""


def test_pairs_are_keys_of_one_kind_in_initial_states_too(tmp_path: Path) -> None:
    board = pair_of(tmp_path, BOARD, "INIT Init\nNEXT Next\nINVARIANT TypeOK\n")
    assert board.differences(STATES) == []
    assert "Map[Tuple2, Bool]" in board.translated.folder.files["spec.py"]
