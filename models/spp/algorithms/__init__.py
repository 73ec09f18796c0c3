"""The paper's algorithm, step by step.

- `device_order`: RDO, recursive device ordering, and other orders of the GPUs.
- `block_costs`: loads of stages and channels on consecutive GPUs of an order.
- `prm`: partition, replication and mapping for an order, by dynamic programming.
- `spp`: the whole, with PE, the execution scheduler.
"""
