"""The trusted checks of lower bounds; nothing here is part of a search.

- `records`: the types of certificates.
- `check`: the cases of a certificate, `check_bound`.
- `cost_tables`: what an instance costs, in whole numbers.
- `least_cost`: elimination; `least_with_label`: there and back.
- `moved_costs`: messages, and labels that others replace.
"""
