"""Theorems: guaranteed ratios and their assumptions.

- `ratios`: the ratios as functions of the parameters, and the theorems behind them.
"""
