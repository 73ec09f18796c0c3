"""Search over all plans of a pipeline.

- `device_states`: device sets that the next stage can have, up to symmetry and dominance
- `device_rules`, `machine_rules`: of clusters with any bandwidths, and in machines
- `stage_tables`: times of all stages in whole ticks, rounded down; bounds on the rest of a plan
- `state_rests`: what the rest of a plan costs, exactly, by state; `rest_loops`: its loops
- `found_plans`: what a search finds
- `plan_walk`: all plans below a cutoff by a walk that takes no step in vain
- `labels`: partial plans as arrays, and dominance among them, where there are no such tables
- `label_search`: least head-load-tail bound over all plans, and all plans below a cutoff
- `exact_plans`: least makespan over all plans

Apart from these, and with no code of theirs:

- `proofs`: what proves that no plan has a shorter schedule, and its check
- `cp_joint`: plan and schedule of tiny instances together by CP-SAT; `plan_tables`: its tables,
  from the evaluator
"""
