"""The explorer on specs in Python: their interpreter, stories and compiled searches behind `ExploredModel`."""
