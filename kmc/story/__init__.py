"""Stories: a trace explained to a person. Which process acts, which message goes where, what changes, and why a
property fails.

Every view for people, text, page or explorer, is drawn from a `Story`, never from states directly.
"""
