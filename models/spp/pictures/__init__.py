"""Pictures: one file each.

- `schedule`: the Gantt chart of stages and channels with bubbles.
- `critical`: head, load and tail of every machine.
- `mapping`: the stages on the GPUs, and the bandwidths between them.
- `curves`: iteration time, bound and load against the number of stages and of microbatches.
- `memory`: iteration time against the memory of a GPU.
"""

from gadgetopt.system.declaration import Parts, Picture

part: Parts = Parts(__name__)

PICTURES = (
    Picture(
        name="schedule",
        summary="blocks of stages and channels over time, with bubbles and AllReduce",
        draw=part("schedule:draw"),
    ),
    Picture(
        name="critical_machine",
        summary="head, load and tail of every stage and channel: what limits the iteration",
        draw=part("critical:draw"),
    ),
    Picture(
        name="mapping",
        summary="stages on the GPUs, in the order of the stages, with the bandwidths between them",
        draw=part("mapping:draw"),
    ),
    Picture(
        name="stages",
        summary="iteration time, bound and load of SPP's plans against the number of stages",
        draw=part("curves:draw_stages"),
        of="instance",
    ),
    Picture(
        name="microbatches",
        summary="iteration time of SPP against the microbatches that one minibatch is split into",
        draw=part("curves:draw_microbatches"),
        of="instance",
    ),
    Picture(
        name="memory",
        summary="iteration time of SPP against the memory of a GPU",
        draw=part("memory:draw"),
        of="instance",
    ),
)
