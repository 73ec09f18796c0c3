"""Baselines of the paper.

`policies`: FIFO, DRF and Tiresias, with greedy placement of rings.
"""
