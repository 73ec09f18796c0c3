"""The trusted checks of lower bounds; nothing here is part of a search.

- `check`: the type of certificates, and `check_bound`.
- `copies`: plans of several copies of the pipeline, by what a copy takes at least.
"""
