"""What closes gaps: a dynamic program for fixed ratios, Dinkelbach's iteration, a closed form.

- `closed_form`: for one non-decreasing table of one resource and long horizons.
- `dynamic_program`: exact in integers, with a potential as certificate.
- `dinkelbach`: the same iteration over the integer program (3), by HiGHS or by CP-SAT.
"""
