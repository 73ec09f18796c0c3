"""Formats of plans that others execute or show.

- msccl: programs of collectives for GPUs; reading, writing, checking.
- chakra: execution traces for simulators.
- timelines: schedules as tables and traces, and lines for Slurm.
- pipelines: plans of pipelines in the last two.
"""
