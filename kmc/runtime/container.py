"""Bytes that say what they are: a name, a version, a digest of the rest, and parts with their lengths.

Whoever reads them gets the very parts that were written, or one error. The digest tells damage, not malice: a
compiled spec holds code that runs with the reader's rights, so it is read only from where one's own code is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from kmc.errors import SystemFault

_NAME = b"kmc compiled spec "
_VERSION = b"2\n"
_DIGEST_BYTES = hashlib.sha256().digest_size
_LENGTH_BYTES = 8


def sealed(parts: Sequence[bytes]) -> bytes:
    """The parts as one run of bytes."""
    body = b"".join(len(part).to_bytes(_LENGTH_BYTES, "little") + part for part in parts)
    return _NAME + _VERSION + hashlib.sha256(body).digest() + body


def unsealed(data: bytes) -> list[bytes]:
    """The parts in bytes that `sealed` made; SystemFault KMC541 for others."""
    if not data.startswith(_NAME):
        raise _refusal("they begin otherwise")
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
        "KMC541", f"these bytes are no compiled spec: {why}", help="compile the spec again, with this kmc"
    )
