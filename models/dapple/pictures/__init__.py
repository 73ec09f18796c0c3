"""Pictures: one file each.

- `schedule`: the Gantt chart of stages and links, the pivot marked.
- `latency`: latency, bound and makespans for every pivot.
- `memory`: activations against warm-up numbers.
- `mapping`: how many GPUs of each machine the stages have.
- `curves`: speedups against the number of microbatches and the network between machines.
"""

from gadgetopt.system.declaration import Parts, Picture

part: Parts = Parts(__name__)

PICTURES = (
    Picture(
        name="schedule",
        summary="blocks of stages and links over time, the paper's pivot marked",
        draw=part("schedule:draw"),
    ),
    Picture(
        name="latency",
        summary="the latency for every pivot beside the bound and simulated makespans",
        draw=part("latency:draw"),
    ),
    Picture(
        name="memory",
        summary="activations of each stage against its warm-up number, and GPipe's",
        draw=part("memory:draw"),
    ),
    Picture(
        name="mapping",
        summary="GPUs of each machine in each stage",
        draw=part("mapping:draw"),
    ),
    Picture(
        name="microbatches",
        summary="speedups and the certified limit against the number of microbatches",
        draw=part("curves:draw_microbatches"),
        of="instance",
    ),
    Picture(
        name="network",
        summary="speedups and the certified limit against the bandwidths between machines",
        draw=part("curves:draw_network"),
        of="instance",
    ),
)
