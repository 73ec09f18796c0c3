"""What several rooms solve on the way.

- `intervals`: uses of a node in consecutive batches, for a fixed order.
- `sweep`: which of them to keep, by Belady's rule, and the dual that proves it.
- `replay`: FIFO, LRU, LFU and static caches, batch by batch.
- `sequences`: proximity-aware orders and their shuffling error.
- `ordering`: orders of fixed batches: paths, improvement by moves.
"""
