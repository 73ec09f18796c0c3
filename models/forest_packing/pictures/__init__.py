"""Pictures of instances and solutions.

- trees: the trees of a plan, drawn into the links.
- utilisation: how busy every link is.
- study: accuracy against epsilon, and time against message size.
- layout: positions of nodes and links.
"""

from gadgetopt.system.declaration import Parts, Picture

part: Parts = Parts(__name__)

PICTURES = (
    Picture("trees", summary="the packed trees on the topology", draw=part("trees:trees")),
    Picture("utilisation", summary="load of every link", draw=part("utilisation:utilisation")),
    Picture(
        "accuracy",
        summary="rate against epsilon, with the certified band",
        draw=part("study:accuracy"),
        of="instance",
    ),
    Picture(
        "message_size",
        summary="time against message size, every algorithm",
        draw=part("study:message_size"),
        of="instance",
    ),
)
