"""Checks in processes of their own, the files of a result, and the spec of a trace that a check starts from."""
