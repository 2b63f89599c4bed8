r"""The code of an expression that is read at many places is written once: the same code as if it were written anew."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from support.modules.agreement import pair_of

from kmc.tla.translate.formatting import formatted
from kmc.tla.translate.translation import Translation

CONFIGURATION = "CONSTANTS Node = {a, b}\nINIT Init\nNEXT Next\nINVARIANT Known\nCHECK_DEADLOCK FALSE\n"
MODULE = r"""---- MODULE Reads ----
EXTENDS Naturals, Sequences, FiniteSets
CONSTANTS Node
VARIABLES log, msgs
Init == log = [n \in Node |-> <<>>] /\ msgs = {}
Put(n) == /\ Len(log[n]) < 2
          /\ \E v \in 1..2 : log' = [log EXCEPT ![n] = Append(@, v)]
          /\ UNCHANGED msgs
Tell(n) == LET last == log[n][Len(log[n])]
               m == IF Len(log[n]) = 0 THEN [kind |-> "none", from |-> n]
                    ELSE [kind |-> "set", from |-> n, value |-> last, sum |-> last + last]
           IN /\ Cardinality(msgs) < 2
              /\ msgs' = msgs \union {m}
              /\ UNCHANGED log
Take == \E m \in msgs :
          LET worth == m.value
              size == IF m.kind = "set" THEN worth + m.sum ELSE 0
              least == CHOOSE i \in 1..9 : i > size /\ \A j \in 1..9 : j > size => i <= j
          IN /\ msgs' = msgs \ {m}
             /\ m.kind # "none" => worth > 0
             /\ log' = IF m.kind = "set" THEN [log EXCEPT ![m.from] = IF least > 4 THEN <<1>> ELSE <<2, size % 2>>]
                       ELSE [log EXCEPT ![m.from] = IF least = 1 THEN <<2>> ELSE <<>>]
Next == Take \/ \E n \in Node : Put(n) \/ Tell(n)
Known == \A m \in msgs : m.kind = "set" => m.sum = 2 * m.value
====
"""
DIFFERING = r"""---- MODULE Differing ----
EXTENDS Naturals
VARIABLES msgs, x, y
Init == msgs = {} /\ x = 0 /\ y = 0
Send == /\ msgs' \in {{[kind |-> "count", v |-> 1]}, {[kind |-> "name", v |-> "one", to |-> 1]},
                      {[kind |-> "count", v |-> 2], [kind |-> "name", v |-> "two", to |-> 2]}}
        /\ UNCHANGED <<x, y>>
Twice(of) == LET twice == of * 2 IN (y' = 1 \/ y' = 2 \/ y' = x) /\ x' = twice /\ UNCHANGED msgs
Take == \E m \in msgs :
          /\ x' = LET v == m.v IN IF m.kind = "name" THEN (IF v = "one" THEN 1 ELSE 2)
                                  ELSE IF m.kind = "count" THEN v + v ELSE 0
          /\ UNCHANGED <<msgs, y>>
Next == Send \/ Take \/ Twice(y')
Known == \A m \in msgs : LET v == m.v IN
           (m.kind = "count" /\ v < 2) \/ (m.kind = "name" /\ v = "one") \/ (m.kind = "count" /\ v + v < 3)
====
"""
_LOCAL = re.compile(r"_+\d+\b")


def _configured(module: str) -> str:
    return CONFIGURATION if module == MODULE else CONFIGURATION.partition("\n")[2]


def written(folder: Path, module: str = MODULE) -> str:
    """Return the text of the translation without the numbers of its locals and without its breaks."""
    text = pair_of(folder, module, _configured(module)).translated.text.text
    return " ".join(_LOCAL.sub("", text).split())


def test_a_code_that_is_read_again_is_the_code_that_is_written_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    once = written(tmp_path / "once")
    monkeypatch.setattr(Translation, "_known_codes", lambda self, node, scope: {})
    assert written(tmp_path / "anew") == once


def test_a_translation_with_codes_read_again_has_the_steps_of_its_module(tmp_path: Path) -> None:
    assert pair_of(tmp_path, MODULE, CONFIGURATION).differences(300) == []


def test_classes_have_names_that_python_and_the_language_leave_free(tmp_path: Path) -> None:
    text = pair_of(tmp_path, MODULE, CONFIGURATION).translated.text.text
    assert re.findall(r"class (\w+)\(Record\)", text) == ["None_2", "Set_2", "State"]


def test_codes_that_differ_by_what_holds_or_is_assigned_are_not_read_again(tmp_path: Path) -> None:
    assert pair_of(tmp_path, DIFFERING, _configured(DIFFERING)).differences(300) == []


def test_codes_that_are_read_again_whatever_holds_there_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    once = written(tmp_path / "once", DIFFERING)
    monkeypatch.setattr(
        Translation, "_known_codes", lambda self, node, scope: self._codes.setdefault("whatever", ({}, None))[0]
    )
    assert written(tmp_path / "wrong", DIFFERING) != once


def test_a_long_statement_is_broken_into_lines_of_the_same_meaning() -> None:
    text = f"x = f({', '.join(f'g(a{index}) and (not b{index} or c{index})' for index in range(60))}, {'y' * 600})"
    lines = formatted(text, 0)
    assert len(lines) == 63
    assert ast.dump(ast.parse("\n".join(lines))) == ast.dump(ast.parse(text))
    assert [line for line in lines if len(line) > 120] == [f"    {'y' * 600},"]
