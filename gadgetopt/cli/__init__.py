"""The command line."""

#: Exit code of what Ctrl-C ended, as shells have it.
INTERRUPTED = 130
