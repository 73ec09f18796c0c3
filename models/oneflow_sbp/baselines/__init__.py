"""Strategies that people choose by hand: labels of data and weights, the rest inferred.

All are in `strategies`.
"""
