"""Pseudo-Boolean proofs.

kernel       the checker: standard library only
encoding     an exact model as a pseudo-Boolean formula
producer     proofs by the solver Exact, in a process of its own (exact)
elaboration  its log made a short proof with hints, found by propagation
"""
