"""Formulations, one per file.

Pyomo: `nonconvex` (the paper's program); `time_indexed`, `disjunctive`, `event_based` (exact);
`schedule_selection` with `schedules` (the paper's reformulation); `load_limit` (a relaxation).
CP-SAT: `cp_model` (all models as lists of constraints), `cp` (the models as methods).
"""
