"""One iteration of a layered network, second by second, in exact numbers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from gadgetopt.numbers.tolerance import decimal_rational

from ..iteration_time import Layer


def by_priority(layers: Sequence[Layer], slice_s: float) -> Fraction:
    """Return the end of the forward pass if the link always serves the lowest layer that waits.

    The gradient of layer j is there when the backward pass, from the last layer down, has left it;
    its parameters are back one slice after its push.
    """
    ready, now = {}, Fraction(0)
    for j in reversed(range(len(layers))):
        now += decimal_rational(layers[j].bp_s)
        ready[j] = now
    left = {j: decimal_rational(layer.comm_s) for j, layer in enumerate(layers)}
    back, now = {}, Fraction(0)
    while left:
        waiting = [j for j in left if ready[j] <= now]
        later = [ready[j] for j in left if ready[j] > now]
        if not waiting:
            now = min(later)
            continue
        j = min(waiting)
        spent = min([left[j], *(t - now for t in later)])
        now += spent
        left[j] -= spent
        if not left[j]:
            del left[j]
            back[j] = now + decimal_rational(slice_s)
    return _forward(layers, back)


def without_waiting(layers: Sequence[Layer]) -> Fraction:
    """Return the end of the forward pass if layers are pushed, and pulled, in the order they come.

    Pushes and pulls have a direction of the link each.
    """
    computed = pushed = pulled = Fraction(0)
    back = {}
    for j in reversed(range(len(layers))):
        comm = decimal_rational(layers[j].comm_s)
        computed += decimal_rational(layers[j].bp_s)
        pushed = max(pushed, computed) + comm
        pulled = max(pulled, pushed) + comm
        back[j] = pulled
    return _forward(layers, back)


def _forward(layers: Sequence[Layer], back: dict[int, Fraction]) -> Fraction:
    now = Fraction(0)
    for j, layer in enumerate(layers):
        now = max(now, back[j]) + decimal_rational(layer.fp_s)
    return now
