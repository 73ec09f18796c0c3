"""Instances from networks that people have.

- `onnx`: the graph of an ONNX file, in training; `onnx_operators` converts its operators.
"""

from gadgetopt.system.declaration import Importer, Parts

part: Parts = Parts(__name__)

IMPORTERS = (
    Importer(
        format="onnx",
        summary="networks in ONNX files; the training graph is derived",
        read=part("onnx:read_onnx"),
        parameters={
            "devices": "8",
            "batch": 0,
            "dimensions": "",
            "training": True,
            "unit": "oneflow",
            "compute_ratio": 0.05,
            "memory_limit_gb": 0.0,
        },
        help={
            "devices": "8, or 2x4 for two groups of four devices",
            "batch": "extent of the first axis of every input, if the file leaves it open",
            "dimensions": "extents of axes that the file names, such as sequence=128,height=224",
            "training": "false for the network alone, without gradients and updates",
        },
    ),
)
