"""Lower bounds on the weighted sum of completions, each with a certificate.

- `combinatorial`: B0, B1 and B2, formulas that the check computes.
- `transportation`: B3, a linear program in which jobs may be interrupted.
- `time_indexed`: B4, the linear program of starts; `grid_program` solves it by column generation
  from the starts of a list schedule (`list_schedule`).
- `price`: B5, prices of GPU-time for thousands of jobs; `ascent` finds them, from
  `smith_prices` on.
- `price_guided`: B5 with a schedule in the order of its prices.
- `server_price`: prices of parts of servers, which see fragmentation and communication, made of
  dual feasible functions (`dual_feasible`).
- `outcome`: prices in doubles become certificates.
"""

from gadgetopt.system.declaration import Method, Parts

from ...subproblems.names import MAPPINGS

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="release_bound",
        kind="relaxation",
        summary="B0: every job starts at its release",
        reference="elementary",
        run=part("combinatorial:release"),
        formulation="release",
    ),
    Method(
        name="srpt_bound",
        kind="relaxation",
        summary="B1: preemptive shortest remaining work first on one machine",
        reference="Lemma 2",
        run=part("combinatorial:srpt"),
        formulation="srpt",
    ),
    Method(
        name="busy_time_bound",
        kind="relaxation",
        summary="B2: mean busy times of preemptive Smith's rule on one machine",
        reference="Goemans 1996; Goemans, Queyranne, Schulz, Skutella and Wang 2002",
        run=part("combinatorial:busy_time"),
        formulation="busy_time",
    ),
    Method(
        name="transportation_bound",
        kind="relaxation",
        summary="B3: linear program of jobs that may be interrupted",
        reference="reconstructed",
        run=part("transportation:transportation_bound"),
        formulation="transportation",
        backend="highs",
    ),
    Method(
        name="time_indexed_bound",
        kind="relaxation",
        summary="B4: linear program of starts, by column generation",
        reference="(5), reconstructed",
        run=part("time_indexed:time_indexed_bound"),
        formulation="time_indexed_lp",
        backend="highs",
    ),
    Method(
        name="price_bound",
        kind="relaxation",
        summary="B5: prices of GPU-time, for thousands of jobs",
        reference="(6), reconstructed",
        run=part("price:price_bound"),
        parameters={"intervals": 256, "iterations": 40, "sample": 5000, "polished": 2000},
        formulation="prices",
    ),
    Method(
        name="server_price_bound",
        kind="relaxation",
        summary="prices of parts of servers: sees fragmentation and communication",
        reference="ours",
        run=part("server_price:server_price_bound"),
        parameters={"intervals": 128, "iterations": 20, "polished": 2000},
        formulation="part_prices",
    ),
    Method(
        name="price_guided",
        kind="heuristic",
        summary="offline: in the order of the prices of B5, which it also proves",
        reference="ours",
        run=part("price_guided:price_guided"),
        parameters={"intervals": 512, "mapping": "best_of", "steps": 80_000},
        choices={"mapping": MAPPINGS},
        stochastic=True,
        formulation="prices",
    ),
)
