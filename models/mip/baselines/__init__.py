"""Heuristics that everybody knows; all end in a point that holds exactly.

- `round_lp`: the relaxation rounded
- `feasibility_pump`: Fischetti, Glover and Lodi's
- `rins`: relaxation induced neighbourhood search
"""
