"""The kinds of all values of a spec, inferred before anything runs: a type check of the author's text."""
