"""What DAPPLE was compared with.

- `parallel`: data parallelism, GPipe, straight pipelines.
- `blocks`: balanced blocks of layers.
- `pipedream`: PipeDream's plan, run synchronously.
- `even_splits`: what torchtitan, Megatron and DeepSpeed do without a planner.
"""
