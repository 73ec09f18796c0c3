"""The models on paper.

- `time_indexed`: starts and configurations tick by tick; its pool relaxation and that by template.
- `cp_model`: models A and B of (F) and the cumulative model of the pool, in CP-SAT.
- `horizon`: by when a schedule has ended.
"""
