"""Heuristics of ours, not in the paper: SPP with one step changed.

- `other_orders`: other orders of the GPUs than RDO's.
- `other_ties`: another of the plans of the least load.
"""
