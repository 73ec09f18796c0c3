"""Presets: random chains of layers on clusters of several kinds (reconstructed)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gadgetopt.errors import InputError
from gadgetopt.system.declaring import generator

if TYPE_CHECKING:
    import numpy as np

    from ...instance import SppInstance

#: Bytes.
_GBYTE, _MBYTE = 1e9, 1e6
#: Bandwidths of the presets of several levels, GB/s.
_LEVELS = (12.0, 3.0, 1.25)


@generator()
def quickstart(rng: np.random.Generator, *, layers: int = 8, microbatches: int = 6) -> SppInstance:
    """Eight layers on two machines of two GPUs.

    Return an instance that exact methods close at once, on two machines of two GPUs.
    """
    return paper(rng, layers=layers, microbatches=microbatches, machines=2, gpus_per_machine=2)


@generator()
def paper(
    rng: np.random.Generator,
    *,
    layers: int = 24,
    microbatches: int = 16,
    machines: int = 4,
    gpus_per_machine: int = 4,
    intra_gbyte_per_s: float = 12.0,
    inter_gbyte_per_s: float = 1.25,
) -> SppInstance:
    """Random chains on machines with fast links inside and slow ones between.

    Forward times are drawn from 1 to 10 ms, backward times are twice that, give or take a tenth;
    half the layers have no parameters, the others 1 to 400 MB, log-uniformly; boundaries have 1 to
    200 MB a microbatch, log-uniformly (reconstructed).
    """
    cluster = {
        "type": "two_level",
        "gpus_per_machine": [gpus_per_machine] * machines,
        "intra_bytes_per_s": intra_gbyte_per_s * _GBYTE,
        "inter_bytes_per_s": inter_gbyte_per_s * _GBYTE,
    }
    return _instance(_chain(rng, layers), microbatches, cluster)


@generator()
def arbitrary(
    rng: np.random.Generator, *, layers: int = 24, microbatches: int = 16, gpus: int = 8
) -> SppInstance:
    """Links of 1.5, 3, 6 or 12 GB/s, drawn for every pair of GPUs.

    Return a random chain on GPUs whose links are drawn from 1.5, 3, 6 and 12 GB/s.
    """
    chain = _chain(rng, layers)
    b = [[0.0] * gpus for _ in range(gpus)]
    for u in range(gpus):
        for v in range(u):
            b[u][v] = b[v][u] = float(rng.choice([1.5, 3.0, 6.0, 12.0])) * _GBYTE
    return _instance(chain, microbatches, {"type": "matrix", "bandwidth_bytes_per_s": b})


@generator()
def fat_tree(
    rng: np.random.Generator,
    *,
    layers: int = 24,
    microbatches: int = 16,
    racks: int = 2,
    machines: int = 2,
    gpus_per_machine: int = 2,
) -> SppInstance:
    """Three levels of 12, 3 and 1.25 GB/s: GPU pairs, machines, racks.

    Return a random chain on racks of machines: 12, 3 and 1.25 GB/s from the inside out.
    """
    V, size = racks * machines * gpus_per_machine, gpus_per_machine

    def level(u: int, v: int) -> float:
        if u // size == v // size:
            return _LEVELS[0]
        return _LEVELS[1 if u // (size * machines) == v // (size * machines) else 2]

    b = [[0.0 if u == v else level(u, v) * _GBYTE for v in range(V)] for u in range(V)]
    cluster = {"type": "matrix", "bandwidth_bytes_per_s": b}
    return _instance(_chain(rng, layers), microbatches, cluster)


@generator()
def large_parameters(
    rng: np.random.Generator,
    *,
    layers: int = 24,
    microbatches: int = 16,
    machines: int = 2,
    gpus_per_machine: int = 4,
) -> SppInstance:
    """Parameters only in the last layers, as of convolutional networks.

    Return a chain whose boundaries shrink and whose last three layers have the parameters.

    Convolutional networks are like that: early stages want many GPUs, the last ones few.
    """
    chain = _chain(rng, layers)
    for ell, layer in enumerate(chain):
        part = 1 - ell / layers
        layer["act_bytes"] = float(round(200 * _MBYTE * part**2))
        layer["param_bytes"] = float(round((200 if ell >= layers - 3 else 2) * _MBYTE))
    chain[-1]["act_bytes"] = 0.0
    cluster = {
        "type": "two_level",
        "gpus_per_machine": [gpus_per_machine] * machines,
        "intra_bytes_per_s": _LEVELS[0] * _GBYTE,
        "inter_bytes_per_s": _LEVELS[2] * _GBYTE,
    }
    return _instance(chain, microbatches, cluster)


def _chain(rng: np.random.Generator, layers: int) -> list[dict[str, Any]]:
    """Return random layers: times in whole microseconds, sizes in whole bytes."""
    if layers < 1:
        raise InputError(f"layers: {layers}, expected at least 1")
    chain = []
    for ell in range(layers):
        fwd_ms = rng.uniform(1, 10)
        bwd_ms = 2 * fwd_ms * (1 + rng.uniform(-0.1, 0.1))
        params = _log_uniform(rng, 1, 400) if rng.random() < 0.5 else 0.0
        act = _log_uniform(rng, 1, 200)
        chain.append(
            {
                "fwd_time_s": round(fwd_ms / 1e3, 6),
                "bwd_time_s": round(bwd_ms / 1e3, 6),
                "param_bytes": params,
                "act_bytes": act if ell < layers - 1 else 0.0,
            }
        )
    return chain


def _log_uniform(rng: np.random.Generator, least_mb: float, most_mb: float) -> float:
    """Return whole kilobytes as bytes, log-uniform between two numbers of megabytes."""
    mb = least_mb * (most_mb / least_mb) ** rng.random()
    return float(round(mb * 1e3) * 1000)


def _instance(
    chain: list[dict[str, Any]], microbatches: int, cluster: dict[str, Any]
) -> SppInstance:
    from gadgetopt.system.files import validate

    from ...instance import SppInstance

    data = {"layers": chain, "num_microbatches": microbatches, "cluster": cluster}
    made: SppInstance = validate(SppInstance, data, "preset")
    return made
