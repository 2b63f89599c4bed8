"""Checks of a spec before it is compiled: values too large for compiled code, and fields that a view forgets."""
