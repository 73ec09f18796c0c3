"""Lower bounds on the cost, each with a certificate.

- `stars`: by counting, where a part is smaller than a neighbourhood.
- `isolating_cuts`: minimum cuts around every training node, at prices of balance.
- `eigenvalue`: the semidefinite bound with balance, checked in whole numbers.
- `cut_bound`: the linear program over pairs, with all cycle inequalities.
- `semidefinite`: the semidefinite bound with cuts, for any number of parts.
- `elimination_bound`: elimination with a limited number of partial partitions.
"""

ORDER = ("stars", "isolating_cuts", "eigenvalue", "cut_bound", "semidefinite", "elimination_bound")
