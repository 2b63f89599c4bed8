"""The commands of `kmc`, one module each; `kmc.cli.program` lists them, and imports the one that is run."""
