"""Rules that place task after task: Tetris, packing, load balancing, least interference, random.

`rules`: all of them, on one pattern.
"""
