"""Temporal formulas of a TLA+ module as formulas of `kmc.liveness`, whose predicates a program evaluates."""
