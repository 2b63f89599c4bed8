"""The search for lassos: sets of states and steps in arrays, fair components, stems and cycles.

Begin with `lasso_search`. What a formula and fairness mean is in `kmc.liveness`; how a lasso is shown, in `kmc.trace`.
"""
