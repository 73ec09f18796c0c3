"""Instances from real machines.

- `nvidia_topo`: the matrix that `nvidia-smi topo -m` prints.
- `listing`: its text, also as it is pasted into mails, issues and logs.
- `nvlink`: NVLinks of the generations of GPUs, and which networks a matrix can mean.
"""

from gadgetopt.system.declaration import Importer, Parts

part: Parts = Parts(__name__)

IMPORTERS = (
    Importer(
        "nvidia_topo",
        summary="the matrix that `nvidia-smi topo -m` prints",
        read=part("nvidia_topo:nvidia_topo"),
        parameters={
            "gpu": "",
            "fabric": "auto",
            "link_gbyte_per_s": None,
            "pcie_gbyte_per_s": 0.0,
            "model_size_gbyte": 1.0,
        },
        help={
            "gpu": "such as v100, h100, gb200, a6000, where the matrix fits several",
            "fabric": "switch (NVSwitch) or mesh (cables), where the matrix fits both",
            "link_gbyte_per_s": "of one NVLink, per direction; else the GPU's: 20 (P100), "
            "25 (V100 to H100, A30), 50 (Blackwell), 14.0625 (A6000, RTX 3090)",
            "pcie_gbyte_per_s": "of a PCIe port of every GPU; 0: no links through PCIe",
        },
    ),
)
