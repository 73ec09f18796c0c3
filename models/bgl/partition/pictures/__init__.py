"""Pictures of partitions.

- `layout`: the graph, its parts, and what is cut.
- `loads`: nodes and training nodes of every part.
"""
