"""The paper's rule: every worker commits equally often, the rate climbs by one (`climb`).

The search step by step is in `plain`.
"""
