"""The command line: one module per group of commands.

main        entry point and error messages
looking     list, show, schema
making      generate, import, export
training    train
solving     solve, verify, plot
comparing   compare, ratios (studying: its study, from a file and options)
summarizing summary
reporting   report
options     options that several commands share
printing    where tables are printed
words       names and values formatted for reading
"""

#: Exit code after Ctrl-C, as in shells.
INTERRUPTED = 130
