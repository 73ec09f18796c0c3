"""Multi-dimensional knapsacks with at most, or exactly, one item of each group, and their solvers.

- `problem`, `outcome`, `integral`, `moderate`: arrays, results, exact and moderate numbers
- `relaxation`: linear relaxation by column generation, Lagrangian bounds
- `core`, `halves`: exact by core, and search of single items in two halves that meet
- `cardinality`, `slices`, `enumeration`, `tail_prices`: exact by enumeration
- `dynamic`: dynamic programming where all weights are multiples of one vector
- `direct`: the integer program, by HiGHS or CP-SAT
- `frieze_clarke`: approximation
- `bins`: whether items of a few sizes fit into bins, and which bins are enough
- `heuristics`: searches for good choices; `kernels`, `sharpening`: better ones before the core
- `proofs`: checks that no choice brings more than a bound
"""
