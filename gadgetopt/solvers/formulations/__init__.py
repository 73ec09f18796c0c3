"""A formulation from its model to a method's outcome.

method           build, solve, decode: a formulation and a backend as a method
backends         which backends can solve which formulations, and what they need
options          options of solvers in a method's name, `time_indexed@highs:presolve=off`
permutation      rows and columns in another order, as seeds of a model that is given as arrays
solution_files   what other solvers found for exported models, decoded
measures         size, LP bound, and what a solver tells of its search
"""
