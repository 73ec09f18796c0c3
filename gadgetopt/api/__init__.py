"""The Python API: the command line's words as functions.

running     solve, verify, compare, ratios
comparison  what `compare` returns: the ratio table with frame, summary and report
making      generate, import_, export
looking     show, plot
progress    the progress of `compare` in a notebook

`import gadgetopt` offers all of them.
"""
