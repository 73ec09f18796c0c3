"""The models on paper, from weak to strong, one file each.

- `assignment`: a binary variable for every job and machine.
- `ordered_assignment`: the same without symmetry.
- `arc_flow`: machines as paths through loads.
- `patterns`: an integer variable for every set of jobs that a machine can have.
- `cp`: start times and a cumulative constraint, in CP-SAT.
- `makespan`, `numbers`: the makespan in the last two integer programs, and the largest numbers.
"""
