"""Tree proofs whose bound is the optimum itself, in rational numbers.

exact_leaves    leaves over any denominator: the relaxation of a node solved in rational numbers
sharpening      a proof whose bound is a little below the optimum made one of the optimum
sections        the parts of a proof's text, and what each of them adds to a model
"""
