"""The checks before a file is executed: they refuse constructs, names and calls that are not in the language."""
