"""The command line: one module per group of commands.

main        entry point and error messages
commands    all commands, of which only the one that is asked for is imported; versions
looking     list, show, schema (listing: the lists)
making      generate, import, new-system
exporting   export, decode
training    train
solving     solve, verify, plot
comparing   compare, ratios (studying: its study, from a file and options)
checking    errata
summarizing summary
reporting   report
options     options that several commands share
completion  names that the shell offers
verbosity   the option -v of every command
printing    where tables are printed
"""

#: Exit code after Ctrl-C, as in shells.
INTERRUPTED = 130
