"""Features: how long pipelines are beside their microbatches, and how much memory there is."""

from __future__ import annotations

from gadgetopt.system.features import variation

from .instance import PipelineSchedulesInstance


def features(instance: PipelineSchedulesInstance) -> dict[str, float]:
    """Return density and difficulty of an instance.

    - `microbatches_per_device`: bubbles are short where there are many.
    - `stages_per_device`: chunks; more of them shorten the warm-up.
    - `weight_share`: the part of the gradients of weights in all times; they fill bubbles.
    - `input_grad_over_forward`: the gradient of the input over the forward.
    - `transfer_over_forward`: mean transfer over mean forward.
    - `memory_in_flight`: microbatches of all stages of a device that its memory holds, of the
      tightest device; all of them if memory is unlimited.
    - `time_variation`: coefficient of variation of the stages' times.
    """
    stages, counts = instance.stages, instance.microbatches
    forward = float(sum(s.fwd_s for s in stages))
    inputs = float(sum(s.input_grad_s for s in stages))
    weights = float(sum(s.weight_grad_s for s in stages))
    held = [sum(float(stages[s].act_bytes) for s in mine) for mine in instance.stages_of_device]
    most = float(max(counts))
    if instance.memory_bytes is not None:
        room = zip(instance.memory_bytes, held, strict=True)
        most = min([most, *(float(capacity) / a for capacity, a in room if a)])
    return {
        "microbatches_per_device": float(
            sum(r.num_microbatches for r in instance.routes) / instance.num_devices
        ),
        "stages_per_device": len(stages) / instance.num_devices,
        "weight_share": weights / (forward + inputs + weights),
        "input_grad_over_forward": inputs / forward,
        "transfer_over_forward": float(sum(s.transfer_s for s in stages)) / forward,
        "memory_in_flight": most,
        "time_variation": variation(
            float(s.fwd_s + s.input_grad_s + s.weight_grad_s) for s in stages
        ),
    }
