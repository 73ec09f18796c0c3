"""The exact method for any size: bound and schedule meet, capacity by capacity.

- `bin_search`: the search.
- `diving`: schedules from the linear pattern program, pattern by pattern.
- `enumeration`: all patterns that a packing can have, by their reduced costs.
"""
