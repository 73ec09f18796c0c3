"""Instances from networks that people have.

- `onnx`: the graph of an ONNX file, in training; `onnx_operators` converts its operators.
"""
