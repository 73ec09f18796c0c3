"""What DAPPLE was compared with.

- `parallel`: data parallelism, GPipe, straight pipelines.
- `blocks`: balanced blocks of layers.
- `pipedream`: PipeDream's plan, run synchronously.
"""
