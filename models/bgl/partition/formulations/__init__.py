"""The models on paper: the integer program (2) in two linearisations, and clauses in CP-SAT.

- `difference`: a pair is cut if its nodes differ in some part.
- `both`: a pair is not cut in the part that has both its nodes.
- `clauses`: a constraint program.
- `coefficients`: weights as doubles, heaviest nodes first, and the size of a model.
"""
