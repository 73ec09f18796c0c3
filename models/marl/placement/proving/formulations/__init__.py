"""Models that solve and bound F1.

- `patterns`: F2, contents of servers, with the GPUs of jobs on boards.
- `ring_assignment`: F1, with the GPUs of jobs on boards.
- `class_patterns`: F2c, contents of classes of single-task jobs.
- `assignment_cp`: F1 in CP-SAT.
"""
