"""Pictures: one file each.

- `schedule`: the Gantt chart of stages and channels with bubbles.
- `critical`: head, load and tail of every machine.
- `mapping`: the stages on the GPUs, and the bandwidths between them.
- `curves`: iteration time, bound and load against the number of stages and of microbatches.
- `memory`: iteration time against the memory of a GPU.
"""

ORDER = ("schedule", "critical", "mapping", "curves", "memory")
