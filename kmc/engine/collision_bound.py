"""The odds that a search with fingerprints missed a state."""

from __future__ import annotations


def collision_bound(distinct: int, bits: int = 64) -> float:
    """A bound on the odds that two states shared a fingerprint: n(n-1)/2^(b+1).

    Symmetry costs no factor. Signatures settle which permuted state represents an orbit; members with equal signatures
    are ordered by a hash under other salts than the fingerprint's (`kmc.compiler.symmetry.canonical`). So the
    fingerprint is that of one state, not the least of several, which would be k*k/(2k-1) times likelier to coincide. A
    chance equality of signatures or of that other hash never merges orbits: it only makes the search try more orders,
    or store an orbit twice.
    """
    return distinct * (distinct - 1) / 2.0 ** (bits + 1)
