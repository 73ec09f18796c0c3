"""Pictures of instances and solutions.

- trees: the trees of a plan, drawn into the links.
- utilisation: how busy every link is.
- study: accuracy against epsilon, and time against message size.
- layout: positions of nodes and links.
"""

ORDER = ("trees", "utilisation", "study")
