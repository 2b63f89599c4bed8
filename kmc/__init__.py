"""kmc: an exhaustive model checker for specs written in immutable, typed Python.

Nothing is imported here, so that `import kmc` costs nothing and no layer is reached by way of the root.
"""

__version__ = "0.1.0"
