"""Pictures of instances and solutions: one file each."""

from gadgetopt.system.declaration import Parts, Picture

part = Parts(__name__)

PICTURES = (
    Picture("gantt", summary="GPUs over time, spread jobs marked", draw=part("gantt:plot")),
)
