"""MSCCL programs: what each thread block of each GPU sends, receives and adds, as XML.

- program: the parts of a program; reading and writing its XML.
- rules: what the executor's parser and NCCL's connections allow.
- happens_before: the order of the steps, and accesses to a chunk that have none.
- execution: the program on integers, with queues of one place.
- checking: all of these as one answer.

The format is that of Azure's executor of MSCCL programs (github.com/Azure/msccl-executor-nccl).
"""
