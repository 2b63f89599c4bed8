"""Checks as a library: one request, one outcome, and the sentences about it, for the command line, Python and pytest.

    outcome = check(CheckRequest(chosen, Limits(seconds=60)))

A face turns its arguments into a `CheckRequest`, and shows the `Outcome`. Nothing here prints, reads options or depends
on a terminal; lines of text have tones, which a face shows as it can (`kmc.text_lines`).
"""
