"""Successors: the copy of a row, the words that an action changes, and the entries of networks."""
