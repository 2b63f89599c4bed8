"""Results as the command line holds them: of a check, of a model among all, and the records of `kmc report`."""
