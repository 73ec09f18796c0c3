"""Exact models written to files that keep names and every digit.

decimals  numbers as finite decimals, and the factor by which they are
adapting  a model as a format can hold it, with notes on what differs
mps       MPS
lp        CPLEX LP
nl        AMPL's text form .nl, with names beside it
names     which names the formats hold

What is written is read back by `gadgetopt.proofs.reading` as the same model, of the same names. All
of it needs the standard library only.
"""
