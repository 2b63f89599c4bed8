"""The search for lassos in a behaviour graph: fair components, stems and cycles.

Begin with `search`. `kmc.liveness` defines formulas and fairness; `kmc.trace` shows lassos.
"""
