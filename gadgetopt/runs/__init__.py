"""Comparisons: many runs, stored as they end.

comparison    instances x methods x seeds: do the missing runs, return the ratio table
study         comparisons as files (toml: writing TOML)
grid          the runs of a comparison, generated lazily
engine        execution: isolated processes, here or on a Dask cluster
store         one SQLite file of runs (store_file: opening it; store_tables: tables, migrations)
rows          a run as one row of the store
merging       several stores made one
code          the code that made a run, which is part of its key
training      trainings that go on where they were stopped
progress      progress on the terminal (tally: how far each system is)
"""
