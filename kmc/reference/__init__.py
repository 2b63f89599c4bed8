"""The reference interpreter, which is the oracle of the engines, and the replay of every counterexample."""
