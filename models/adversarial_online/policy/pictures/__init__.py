"""Pictures of policies on their worst sequence (`worst`), and of what predictions cost."""

from gadgetopt.system.declaration import Parts, Picture

part: Parts = Parts(__name__)

PICTURES = (
    Picture(
        name="worst_sequence",
        summary="the policy's welfare and the optimum along the policy's worst sequence",
        draw=part("worst:draw"),
    ),
    Picture(
        name="frontier",
        summary="consistency on predicted sequences against the ratio on all others",
        draw=part("frontier:draw"),
        of="instance",
    ),
)
