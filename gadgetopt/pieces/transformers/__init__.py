"""Transformers by their configuration: parameters, FLOPs, activations, times on accelerators.

- `architecture`: what a configuration says of a model
- `config_file`: config.json of the families that are known
- `layers`: parameters and floating-point operations of every layer, exact
- `activations`: bytes kept for the backward, bytes of the training state
- `accelerators`: devices and boxes, from a table with sources and a file of one's own
- `times`: seconds of a microbatch in every layer
- `torch_trace`: measured times of layers, from traces of torch.profiler
- `pipelines`: chains of layers on clusters, for the importers of pipeline planners
"""
