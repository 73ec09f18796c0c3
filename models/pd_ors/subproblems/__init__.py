"""Subproblems that several rooms solve: cheapest schedules of a job, and packings of a slot.

- `kernel`, `labels`: one job's cheapest schedules over slots; `prices`: exponential prices.
- `slot_methods`: one job in one slot, by `slot_tables`, `greedy_tables`, `slot_program`,
  `slot_relaxation` or `slot_rounding`.
- `slot_packing`, `machine_patterns`: the jobs of a slot onto its machines.
- `job_placement`: jobs placed one by one; `infeasibility`: jobs that can earn nothing; `decoding`.
"""
