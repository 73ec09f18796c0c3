"""The trusted checks of lower bounds.

- `check`: the types of certificates, `check_bound`, stars, isolating cuts.
- `cuts`: inequalities that every partition satisfies, and trees of cases.
- `partial_partitions`: eliminations; `partial_loops`, where there are many states.
"""
