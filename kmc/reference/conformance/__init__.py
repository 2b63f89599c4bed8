"""Conformance with TLA+: corpora of edges that TLC computed, and the comparison of a spec with them."""
