"""The models on paper.

- `time_indexed`: starts and configurations tick by tick; its pool relaxation and that by template.
- `horizon`: by when a schedule has ended.
"""
