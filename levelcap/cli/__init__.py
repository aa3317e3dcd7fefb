"""The command line: one file per group of commands, imported only when called."""
