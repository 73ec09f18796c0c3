"""Solvers that take a model through Pyomo's own interfaces.

doubles          fractions of a model as doubles
narrow_binaries  binary variables with other bounds as integers, for LP files
plain            a compiled model as a plain Pyomo model
nonlinear        nonlinear models: gated, solved, checked, solved again
nonlinear_terms  their expressions written anew, and the size of terms
incumbent        a model's values checked against its rows; what solvers print
scip             SCIP
other_solvers    GUROBI, CPLEX, XPRESS, CBC and GLPK, where they are installed
"""
