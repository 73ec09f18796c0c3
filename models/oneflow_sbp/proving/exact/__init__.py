"""The exact methods: elimination, and branch and bound around it.

- `branch_and_bound`: elimination; with a memory limit, or where tables are too large, cases;
  CP-SAT for what they leave of small models. `division` divides cases.
- `elimination`: one elimination, refused where that cannot be exact.
"""
