"""Checks of everything that a method claims.

run           run one method on one instance
judgement     what a run is worth: solution, claims, status
verification  solutions and certificates of files, checked without a solver
ratio         results compared with each other: refuted and confirmed bounds, ratio intervals
certificate   dual bounds checked from certificates in exact arithmetic
proving       the proof that a run gives by itself, and what is said of proofs
searches      searches for proofs about the models of formulations
certifying    proofs of finished runs, searched for
refuting      claims refuted by points that these searches meet
theorems      promised ratios compared with measured ones
"""
