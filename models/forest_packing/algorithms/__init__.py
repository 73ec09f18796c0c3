"""The packing algorithm step by step.

- `forest_packing`: packing by multiplicative weights, the paper's method as we read it.
- `multiplicative_weights`: the packing scheme of Garg and Koenemann that it rests on.
- `schedule`: slices of the data and pipelined chunks of a packing.
- `exact_plans`: exact plans and prices from trees and prices in floating point.
"""
