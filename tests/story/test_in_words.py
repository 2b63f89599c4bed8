"""Values for people have no notation of TLA+."""

from __future__ import annotations

import pytest

from kmc.lang.tla import Tla, TlaMap, TlaRecord, TlaSeq, TlaSet
from kmc.story.parts.in_words import field_in_words, in_words

ENTRY = TlaRecord((("epoch", 1), ("value", TlaSet(("n1", "n2")))))


@pytest.mark.parametrize(
    ("tree", "text"),
    [
        (True, "true"),
        (3, "3"),
        (ENTRY, "{epoch: 1, value: {n1, n2}}"),
        (TlaSeq((ENTRY, "Nil")), "[{epoch: 1, value: {n1, n2}}, none]"),
        (TlaMap((("n1", 1), ("n2", False))), "{n1: 1, n2: false}"),
        (TlaMap(((1, "a"), (2, "b"))), "{1: a, 2: b}"),
        (TlaMap(()), "{:}"),
        (TlaSeq(()), "[]"),
        (TlaMap(((0, "a"),)), "{0: a}"),
        (TlaSet(()), "{}"),
    ],
)
def test_a_value_in_words(tree: Tla, text: str) -> None:
    assert in_words(tree) == text


def test_the_prefix_of_raft_tla_is_dropped_only_where_the_tag_has_it() -> None:
    assert field_in_words("mepoch", "mtype") == "epoch"
    assert field_in_words("correlation", "mtype") == "correlation"
    assert field_in_words("members", "type") == "members"
