"""The paper's algorithm, step by step.

- `pd_ors`: PD-ORS, Algorithms 1-4, slots solved exactly where that is fast.
- `rounding`: the same with the paper's roundings of slots.
- `online`: the loop over arriving jobs, which OASiS uses too.
"""
