"""The paper's algorithm.

- `plain`: the paper's algorithm step by step.
- `virtual_machine`: the preemptive single machine that guides it.
- `a_srpt`: the guide, and how long a job may wait for a better place.
- `guided_queue`: the queue and its scan.
"""
