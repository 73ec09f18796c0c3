"""Random instances.

- `presets`: set cover, knapsack, fixed charge, lot sizing, and the quickstart
"""
