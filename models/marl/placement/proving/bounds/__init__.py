"""Lower bounds with certificates.

- `configuration`: every job alone; the linear relaxation of the configuration program.
- `column_generation`: how that is solved.
"""
