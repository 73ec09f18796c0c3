"""Exact methods, and the heuristic that they share.

- `portfolio`: the default method, branch and price, then branch and check.
- `branch_and_check`: a master without machines (`aggregated_mip`), schedules that meet its
  deadlines (`deadline_schedules`), packings of their slots (`slot_checks`, `slot_repair`), and
  a proof of what the master closed (`master_proof`).
- `branch_and_price`, `branching`: schedule columns in a tree.
- `slot_packing`, `machine_patterns`: the jobs of a slot onto its machines; `job_placement`: jobs
  placed one by one.
- `priced_search`: ruin and recreate at the prices of the column relaxation.
- `repacking_search`, `repacking_loops`, `repacking_moves`, `repacking_state`: the same, compiled,
  and slots are packed again.
"""
