"""The output of commands: results, progress, errors and lists as lines for terminals, JUnit and hosted CI."""
