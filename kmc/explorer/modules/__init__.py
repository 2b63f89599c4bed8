"""The explorer on TLA+ modules: their interpreter and the values of their states behind `ExploredModel`."""
