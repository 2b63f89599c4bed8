"""Temporal properties: formulas, what they mean on a behaviour, and the queries for lassos that refute them."""
