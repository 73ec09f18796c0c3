"""Queues served by placement rules: Tetris, packing, load balancing, least interference, random.

`rules`: all of them, on one pattern.
"""
