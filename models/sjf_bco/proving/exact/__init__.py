"""Exact methods.

`ladder`: heuristics, lower bounds, search and CP-SAT models in turn, until the gap is closed.
`priced_search`: search in order of time, pruned by prices, whose exhaustion is checked.
"""
