"""What proves: certificates and their check, bounds, the exact method.

- `certificate`: what has to be believed.
- `bounds`: load, cycles weighted by a linear program, ways through the graph.
- `exact`: bounds and published slots, then models with few firings in a window.
"""
