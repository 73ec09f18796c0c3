"""The trusted checks of lower bounds; nothing here is part of a search.

- `check`: the types of certificates, and `check_bound`.
- `orders`: that no order of fixed batches has so few reloads; `order_loops`: its compiled loops.
- `gpu_orders`: that no plan of several GPUs costs less; `shared_caches`: what shared ones may hold;
  `static_caches`: that no static ones cost less in steps that wait for the slowest GPU.
"""
