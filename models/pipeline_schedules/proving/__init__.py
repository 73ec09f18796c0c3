"""What proves: certificates and their check, bounds by formulas, the exact method.

- `certificate`: what has to be believed.
- `bounds`: the best of the formulas.
- `exact`: bounds and schedules, then CP-SAT by questions.
"""
