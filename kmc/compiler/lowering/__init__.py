"""Lowering: the functions of a spec, evaluated on typed code in the place of values (staged interpretation)."""
