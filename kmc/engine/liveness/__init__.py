"""The search for lassos: the behaviour graph in arrays, its strongly connected components, fair cycles.

What a formula and fairness mean is in `kmc.liveness`; how a lasso is shown is in `kmc.trace`.

Nothing is here yet: a temporal property is reported as not checked.
"""
