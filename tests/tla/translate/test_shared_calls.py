r"""Calls that a helper of a recursion makes in several places: made once, and only where they are made in any case."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.modules.agreement import pair_of

from kmc.tla.translate import recursion
from kmc.tla.translate.shared_calls import SharedCall, shared_call

QUEUE = r"""---- MODULE Queue ----
EXTENDS Integers, Sequences
VARIABLES queue, store
Key == {"a", "b"}
Init == queue = <<>> /\ store = [k \in Key |-> 0]
After == LET f[i \in 0..Len(queue)] ==
               IF i = 0 THEN store
               ELSE IF queue[i].val = 2 THEN f[i - 1]
                    ELSE [f[i - 1] EXCEPT ![queue[i].key] = queue[i].val + (f[i - 1]["a"] % 2)]
         IN f[Len(queue)]
Put == \E k \in Key, v \in 1..2 : queue' = Append(queue, [key |-> k, val |-> v]) /\ UNCHANGED store
Take == queue # <<>> /\ queue' = Tail(queue) /\ store' = [store EXCEPT ![Head(queue).key] = After["b"] % 4]
Next == (Len(queue) < 5 /\ Put) \/ Take
Same == After \in [Key -> 0..5]
====
"""
CONFIGURATION = "INIT Init\nNEXT Next\nINVARIANT Same\n"
STATES = 400


def shared(body: str, *parameters: str) -> SharedCall | None:
    """Share the calls of a body."""
    return shared_call(body, "<n>", "f_<n>", "g_<n>", parameters)


def test_a_recursion_that_calls_itself_in_both_branches_has_the_steps_of_its_module(tmp_path: Path) -> None:
    queue = pair_of(tmp_path, QUEUE, CONFIGURATION)
    assert queue.differences(STATES) == []
    spec = queue.translated.folder.files["spec.py"]
    assert spec.partition("def f_level_3(")[2].partition("def ")[0].count("f_level_2(") == 1


def test_a_call_that_is_made_too_early_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def of_everything(body: str, level: str, callee: str, helper: str, parameters: list[str]) -> SharedCall | None:
        call = "f_level_<level>(st, i_1 - 1)"
        given = f"{helper}({', '.join([*parameters, call])})"
        return SharedCall(given, body.replace(call, "value_before"))

    monkeypatch.setattr(recursion, "shared_call", of_everything)
    with pytest.raises(Exception, match="KMC2"):
        pair_of(tmp_path, QUEUE, CONFIGURATION).differences(STATES)


@pytest.mark.parametrize(
    ("body", "outer", "inner"),
    [
        ("(a if f_<n>(x) else f_<n>(x))", "(g_<n>(x, f_<n>(x)))", "(a if value_before else value_before)"),
        ("(0 if x == 0 else f_<n>(x - 1) + f_<n>(x - 1))", "(0 if x == 0 else g_<n>(x, f_<n>(x - 1)))", None),
        ("(f_<n>(x) and f_<n>(x))", "(g_<n>(x, f_<n>(x)))", "(value_before and value_before)"),
    ],
)
def test_calls_are_shared_where_all_of_them_are_certain(body: str, outer: str, inner: str | None) -> None:
    found = shared(body, "x")
    assert found is not None
    assert found.outer == outer
    assert inner is None or found.inner == inner


@pytest.mark.parametrize(
    "body",
    [
        "(f_<n>(x) if x else 0)",
        "(f_<n>(x) if x else f_<n>(x - 1))",
        "(x or f_<n>(x) or f_<n>(x))",
        "all(f_<n>(y) == f_<n>(y) for y in x)",
        "{k: f_<n>(x) if k else f_<n>(x) for k in x}",
        "fold(lambda s, e: f_<n>(x) + f_<n>(x), 0, x)",
    ],
)
def test_calls_that_may_not_be_made_are_not_shared(body: str) -> None:
    assert shared(body, "x") is None
