"""Functions that generated specs define where they use them: operators of TLA+ that no word of kmc's language is.

They close the differences between the two: a word of the language that goes on where TLC stops gets an assertion, and
one that stops where TLC goes on gets a condition.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_FUNCTIONS = {
    "checked": '''def checked(value, is_defined):
    """Return a value that TLA+ defines only under a condition."""
    assert is_defined
    return value''',
    "count_of": '''def count_of(bag, message):
    """TLA+: bag[message]."""
    assert message in bag
    return bag.count(message)''',
    "one_more": '''def one_more(bag, message):
    """TLA+: [bag EXCEPT ![message] = @ + 1], which leaves out what is not in the bag."""
    return bag.add(message) if message in bag else bag''',
    "with_message": '''def with_message(bag, message):
    """TLA+: bag @@ (message :> 1), which changes no count."""
    return bag if message in bag else bag.add(message)''',
    "with_messages": '''def with_messages(bag, messages):
    """TLA+: bag @@ [message \\\\in messages |-> 1], which changes no count."""
    return bag.add_all({message for message in messages if message not in bag})''',
    "with_key": '''def with_key(function, key, value):
    """TLA+: function @@ (key :> value), which changes no value."""
    return function if key in function else function.add(key, value)''',
    "joined": '''def joined(left, right):
    """TLA+: left @@ right."""
    return {key: left[key] if key in left else right[key] for key in left.keys() | right.keys()}''',
}
NAMES = tuple(_FUNCTIONS)


def functions_used(lines: Iterable[str]) -> list[str]:
    """Return the lines that define the functions that some lines call."""
    used = {word for line in lines for word in re.findall(r"\b(\w+)\(", line)}
    found: list[str] = []
    for name, text in _FUNCTIONS.items():
        if name in used:
            found.extend(["", "", *text.splitlines()])
    return found
