r"""Where ZB-H1 is optimal: equal stages, one a device, with memory for P microbatches.

**Theorem.** Let all stages have the same f, i, w and c, let memory of a microbatch be held until
its W, for P < M microbatches, and let :math:`2c \le w \le \min(f + 2c,\ i + c)`. Then no makespan
and no period is less than

.. math:: M (f + i + w) + (P - 1)(f + i - w) + 4 (P - 1) c,

and ZB-H1 attains it.

*Lower bound.* (B4) on device 0: the first I waits for :math:`f + R` with
:math:`R = (P - 1)(f + i + 2c)`, of which P forwards fill P f; the last microbatch waits for R, of
which P - 1 others fill at most :math:`(P - 1)(i + w)`.

*Schedule.* Let :math:`T = f + i + w` and :math:`u = f + i + 2c`. On device d, I of microbatch j
starts at

.. math:: b_d + u \min(j, d) + T \,(\min(j, J_d) - d)^+ + u\,(j - J_d)^+, \quad
    b_d = P f + (P - 1) c + (P - 1 - d)(i + c), \quad J_d = M - P + d,

the forward of microbatch P - d + j ends when I of j + 1 starts, and W of j - d follows I of j. An I
starts :math:`i + c` after that of device d + 1, or w - 2c later still; a forward starts when its
activation has come; between I of j and forward lie :math:`2c \ge 0` without a W, and nothing with
one, since :math:`T \ge u`; after the last forward W fits between two I's, since
:math:`w \le f + 2c`. Device 0 ends with the W of the last I, at the bound; device d ends
:math:`d (i + c - w) \ge 0` earlier. The period is at most the makespan.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gadgetopt.system.declaring import guarantee

if TYPE_CHECKING:
    from ..instance import PipelineSchedulesInstance


def equal_stages(instance: PipelineSchedulesInstance, _parameters: Mapping[str, Any]) -> bool:
    """Return True if one route has equal stages, stage s alone on device s, and nothing else."""
    stages = instance.stages
    if len(instance.routes) > 1 or instance.overlaps or instance.links != "lag":
        return False
    if [stage.device for stage in stages] != list(range(instance.num_devices)):
        return False
    if any(stage.transfer_s != stages[0].transfer_s for stage in stages[:-1]):
        return False
    alike = {
        stage.model_copy(update={"device": 0, "transfer_s": stages[-1].transfer_s})
        for stage in stages
    }
    first = stages[0]
    plain = first.recompute_act_bytes is None and first.offload_s is None
    return len(alike) == 1 and plain and first.fused_saving_s is None and not first.allreduce_s


def memory_for_devices(instance: PipelineSchedulesInstance, _parameters: Mapping[str, Any]) -> bool:
    """Return True if every device holds P < M microbatches, each until its W."""
    P, stage = instance.num_devices, instance.stages[0]
    if instance.memory_bytes is None or not stage.act_bytes or instance.microbatches[0] <= P:
        return False
    held = {capacity // stage.act_bytes for capacity in instance.memory_bytes}
    return held == {P} and stage.act_bytes == stage.weight_act_bytes


def times_in_range(instance: PipelineSchedulesInstance, _parameters: Mapping[str, Any]) -> bool:
    """Return True if 2c <= w <= min(f + 2c, i + c)."""
    stage = instance.stages[0]
    f, i, w, c = stage.fwd_s, stage.input_grad_s, stage.weight_grad_s, stage.transfer_s
    return 2 * c <= w <= min(f + 2 * c, i + c)


@guarantee(
    name="ZB-H1 is optimal",
    statement="makespan and period are the least, (P - 1)(f + i - w + 4c) above M (f + i + w)",
    reference="this project",
    methods=("zb_h1",),
    assumptions={
        "equal stages, one a device": equal_stages,
        "memory for P < M microbatches until W": memory_for_devices,
        "2c <= w <= min(f + 2c, i + c)": times_in_range,
    },
)
def one(_instance: PipelineSchedulesInstance, _parameters: Mapping[str, Any]) -> int:
    """Return 1."""
    return 1
