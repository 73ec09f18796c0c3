"""Pictures, one file each.

- `plan`: operators coloured by label, with the collectives between them.
- `edge`: what other labels at the dearest conversion would cost.
- `pareto`: cost against memory, from the largest memory that helps to the least there is.
- `phases`: which parallelism is best, by batch and width.
"""

from gadgetopt.system.declaration import Parts, Picture

part: Parts = Parts(__name__)

PICTURES = (
    Picture(
        "plan",
        summary="operators coloured by the label of their output, with the collectives in between",
        draw=part("plan:draw"),
    ),
    Picture(
        "edge",
        summary="what other labels at the ends of the dearest conversion would cost",
        draw=part("edge:draw"),
    ),
    Picture(
        "pareto",
        summary="cost against memory of a device, and the strategies chosen by hand",
        draw=part("pareto:draw"),
        of="instance",
    ),
    Picture(
        "phases",
        summary="the best parallelism of a perceptron on these devices, by batch and width",
        draw=part("phases:draw"),
        of="instance",
    ),
)
