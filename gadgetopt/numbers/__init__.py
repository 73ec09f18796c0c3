"""Exact and floating-point numbers, and how they are compared.

exact       exact arithmetic for the checks of certificates
tolerance   doubles read as rationals; the tolerances for comparing floats
pyomo_numbers  fractions as coefficients of Pyomo models
text        numbers and gaps as text
units       amounts as whole multiples of a common unit
arrays      array types used in signatures
kept        what was read from source files, kept until one of them changes
memory      what one table may take of memory
compiled    inner loops as machine code
compiling   the time that this takes, which no clock counts
"""
