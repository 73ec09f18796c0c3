"""Proofs of bounds on the models of formulations, checked in exact arithmetic without a solver.

model           an exact model as plain integers and fractions; its text and digest
exact_model     a compiled model read as an exact model
within          the model that is relaxed by a tolerance
named_form      an exact model as arrays for solvers
files           the text of a proof, as it is kept in certificates
tree_kernel     the checker of tree proofs: standard library only
tree_producer   searches for tree proofs (tree_search, relaxation, branching, propagation,
                leaves), with what is proved before, of the folder `lemmas`
exactness       leaves in rational numbers, and proofs of the optimum to the last digit
ray_kernel      the checker of proofs that a model is unbounded: standard library only
rays            searches for such proofs
pseudo_boolean  pseudo-Boolean proofs: their checker, their encoding, and how Exact finds them
vipr_files      proofs in VIPR, the format of exact solvers: written, and anybody's checked
reading         files of models (MPS, LP, .nl) read exactly, and written
"""
