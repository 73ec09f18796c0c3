"""Chakra execution traces: what each device computes, sends and receives, for simulators.

- wire: the part of the protobuf format that the traces need.
- traces: nodes of a trace, as bytes and back; whether sends and receives fit.
- work: the nodes of devices that do one thing after another.

The schema is `et_def.proto` of github.com/mlcommons/chakra.
"""
