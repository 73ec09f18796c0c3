"""Checks of certificates: upper bounds on the rate, in exact arithmetic.

- `check`: the bound that a certificate proves.
- `cuts`: partitions and families of cuts; `prices`: prices of the rows.
- `roots`: the shares that roots have to have.
- `restricted_trees`: few, equal or shallow trees.
"""
