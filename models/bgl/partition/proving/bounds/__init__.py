"""Lower bounds on the cost, each with a certificate.

- `stars`: by counting, where a part is smaller than a neighbourhood.
- `isolating_cuts`: minimum cuts around every training node, at prices of balance.
- `cut_bound`: the linear program over pairs, with all cycle inequalities.
- `elimination_bound`: elimination with a limited number of partial partitions.
"""
