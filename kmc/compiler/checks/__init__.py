"""Checks of a spec before it is compiled: what compiled code has no room for, and what a view forgets."""
