"""Proofs of bounds on the models of formulations, checked in exact arithmetic without a solver.

model           an exact model as plain integers and fractions; its text and digest
exact_model     a compiled model read as an exact model
files           the text of a proof, as it is kept in certificates
tree_kernel     the checker of tree proofs: standard library only
tree_producer   searches for tree proofs (tree_search, relaxation, branching, propagation,
                leaves), with what is proved before, of the folder `lemmas`
pb_kernel       the checker of pseudo-Boolean proofs: standard library only
pb_encoding     an exact model as a pseudo-Boolean formula
pb_producer     pseudo-Boolean proofs by the solver Exact, in a process of its own (pb_exact)
pb_elaboration  its log made a short proof with hints, found by pb_propagation
vipr            a proof written in VIPR, the format of exact solvers
vipr_reader     the checker of VIPR files, anybody's
reading         files of models (MPS, LP, .nl) read exactly
exact_mps       a model as MPS with exact numbers, which a VIPR file lies beside
"""
