"""Exact methods: retention for a given order, order and retention together.

- `retention`: Belady's sweep, minimum-cost flow, and the integer program.
- `order_search`: the default method, for instances of any kind.
- `order_states`: sets of batches with all contents of both caches.
- `policy_orders`: policy and order, where policies cost something to run.
- `gpu_orders`: orders and contents of several GPUs' caches; `shared_steps`: of shared ones;
  `static_steps`: static ones in steps that wait for the slowest GPU.
"""
