"""The command line."""

#: Exit code after Ctrl-C, as in shells.
INTERRUPTED = 130
