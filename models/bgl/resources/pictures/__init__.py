"""Pictures of allocations: the time of every stage (`stages`)."""
