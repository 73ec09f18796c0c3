"""Pictures: one file each.

- `schedule`: the Gantt chart of stages and links, the pivot marked.
- `latency`: latency, bound and makespans for every pivot.
- `memory`: activations against warm-up numbers.
- `mapping`: how many GPUs of each machine the stages have.
- `curves`: speedups against the number of microbatches and the network between machines.
"""

ORDER = ("schedule", "latency", "memory", "mapping", "curves")
