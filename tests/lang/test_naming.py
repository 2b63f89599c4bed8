"""Names in Python and on paper: each name in the other convention."""

from __future__ import annotations

import pytest

from kmc.lang.naming import camel_case, lower_camel_case, snake_case


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("become_leader", "BecomeLeader"),
        ("BECOME_LEADER", "BecomeLeader"),
        ("leader", "Leader"),
        ("LEADER", "Leader"),
        ("send_2pc_vote", "Send2pcVote"),
        ("_leader__of_", "LeaderOf"),
        ("BecomeLeader", "BecomeLeader"),
        ("becomeLeader", "becomeLeader"),
    ],
)
def test_a_name_in_camel_case(name: str, expected: str) -> None:
    assert camel_case(name) == expected


@pytest.mark.parametrize(
    ("name", "expected"), [("current_epoch", "currentEpoch"), ("log", "log"), ("a_of_logEnd", "aOfLogEnd")]
)
def test_a_name_in_lower_camel_case(name: str, expected: str) -> None:
    assert lower_camel_case(name) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("currentEpoch", "current_epoch"),
        ("CurrentEpoch", "current_epoch"),
        ("epoch2Max", "epoch2_max"),
        ("log", "log"),
    ],
)
def test_a_name_in_snake_case(name: str, expected: str) -> None:
    assert snake_case(name) == expected
