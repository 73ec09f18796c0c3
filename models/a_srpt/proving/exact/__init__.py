"""What closes gaps.

- `decomposition`: the pool first, then its servers, then both together.
- `pool_program`: the pool relaxation by prices and a program over the starts that they leave.
- `pool_states`: the same by questions of cost, which `state_search` answers by dynamic programming
  over time, where states are few.
- `pool_search`: a good schedule of the pool to begin with.
- `server_assignment`: servers for the starts of a schedule of the pool.
- `at_scale`: the best of all methods, for what is too large for these.
- `cp`: the models of `proving/formulations/cp_model.py` as methods.
"""
