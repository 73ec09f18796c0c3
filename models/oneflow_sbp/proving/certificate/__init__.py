"""The trusted checks of lower bounds.

- `check`: the types of certificates, and `check_bound`.
"""
