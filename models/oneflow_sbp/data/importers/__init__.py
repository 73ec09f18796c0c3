"""Instances from networks that people have.

- `onnx`: the graph of an ONNX file, in training; `onnx_operators` converts its operators.
- `torch_export`: likewise of an exported PyTorch program; `torch_operators`.
- `hf_config`: a transformer's configuration; `hf_network` is its graph.
- `autoparallel`: a problem of PyTorch's AutoParallel; `autoparallel_dump` reads the file.
"""
