"""The model itself.

- `model`: the instance's columns and rows
"""
