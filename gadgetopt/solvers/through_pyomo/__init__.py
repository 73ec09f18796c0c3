"""Solvers that take a model through Pyomo's own interfaces.

doubles          fractions of a model as doubles
incumbent        an incumbent loaded into a model's variables, and checked
scip             SCIP, for nonconvex models
other_solvers    GUROBI, CPLEX, XPRESS, CBC and GLPK, where they are installed
"""
