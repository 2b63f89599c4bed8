"""The files of a search: the store that keeps them, their formats, and the state of a saved run."""
