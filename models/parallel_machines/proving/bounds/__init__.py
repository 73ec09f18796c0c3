"""Lower bounds on the makespan, each with a certificate.

- `combinatorial`: mean load, longest job, and k + 1 jobs on one machine.
- `dual_feasible`: dual feasible functions refute capacities.
- `pattern_bound`: the linear pattern program refutes capacities; `patterns` solves it by column
  generation.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="combinatorial",
        kind="relaxation",
        summary="mean load, longest job, and k + 1 jobs on one machine, raised to a sum of times",
        reference="Graham 1969; Dell'Amico and Martello 1995",
        run=part("combinatorial:combinatorial"),
        formulation="combinatorial",
    ),
    Method(
        name="dual_feasible",
        kind="relaxation",
        summary="the largest capacity at which a dual feasible function refutes a packing",
        reference="Martello and Toth 1990; Fekete and Schepers 2001",
        run=part("dual_feasible:dual_feasible"),
        formulation="dual_feasible",
    ),
    Method(
        name="pattern_bound",
        kind="relaxation",
        summary="the largest capacity at which the linear pattern program needs more machines",
        reference="Gilmore and Gomory 1961",
        run=part("pattern_bound:pattern_bound"),
        formulation="pattern_bound",
        backend="highs",
    ),
)
