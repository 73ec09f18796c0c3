"""What A-SRPT was compared with, first come first served, and the schedule of Lemma 1.

- `policies`: FIFO, shortest job and smallest workload first, and the work-conserving ones.
- `scattered`: the schedule of Lemma 1, in which every job is as slow as it can be.
"""
