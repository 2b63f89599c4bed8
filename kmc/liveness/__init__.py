"""Temporal properties, as formulas only. kmc cannot check them yet, and a run with one says so."""
