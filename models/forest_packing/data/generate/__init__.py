"""Generators of instances.

- `presets`: random overlays, hardware, data-centre fabrics and plain graphs, with contention.
- `topologies`: the networks they are made of.
"""
