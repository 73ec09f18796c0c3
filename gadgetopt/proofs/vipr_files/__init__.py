"""VIPR, the format in which exact solvers write proofs.

writer       a proof of ours in VIPR
reader       the checker of VIPR files, anybody's: standard library only
derivations  the part of it that checks their steps
completion   the factors of steps that have none
"""
