"""The behaviour graph of a search in files, and the search for lassos in one that does not fit into memory."""
