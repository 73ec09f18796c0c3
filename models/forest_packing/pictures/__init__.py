"""Pictures of instances and solutions: one file each."""

from gadgetopt.system.declaration import Parts, Picture

part = Parts(__name__)

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
