"""Checks of certificates: upper bounds on the welfare of any seller, in exact numbers.

- `check`: the bound that a certificate proves; prices of the resources.
- `core`: nothing better among the requests of small gain.
- `recursion`: the dynamic program over the units used.
"""
