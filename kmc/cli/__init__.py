"""The command line: the program `kmc` and its commands, with rooms for their options, saved runs and output.

Only this layer imports click and rich, and only this layer prints: results on stdout, progress and errors on stderr.
"""
