"""A versioned, checksummed container of byte strings: a name, a version, a digest, then the parts with their lengths.

A reader gets exactly the parts that were written, or an error. The digest detects damage, not malice: a compiled spec
contains code that runs with the reader's rights, so read one only from a place that you trust like your own code.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from kmc.errors import SystemFault

_NAME = b"kmc compiled spec "
_VERSION = b"3\n"
_DIGEST_BYTES = hashlib.sha256().digest_size
_LENGTH_BYTES = 8


def container_of(parts: Sequence[bytes]) -> bytes:
    """The bytes that hold these parts."""
    body = b"".join(len(part).to_bytes(_LENGTH_BYTES, "little") + part for part in parts)
    return _NAME + _VERSION + hashlib.sha256(body).digest() + body


def parts_of(data: bytes) -> list[bytes]:
    """The parts that `container_of` was given; SystemFault KMC541 for any other bytes."""
    if not data.startswith(_NAME):
        raise _refusal("they do not begin like one")
    head, body = data[: len(_NAME + _VERSION)], data[len(_NAME + _VERSION) :]
    if not head.endswith(_VERSION):
        raise _refusal("another version of kmc wrote them")
    if hashlib.sha256(body[_DIGEST_BYTES:]).digest() != body[:_DIGEST_BYTES]:
        raise _refusal("they are damaged or cut off")
    parts, position = [], _DIGEST_BYTES
    while position < len(body):
        start = position + _LENGTH_BYTES
        position = start + int.from_bytes(body[position:start], "little")
        parts.append(body[start:position])
    return parts


def _refusal(why: str) -> SystemFault:
    return SystemFault(
        "KMC541", f"these bytes are not a compiled spec: {why}", help="compile the spec again, with this kmc"
    )
