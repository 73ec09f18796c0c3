"""The paper's algorithm.

`plain`: Algorithms 1-3 step by step, as printed.
`sjf_bco`: the method, Algorithms 1-3 (their selection of GPUs is in `subproblems/pools.py`).
`theta_search`: the search for the load limit, the outer loop of Algorithm 1.
"""
