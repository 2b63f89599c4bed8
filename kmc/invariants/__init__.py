"""Declared properties: invariants, action properties, reachable properties, constraints; views and symmetry sets."""
