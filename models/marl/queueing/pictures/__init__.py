"""Pictures of plans and of instances.

- `gantt`: when and where each job runs.
- `interference`: the table as a heat map, in the family's `subproblems`.
"""
