"""Subproblems that several rooms solve: cheapest schedules of a job.

- `kernel`, `labels`: one job's cheapest schedules over slots; `prices`: exponential prices.
- `slot_methods`: one job in one slot, by `slot_tables`, `greedy_tables`, `slot_program`,
  `slot_relaxation` or `slot_rounding`.
- `decoding`: schedules from numbers of workers and servers.
"""
