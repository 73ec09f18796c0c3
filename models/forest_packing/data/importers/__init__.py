"""Instances from real machines.

- `nvidia_topo`: the matrix that `nvidia-smi topo -m` prints.
- `listing`: its text, also as it is pasted into mails, issues and logs.
- `nccl_topo`: the topology that NCCL dumps, hosts joined at their network cards.
- `nccl_xml`: its XML.
- `nvlink`: NVLinks of the generations of GPUs, and which networks a matrix can mean.
"""
