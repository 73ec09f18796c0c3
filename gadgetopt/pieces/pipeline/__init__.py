"""Synchronous pipelines: plans for a chain of layers on a cluster, and schedules of a plan.

What a planning problem is:

- `instance`: `Layer`, `PipelineOptions` and `PipelineInstance`, which a system's instance extends
- `cluster`: GPUs with a matrix of bandwidths, or in machines with two levels of bandwidth
- `communication`: times of transfers between stages and of AllReduce, by communication model
- `plan`: `Plan` (cuts and devices of the stages), what violates it, its memory
- `shop`: `Shop`, the exact times of a plan's interleaved machines q = 0..2S-2, in whole units

Schedules of one plan:

- `orders`: orders of blocks per machine: GPipe, 1F1B with warm-ups, rounds, tail-weighted
- `simulator`: start times from orders, or the check of given ones; idle time, in-flight peaks
- `dispatch`: first come, first served channels (and stages) where an order is not given
- `bound`: the head-load-tail bound and the machine that attains it
- `one_machine`: the stronger bound by Jackson's preemptive schedule
- `improvement`: short schedules by rules and local search
- `cp_schedule`: optimal orders by CP-SAT
- `exact_orders`: all of these, and branch and bound, for the shortest schedule of one plan

Plans:

- `all_plans`: least bound and least makespan over all plans; apart from that, `cp_joint`, plan and
  schedule together by CP-SAT, and `proofs`, what proves a bound, with no function of the searches

Profiles (own files): `profiles` (readers), `chain_conversion` (DAG to chain), `slowest_stage`
(PipeDream's dynamic program).

Conventions: a plan's machines are q = 0..2S-2, stage n is q = 2n, the channel between stages n and
n+1 is q = 2n+1. An order is a list of block codes for each machine: +m is the forward block of
microbatch m = 1..M, -m its backward block. Channels have one list also where they are full duplex;
the position of forward blocks among backward ones then means nothing. Times of a `Shop` are
integers; times its `unit` they are seconds, exactly.
"""
