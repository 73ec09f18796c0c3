"""Pictures, one per file.

gantt: the GPUs over time, with spread jobs marked.
"""

from gadgetopt.system.declaration import Parts, Picture

part: Parts = Parts(__name__)

PICTURES = (
    Picture("gantt", summary="GPUs over time, spread jobs marked", draw=part("gantt:plot")),
)
