"""The paper's algorithm, step by step.

- `schedules`: warm-up policies, the early-backward schedule, and the record of a plan.
- `planner`: the plan of the least latency around a pivot.
- `public_planner`: the authors' public variant, an analytic score.
- `slides_planner`: its earlier form, as the slides of its author have it.
"""
