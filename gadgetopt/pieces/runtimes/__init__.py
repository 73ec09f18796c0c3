"""Formats of what executes plans of pipelines: PyTorch, torchtitan, Megatron, DeepSpeed."""
