"""Which parallelism is best: optima of perceptrons, by batch and width.

The products of the network tell: split by samples is data parallelism, split by features, or summed
over them, is model parallelism as of Megatron. What is on every device is neither.
"""

from __future__ import annotations

from dataclasses import dataclass

import plotly.graph_objects as go

from gadgetopt.reporting.figures import BLUE, GREY, ORANGE, TEMPLATE, YELLOW
from gadgetopt.system.declaring import picture
from gadgetopt.system.result import Limits

from ..data.generate.networks import perceptron
from ..instance import OneFlowSbpInstance, OneFlowSbpSolution, Placement
from ..labels import PARTIAL, axis_of
from ..proving.exact.elimination import elimination

#: Batches and widths, and layers of the perceptrons.
SIZES = tuple(2**k for k in range(5, 14))
#: Layers of the perceptrons.
LAYERS = 4

PHASES = ("replicated", "data parallel", "hybrid", "model parallel")
_COLOURS = (GREY, BLUE, YELLOW, ORANGE)
_LETTERS = ("B", "D", "H", "M")


@dataclass(frozen=True)
class Phase:
    """The optimum of one perceptron.

    Attributes
    ----------
    name : str
        One of `PHASES`.
    cost : float
    """

    name: str
    cost: float


@picture(of="instance")
def draw(instance: OneFlowSbpInstance) -> go.Figure:
    """The best parallelism of a perceptron on these devices, by batch and width.

    Draw the phases on the devices of the first group in a line, with the instance's costs.
    """
    found = {(w, b): phase(instance, b, w) for w in SIZES for b in SIZES}
    codes = [[PHASES.index(found[w, b].name) for b in SIZES] for w in SIZES]
    count = len(PHASES)
    steps = [(k + d) / count for k in range(count) for d in (0, 1)]
    colours = [colour for colour in _COLOURS for _ in range(2)]
    figure = go.Figure(
        go.Heatmap(
            x=list(map(str, SIZES)),
            y=list(map(str, SIZES)),
            z=codes,
            zmin=-0.5,
            zmax=count - 0.5,
            colorscale=[list(pair) for pair in zip(steps, colours, strict=True)],
            colorbar={"tickvals": list(range(count)), "ticktext": list(PHASES)},
            text=[[_LETTERS[k] for k in row] for row in codes],
            texttemplate="%{text}",
            customdata=[[found[w, b].cost for b in SIZES] for w in SIZES],
            hovertemplate="batch %{x}, width %{y}: %{customdata:.4g}<extra></extra>",
            xgap=1,
            ygap=1,
        )
    )
    devices = instance.placements[0].devices
    figure.update_layout(
        title={
            "text": f"Best parallelism of a perceptron on {devices} devices",
            "subtitle": {"text": f"optima of {LAYERS} layers of equal width, costs as here"},
        },
        template=TEMPLATE,
        height=560,
        xaxis={"title": {"text": "batch"}, "type": "category"},
        yaxis={"title": {"text": "width"}, "type": "category"},
    )
    return figure


def phase(instance: OneFlowSbpInstance, batch: int, width: int) -> Phase:
    """Return how the optimum for a perceptron of this batch and width is parallel."""
    graph = perceptron([width] * (LAYERS + 1), batch)
    line = Placement(name="g0", hierarchy=(instance.placements[0].devices,))
    made = OneFlowSbpInstance(
        placements=(line,), operators=tuple(graph.operators.values()), costs=instance.costs
    )
    outcome = elimination(made, Limits())
    assert isinstance(outcome.solution, OneFlowSbpSolution), "perceptrons are small"
    return Phase(phase_of(made, outcome.solution), float(outcome.dual_bound or 0))


def phase_of(instance: OneFlowSbpInstance, solution: OneFlowSbpSolution) -> str:
    """Return one of `PHASES`, from the signatures of the products before the loss."""
    kinds = set()
    for o, operator in enumerate(instance.operators):
        if operator.kind == "cross_entropy_grad":
            break
        if operator.kind == "matmul":
            part = instance.tables.signatures[o][solution.signature[o]].output[0]
            if axis_of(part) == 0:
                kinds.add("data parallel")
            elif part == PARTIAL or axis_of(part) is not None:
                kinds.add("model parallel")
            else:
                kinds.add("replicated")
    if len(kinds) == 1:
        return kinds.pop()
    return "hybrid" if "data parallel" in kinds else "model parallel"
