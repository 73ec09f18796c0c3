"""Methods that close gaps: decompositions, branch and bound, ladders, portfolios."""

from gadgetopt.system.declaration import Method, Parts

part = Parts(__name__)

METHODS = (
    Method(
        "offline",
        kind="exact",
        summary="all slots together: totals by a relaxation, a schedule that reaches them, or cuts",
        reference="epoch relaxation and construction (reconstructed)",
        run=part("offline:offline"),
        parameters={
            "restarts": 20,
            "rounds": 30,
            "exchange_s": 2.0,
            "reach_s": 5.0,
            "search_s": 60.0,
        },
        stochastic=True,
        formulation="epochs",
        backend="highs",
    ),
)
