"""Exceptions that occur while the code of a spec runs, as errors at the line and in the words of its author."""
