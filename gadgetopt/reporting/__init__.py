"""Results for people and for other programs.

tables             ratio and theorem tables: terminal, CSV, JSON, Parquet, LaTeX
summary            runs by system, method and columns of the instances: wins, shares, ratios, times
sentences          what a summary says, in sentences
geometric_means    shifted geometric means and their bootstrap intervals
integrals          primal-dual gaps and integrals
profile_tables     performance profiles as tables
cells              numbers as text, the same everywhere
instance_columns   instance sizes and features as table columns
html_report        a store as one page for the browser
figures            colours and checks that all pictures share
curves             the curve of a training
curves_of_runs     a column of the runs against another: medians and bands over a sweep
export             Pyomo models as files for other solvers, and as text
"""
