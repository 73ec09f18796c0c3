"""Heuristics of ours, not in the paper: forest packing with one thing changed.

- `packing_to_gap`: stops at a gap that is proved.
- `unpolished_packing`: the trees of A1 with the rates that it gave them.
"""
