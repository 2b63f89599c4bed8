"""Checks of TLA+ modules: the search, the properties and the counterexample, for the faces that check Python specs."""
