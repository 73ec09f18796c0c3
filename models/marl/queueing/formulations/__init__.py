"""The model on paper.

- `time_slotted`: F3, contents of servers in every slot, and its linear relaxation.
"""

from gadgetopt.system.declaration import Formulation, Method, Parts

part: Parts = Parts(__name__)

FORMULATIONS = (
    Formulation(
        "time_slotted",
        model_class="ILP",
        strength="exact",
        summary="in every slot a content of every server",
        equations="F3 (1)-(7) (reconstructed)",
        build=part("time_slotted:build"),
        decode=part("time_slotted:decode"),
        backends=("highs", "cpsat"),
    ),
    Formulation(
        "time_slotted_lp",
        model_class="LP",
        strength="relaxation",
        summary="its linear relaxation",
        equations="F3 (1)-(7) without integrality (reconstructed)",
        build=part("time_slotted:build_relaxation"),
        decode=None,
        backends=("highs",),
    ),
)

METHODS: tuple[Method, ...] = ()
