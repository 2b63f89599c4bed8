"""The command line: one file per command, and the rendering of results, traces and errors as text, JSON and JUnit.

Only this layer imports click and rich, and only this layer prints: results on stdout, progress and errors on stderr.
"""
