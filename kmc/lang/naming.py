"""Names in Python and names on paper: snake_case and UPPER_CASE here, CamelCase or camelCase in TLA+."""

from __future__ import annotations

import re
from functools import cache


def camel_case(name: str) -> str:
    """`become_leader` and `BECOME_LEADER` as `BecomeLeader`; a name that is already CamelCase stays."""
    if "_" not in name and not name.isupper() and not name.islower():
        return name
    return "".join(word[:1].upper() + word[1:].lower() for word in name.split("_") if word)


def with_article(name: str) -> str:
    """`an Ask`, `a Grant`."""
    return f"{'an' if name[:1] in 'AEIOUaeiou' else 'a'} {name}"


@cache
def lower_camel_case(name: str) -> str:
    """`current_epoch` as `currentEpoch`."""
    head, *tail = name.split("_")
    return head + "".join(word[:1].upper() + word[1:] for word in tail)


def snake_case(name: str) -> str:
    """`currentEpoch` and `CurrentEpoch` as `current_epoch`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
