"""Networks trained with torch on one core: the same numbers from the same seed, state as arrays.

Torch is in the extra `learn`. What a trained network computes is written with `@`, `+` and `clip`,
which arrays and tensors share, so that methods read a policy and use it without torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from gadgetopt.errors import ModelRefused

Arrays = Mapping[str, npt.NDArray[Any]]


def torch_on_one_core() -> Any:
    """Import torch, on one thread and with deterministic algorithms only.

    Raises
    ------
    ModelRefused
        If it is not installed.
    """
    try:
        import torch
    except ImportError:
        raise ModelRefused(
            "torch is not installed, which this training needs: pip install 'gadgetopt[learn]'"
        ) from None
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    return torch


class Adam:
    """Parameters as tensors by name, with Adam's step; its state is arrays.

    Parameters
    ----------
    arrays : mapping
        The parameters at the start.
    learning_rate : float
    """

    def __init__(self, arrays: Arrays, learning_rate: float):
        self._torch = torch_on_one_core()
        self.tensors: dict[str, Any] = {
            name: self._torch.tensor(np.asarray(a, dtype=np.float64), requires_grad=True)
            for name, a in arrays.items()
        }
        self._adam = self._torch.optim.Adam(list(self.tensors.values()), lr=learning_rate)

    def set_rate(self, learning_rate: float) -> None:
        """Change the learning rate of the steps to come."""
        for group in self._adam.param_groups:
            group["lr"] = learning_rate

    def step(self, loss: Any, largest_norm: float = 10.0) -> float:
        """Descend along a loss's gradient, of at most this norm; return the loss."""
        self._adam.zero_grad()
        loss.backward()
        self._torch.nn.utils.clip_grad_norm_(list(self.tensors.values()), largest_norm)
        self._adam.step()
        return float(loss.detach())

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the parameters."""
        return {name: t.detach().numpy().copy() for name, t in self.tensors.items()}

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return the parameters and Adam's moments."""
        kept = self.arrays()
        for name, t in self.tensors.items():
            for part, value in self._adam.state.get(t, {}).items():
                kept[f"{name}/{part}"] = value.detach().numpy().copy()
        return kept

    def restore(self, state: Arrays) -> None:
        """Take over what `state` returned."""
        torch = self._torch
        for name, t in self.tensors.items():
            with torch.no_grad():
                t.copy_(torch.from_numpy(state[name]))
            moments = {
                part: torch.from_numpy(np.array(state[f"{name}/{part}"]))
                for part in ("step", "exp_avg", "exp_avg_sq")
                if f"{name}/{part}" in state
            }
            if moments:
                self._adam.state[t] = moments
