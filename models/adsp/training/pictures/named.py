"""The policies that pictures compare, by name."""

from __future__ import annotations

from ..instance import (
    Adacomm,
    Adsp,
    AdspTrainingInstance,
    Bsp,
    FixedAdacomm,
    Policy,
    Rate,
    Ssp,
)


def name_of(policy: Policy) -> str:
    """Return a policy's name."""
    if isinstance(policy, Rate):
        more = f", momentum {policy.momentum:g}" if policy.momentum else ""
        more += f", rate x {policy.lr_factor:g}" if policy.lr_factor != 1 else ""
        return f"{policy.commits} commits{more}"
    if isinstance(policy, Ssp):
        return f"SSP({policy.slack})"
    if isinstance(policy, FixedAdacomm):
        return f"Fixed ADACOMM({policy.local_steps})"
    return policy.kind.upper()


def compared(instance: AdspTrainingInstance) -> list[Policy]:
    """Return ADSP and what it was compared with."""
    offered = instance.choices.local_steps
    fixed = (
        [FixedAdacomm(local_steps=min(offered, key=lambda tau: abs(tau - 40)))] if offered else []
    )
    return [
        Adsp(),
        *([Adacomm()] if offered else []),
        *fixed,
        *(Ssp(slack=slack) for slack in instance.choices.slacks[:1]),
        Bsp(),
    ]
