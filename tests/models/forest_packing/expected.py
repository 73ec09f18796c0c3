"""Certified optimal rates of the library's instance files, by file name, as exact fractions.

Import with `from .expected import ...`. Every value is attained and proved by at least two of: the
closed form of the network, minimum cuts, the partition formula (A4), the exact rate of ForestColl
(A6), the compact flow LP (F2), cut generation (F3).
"""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from gadgetopt.models.forest_packing.instance import ForestPackingInstance

LIBRARY = Path(__file__).parents[3] / "instances"


class Rates(NamedTuple):
    """Optimal rates of a network, GB/s.

    Attributes
    ----------
    allreduce : Fraction
        R* of an allreduce with overlapping stages. The same for free roots, uniform ones and any
        fixed one, and where `sequential` is None for stages that take turns as well.
    allgather : Fraction
        N x* of an allgather with uniform shares. Twice `allreduce` where `sequential` is None.
    broadcast : Fraction
        Of a broadcast from worker 0.
    tight : str
        What limits the allreduce.
    sequential : Fraction, optional
        R* of an allreduce whose stages take turns, free roots, where it differs.
    """

    allreduce: Fraction
    allgather: Fraction
    broadcast: Fraction
    tight: str
    sequential: Fraction | None = None


def _rates(
    allreduce: str, broadcast: str, tight: str, *, allgather: str = "", sequential: str = ""
) -> Rates:
    rate = Fraction(allreduce)
    return Rates(
        rate,
        Fraction(allgather) if allgather else 2 * rate,
        Fraction(broadcast),
        tight,
        Fraction(sequential) if sequential else None,
    )


#: Rates of the files in hardware/.
HARDWARE = {
    "dgx1_v100": _rates("600/7", "150", "single GPUs"),
    "dgx1_p100": _rates("320/7", "80", "single GPUs"),
    "ndv2_x2": _rates("25/2", "25/2", "boxes"),
    "dgx2": _rates("80", "150", "one GPU's links"),
    # Asymmetric, so that overlap pays: a GPU that receives more and one that sends more take turns.
    "dgx2_x2": _rates(
        "2500/31", "100", "one GPU's links", allgather="4800/31", sequential="2400/31"
    ),
    "a100": _rates("1200/7", "300", "one GPU's links"),
    "a100_x2": _rates("520/3", "200", "one GPU's links (325)"),
    "a100_x3": _rates("150", "200", "one box (200)"),
    "a100_x4": _rates("400/3", "200", "one box (200)"),
    "a100_x8": _rates("800/7", "200", "one box (200)"),
    "h100_x2": _rates("800/3", "400", "one GPU's links (500)"),
    "h100_x4": _rates("8000/31", "400", "one GPU's links (500)"),
    "mi250": _rates("1200/7", "300", "the 8 pairs of dies with 4 links"),
    "mi250_x2": _rates("2656/15", "256", "a pair of dies (332)"),
    "mi250_x4": _rates("512/3", "256", "one box (256)"),
    "amd8": _rates("152/7", "38", "single GPUs"),
}

#: Rates of the files in networks/; all bandwidths are 1, hosts have 2 in fat_tree_4_hosts_2.
NETWORKS = {
    "star_8": _rates("4/7", "1", "one worker's link"),
    "fat_tree_4": _rates("8/15", "1", "one host's link"),
    "fat_tree_4_hosts_2": _rates("16/15", "2", "one host's link"),
    "fat_tree_6": _rates("27/53", "1", "one host's link"),
    "bcube_4": _rates("16/15", "2", "one host's two links"),
    "bcube_8": _rates("64/63", "2", "one host's two links"),
    "dcell_4": _rates("20/19", "2", "one host's two links"),
    "torus_4x4": _rates("32/15", "4", "single workers"),
    "torus_8x8": _rates("128/63", "4", "single workers"),
    "hypercube_4": _rates("32/15", "4", "single workers"),
    "hypercube_6": _rates("64/21", "6", "single workers"),
    "ring_8": _rates("8/7", "2", "single workers"),
    "complete_8": _rates("4", "7", "single workers"),
}

#: All of the above.
RATES = {**HARDWARE, **NETWORKS}

#: Allreduce rates of the files in subsets/, partial allocations of a DGX-1 V100: of each size and
#: rate one set of GPUs with a Hamiltonian ring and one without, where there are both.
SUBSETS = {
    f"dgx1_v100_{'_'.join(gpus)}": Fraction(rate)
    for gpus, rate in {
        "013": "125/2",
        "012": "50",  # ring
        "014": "50",
        "015": "25",
        "016": "0",
        "0123": "75",
        "0145": "175/3",
        "0246": "50",  # ring
        "0124": "50",
        "0347": "75/2",
        "0125": "25",
        "0127": "0",
        "01345": "125/2",
        "01246": "225/4",
        "01245": "50",  # ring
        "01234": "50",
        "01235": "25",
        "013457": "70",
        "012456": "65",
        "012345": "125/2",
        "012467": "60",
        "012567": "175/3",
        "012347": "50",
        "0123456": "75",
    }.items()
}

#: The files of `SUBSETS` in which no ring visits all GPUs.
WITHOUT_RING = {
    f"dgx1_v100_{'_'.join(gpus)}"
    for gpus in ("014", "015", "016", "0124", "0125", "0127", "01234", "01235")
}

#: How many of the sets of k GPUs of a DGX-1 V100 have which allreduce rate, NVLink only.
SUBSET_COUNTS = {
    k: Counter({Fraction(rate): count for rate, count in counts.items()})
    for k, counts in {
        3: {"125/2": 4, "50": 8, "25": 20, "0": 24},
        4: {"75": 2, "175/3": 2, "50": 14, "75/2": 2, "25": 36, "0": 14},
        5: {"125/2": 4, "225/4": 4, "50": 24, "25": 24},
        6: {"70": 2, "65": 2, "125/2": 6, "60": 2, "175/3": 4, "50": 12},
        7: {"75": 8},
    }.items()
}

#: The tight partition of the quickstart instance is {1}, {2}, {0, 3, 4}: 45 GB/s over 2.
QUICKSTART = Fraction(45, 2)


def library_instance(name: str, **fields: Any) -> ForestPackingInstance:
    """Return the instance of a file of `RATES` or `SUBSETS`, with other `fields`."""
    (path,) = (LIBRARY / "forest_packing").rglob(f"{name}.json")
    data = json.dumps(json.loads(path.read_text())["data"])
    return ForestPackingInstance.model_validate_json(data).model_copy(update=fields)
