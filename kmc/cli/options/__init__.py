"""The options that commands share, the command line of `kmc check`, and the search that it chooses."""
