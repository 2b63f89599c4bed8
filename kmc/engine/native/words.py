"""The kinds of words in native loops: integers of 64 bits that a type checker keeps apart.

In a loop, a call such as `Slot(index)` emits nothing: it says what the result of arithmetic is.
"""

from __future__ import annotations

from typing import Final, NewType

Address = NewType("Address", int)
"""An address in memory, in bytes."""

NULL: Final = Address(0)
"""The address of nothing."""

Slot = NewType("Slot", int)
"""The index of a slot in a fingerprint table."""

Fingerprint = NewType("Fingerprint", int)
"""The fingerprint of a state; of one with 128 bits, the first word. 0 is none."""

Mask = NewType("Mask", int)
"""A set of properties, atoms or slots of a line: bit n is number n. From a kernel, a number below 0 is an error."""

Status = NewType("Status", int)
"""The reason why a loop returned: one of the results listed in `kmc.engine.layout.control_words`."""
