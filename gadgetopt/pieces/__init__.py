"""Parts that several systems are made of and no paper owns.

- `knapsack`: multi-dimensional and multiple-choice knapsacks, exact, bounded, approximate
- `graphs`: arborescences, spanning trees, flows and packings
- `pipeline`: synchronous pipelines of a chain of layers: plans, schedules, bounds, exact search
- `runtimes`: formats of what executes pipelines; `exporting`: how solutions are written for it
- `rounding`, `bicriteria`: randomised rounding of packing and covering programs
- `utility`: sigmoid utility of a completion time
- `networks`: networks trained with torch, their state as arrays
- `interference_model`: how much jobs on one server slow each other down, by regression
- `traces`, `trace_selection`, `csv_rows`: traces of GPU clusters, the jobs of them that are kept or
  drawn, and the CSV files they are in
"""
