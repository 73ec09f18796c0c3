"""The models on paper, one file each.

- `assignment`: F1, tasks on servers: products linearised, with big-M, or as they are.
- `patterns`: F2, contents of servers.
- `class_patterns`: F2c, contents of classes of single-task jobs.
- `assignment_cp`: F1 in CP-SAT.
"""
