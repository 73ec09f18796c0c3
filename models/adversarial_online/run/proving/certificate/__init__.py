"""Checks of certificates: upper bounds on the welfare of any seller, in exact numbers.

- `check`: the bound that a certificate proves.
- `resource_prices`: the dual of the linear relaxation.
- `core`: nothing better among the requests of small gain.
- `recursion`: the dynamic program over the units used.
"""
