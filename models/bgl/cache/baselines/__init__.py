"""Policies that BGL is compared with.

- `policies`: FIFO, LRU, LFU and static caches on orders of several kinds.
"""
