"""Files of linear models read exactly, and written: decimals as rationals, nothing rounded.

decimals    the numbers of such files
text        the text of a file, unpacked
draft       a model while it is read, and what it is in the end
mps         MPS, free and fixed (mps_lines: how their lines fall into words)
lp          CPLEX LP
nl          AMPL's text form .nl
model_files a file of a model, read by the reader that its name asks for
writing     a model with names, written so that it is read back as it is

What two solvers read differently is refused in a line that says what to write instead. All of it
needs the standard library only.
"""
