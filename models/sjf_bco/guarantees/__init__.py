"""Theorems: the paper's claim, and a corrected guarantee of ours.

`ratios`: their approximation ratios and assumptions.
"""
