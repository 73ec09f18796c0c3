"""Instances from real machines.

- nvidia_topo: the matrix that `nvidia-smi topo -m` prints.
"""

from gadgetopt.system.declaration import Importer, Parts

part: Parts = Parts(__name__)

IMPORTERS = (
    Importer(
        "nvidia_topo",
        summary="the matrix that `nvidia-smi topo -m` prints",
        read=part("nvidia_topo:nvidia_topo"),
        parameters={
            "nvlink_gbyte_per_s": 25.0,
            "pcie_gbyte_per_s": 0.0,
            "nvswitch": "auto",
            "model_size_gbyte": 1.0,
        },
    ),
)
