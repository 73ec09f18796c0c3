"""Shortest orders of one plan's blocks.

- `order_search`: by branch and bound, and the proof that none are shorter
"""
