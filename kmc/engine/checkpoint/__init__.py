"""Saving a search so that it can be resumed, and loading it again."""
