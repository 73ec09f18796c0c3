"""The system that `gadgetopt new-system` writes: 0/1 knapsack, small and complete.

- `writing`: writes it under another name
- `system`: the system as it is written, with all rooms and its page
- `_tests`, `instances`: its tests, and instances checked by hand
- `project.toml`: what makes a package of one's own of it
"""
