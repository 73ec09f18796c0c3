"""Random instances.

`presets`: the presets, and the calibration of bandwidths and compute times to the paper's ranges.
"""
