"""Theorems of the paper.

`ratios`: their approximation ratios and assumptions, and bounds on probabilities.
"""
