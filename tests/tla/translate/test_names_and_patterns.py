r"""Names of fields that Python or kmc's language has already, and filters with a tuple pattern: the module's steps."""

from __future__ import annotations

from pathlib import Path

from support.modules.agreement import pair_of

from kmc.tla.translate.names import field_name

CONFIGURATION = "INIT Init\nNEXT Next\nINVARIANT Inv\n"
TAKEN = r"""---- MODULE Taken ----
EXTENDS Integers
VARIABLES tag, items, shapes, _x, x, x_, lambda
Init == /\ tag = 0 /\ items = [tag |-> 0, tag_ |-> 1, set |-> 2, class |-> 3] /\ shapes = {}
        /\ _x = 0 /\ x = 1 /\ x_ = 2 /\ lambda = [a |-> 1, a_ |-> 2, _a |-> 3]
Next == /\ tag' = (tag + 1) % 3 /\ items' = [items EXCEPT !.tag = tag', !.class = @ + tag - tag']
        /\ shapes' = {[fields |-> tag]}
        /\ _x' = x /\ x' = x_ /\ x_' = _x
        /\ lambda' = [lambda EXCEPT !.a = lambda.a_, !.a_ = lambda._a, !._a = @ - tag' + tag]
Inv == items.tag = tag /\ items.tag_ = 1 /\ x # x_ /\ lambda.a_ \in 1..5
====
"""
FILTERED = r"""---- MODULE Filtered ----
EXTENDS Integers, FiniteSets
VARIABLES held, wants
Client == {"c", "d", "e"}
Lock == {"k", "l"}
Init == held = {} /\ wants = {}
WaitsFor == {<<a, b>> \in Client \X Client : \E l \in Lock : <<a, l>> \in wants /\ <<b, l>> \in held}
Free == {<<c, l>> \in wants : ~\E <<d, m>> \in held : m = l}
Ask(c, l) == <<c, l>> \notin held \union wants /\ wants' = wants \union {<<c, l>>} /\ held' = held
Next == \/ \E c \in Client, l \in Lock : Ask(c, l)
        \/ \E p \in Free : held' = held \union {p} /\ wants' = wants \ {p}
        \/ \E c \in Client : /\ {<<d, l>> \in wants : d = c} = {}
                             /\ held' = {<<d, l>> \in held : d # c} /\ wants' = wants
Inv == Cardinality(WaitsFor) < 3
====
"""


def test_fields_and_variables_have_any_name(tmp_path: Path) -> None:
    assert pair_of(tmp_path, TAKEN, CONFIGURATION).differences(50) == []


def test_no_two_fields_are_one_name_of_python() -> None:
    texts = ("a", "a_", "_a", "__a", "if", "if_", "if__", "tag", "tag_", "_tag", "field_a", "1a", "n1a", "_", "é", "e")
    names = [field_name(text) for text in texts]
    assert len(set(names)) == len(texts)
    assert all(name.isidentifier() and not name.startswith("_") for name in names)


def test_a_filter_with_a_tuple_pattern_has_the_same_elements(tmp_path: Path) -> None:
    assert pair_of(tmp_path, FILTERED, CONFIGURATION).differences(400) == []
