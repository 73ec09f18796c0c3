"""Random instances.

- `presets`: the paper's ranges, independent limits, planted optima, and the quickstart
"""
