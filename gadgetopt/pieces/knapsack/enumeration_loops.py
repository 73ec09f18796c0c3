"""Inner loop of the enumeration: the children of the nodes of a block that may reach the profit."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gadgetopt.numbers.arrays import Floats
from gadgetopt.numbers.compiled import compiled

#: Options and parents of nodes.
Places = npt.NDArray[np.int32]


def children(
    nodes: tuple[Floats, Floats],
    options: tuple[Floats, Floats],
    rest: float,
    least: Floats,
    need: float,
    further: tuple[Floats, Floats],
) -> tuple[Floats, Floats, Places, Places]:
    """Take every option of a level in all nodes, and keep the children that no bound prunes.

    All numbers are whole, so that sums are exact in any order.

    Parameters
    ----------
    nodes : (ndarray, ndarray)
        Worth, shape (nodes,), and residual capacity, shape (rows, nodes).
    options : (ndarray, ndarray)
        Worth, shape (options,), and weight, shape (options, rows).
    rest : float
        Most that the levels below add to the worth.
    least : ndarray of float, shape (rows,)
        Least residual capacity that the levels below need.
    need : float
        Least profit of interest.
    further : (ndarray, ndarray)
        Further prices less the main ones, shape (prices, rows), and the most that the levels below
        add at them, shape (prices,).

    Returns
    -------
    (ndarray, ndarray, ndarray, ndarray)
        Worth, residual capacity, option and parent of the children, by option.
    """
    most = len(nodes[0]) * len(options[0])
    room = (
        *(np.empty(most), np.empty((len(least), most))),
        *(np.empty(most, dtype=np.int32), np.empty(most, dtype=np.int32)),
    )
    count = _keep_children(nodes, options, rest, least, need, further, room)
    worth, residual, option, parent = room
    return (
        worth[:count].copy(),
        residual[:, :count].copy(),
        option[:count].copy(),
        parent[:count].copy(),
    )


@compiled
def _keep_children(
    nodes: tuple[Floats, Floats],
    options: tuple[Floats, Floats],
    rest: float,
    least: Floats,
    need: float,
    further: tuple[Floats, Floats],
    found: tuple[Floats, Floats, Places, Places],
) -> int:
    """Write the children; return their number."""
    worths, residuals = nodes
    gains, weights = options
    differences, rests = further
    worth, residual, option, parent = found
    rows = len(least)
    count = 0
    for o in range(len(gains)):
        enough = need - (gains[o] + rest)
        for p in range(len(worths)):
            if worths[p] < enough:
                continue
            r = 0
            while r < rows and residuals[r, p] - weights[o, r] >= least[r]:
                residual[r, count] = residuals[r, p] - weights[o, r]
                r += 1
            if r < rows:
                continue
            total = worths[p] + gains[o]
            kept = True
            k = 0
            while kept and k < len(rests):
                bound = total + rests[k]
                for r in range(rows):
                    bound += differences[k, r] * residual[r, count]
                kept = bound >= need
                k += 1
            if kept:
                worth[count] = total
                option[count] = o
                parent[count] = p
                count += 1
    return count
