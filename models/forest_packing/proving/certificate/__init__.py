"""Checks of certificates: upper bounds on the rate, in exact arithmetic.

- `check`: the bound that a certificate proves.
- `cuts`: partitions and families of cuts; `subproblems.price_bound`: prices of the rows.
- `restricted_trees`: few, equal or shallow trees.
"""
