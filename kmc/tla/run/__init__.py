"""The interpreter of TLA+: a resolved model as initial states, successors and predicates, with TLC's multiplicities."""
