r"""Completion time of a training job with w workers and p parameter servers.

An iteration computes a forward and a backward pass and exchanges gradients and parameters, parts
of which overlap; eta_1, eta_2, eta_3 are the fractions of the three that do not. Equations (14) and
(17) of SMD's technical report (TR, arXiv 2105.13855) are, with :math:`\hat g = 8 g / (1000 B)`
seconds for one transfer of the model over one server's bandwidth,

.. math::
    \text{sync: }  \tau &= E \Big[\eta_1 \tfrac{K}{w} t_f + \eta_2 t_b
        + 2 \eta_3 \hat g \tfrac{w}{p} + \beta_1 w + \beta_2 p\Big] \\
    \text{async: } \tau &= \tfrac{E}{w} \Big[\eta_1 m t_f + \eta_2 t_b
        + 2 \eta_3 \alpha \hat g \tfrac{w}{p} + \beta_1 w + \beta_2 p\Big]

Both are sums of five monomials (one of them constant), which is how they are kept here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from gadgetopt.numbers.standards import ETHERNET_GBPS
from gadgetopt.system.data import Data, NonNegativeFloat, PositiveFloat

from .iteration_time import Layer, Overlap, overlap_fractions

Fraction01 = Annotated[float, Field(gt=0, le=1)]


@dataclass(frozen=True)
class CompletionTime:
    r"""tau(w, p) as a sum of monomials.

    Attributes
    ----------
    constant, per_w, per_p, w_over_p, p_over_w, one_over_w, one_over_p : float
        Coefficients of 1, w, p, w/p, p/w, 1/w and 1/p, in seconds, non-negative.
    """

    constant: float = 0.0
    per_w: float = 0.0
    per_p: float = 0.0
    w_over_p: float = 0.0
    p_over_w: float = 0.0
    one_over_w: float = 0.0
    one_over_p: float = 0.0

    def at(self, w: Any, p: Any) -> Any:
        """Return tau in seconds, of numbers or of arrays."""
        return (
            self.constant
            + self.per_w * w
            + self.per_p * p
            + self.w_over_p * w / p
            + self.p_over_w * p / w
            + self.one_over_w / w
            + self.one_over_p / p
        )


class PsWorkerJob(Data):
    """Timing data of a training job with parameter servers.

    Attributes
    ----------
    sgd_mode : "sync" or "async"
    iterations : float
        E: global steps (sync) or steps of all workers together (async).
    model_size_mb : float
        g, volume of gradients and of parameters, MB of 10^6 bytes.
    ps_bandwidth_gbps : float
        B, bandwidth of one parameter server, Gbit/s.
    global_batch_size : float, for sync
        K; each worker takes K/w.
    minibatch_size : float, for async
        m of each worker.
    fp_time_per_sample_s, bp_time_s : float
        t_f of a sample and t_b of a mini-batch. Derived from `layers` where left out.
    overhead_per_worker_s, overhead_per_ps_s : float
        beta_1, beta_2, per iteration.
    concurrency_fraction : float, for async
        alpha: alpha w workers use a server at the same time.
    layers : tuple of Layer
        Layer 1 (the input) first; gives the overlap fractions where these are left out.
    overlap : "sequential", "wait_free" or "priority"
        How communication overlaps computation.
    slice_s : float
        phi, time of one parameter slice (priority).
    lemma_2 : "corrected" or "as_printed"
        Form of the priority model; the printed one counts a delay twice.
    eta_fp, eta_bp, eta_comm : float, optional
        eta_1, eta_2, eta_3; where given they win over `layers`.
    """

    sgd_mode: Literal["sync", "async"]
    iterations: Annotated[float, Field(ge=1)]
    model_size_mb: PositiveFloat
    ps_bandwidth_gbps: Annotated[PositiveFloat, ETHERNET_GBPS]
    global_batch_size: Annotated[float, Field(ge=1)] | None = None
    minibatch_size: Annotated[float, Field(ge=1)] | None = None
    fp_time_per_sample_s: PositiveFloat | None = None
    bp_time_s: NonNegativeFloat | None = None
    overhead_per_worker_s: NonNegativeFloat = 0.0
    overhead_per_ps_s: NonNegativeFloat = 0.0
    concurrency_fraction: Annotated[float, Field(ge=0, le=1)] = 1.0
    layers: tuple[Layer, ...] = ()
    overlap: Overlap = "sequential"
    slice_s: NonNegativeFloat = 0.0
    lemma_2: Literal["corrected", "as_printed"] = "corrected"
    eta_fp: Fraction01 | None = None
    eta_bp: Fraction01 | None = None
    eta_comm: Fraction01 | None = None

    @model_validator(mode="after")
    def _check_timing(self) -> Self:
        if self.sgd_mode == "sync" and self.global_batch_size is None:
            raise ValueError("global_batch_size: missing, expected a number for sgd_mode sync")
        if self.sgd_mode == "async" and self.minibatch_size is None:
            raise ValueError("minibatch_size: missing, expected a number for sgd_mode async")
        for name in ("fp_time_per_sample_s", "bp_time_s"):
            if getattr(self, name) is None and not self.layers:
                raise ValueError(f"{name}: missing, expected a number or layers")
        return self

    @cached_property
    def completion_time(self) -> CompletionTime:
        """The monomials of tau(w, p), equations TR(14) and TR(17)."""
        eta_1, eta_2, eta_3 = self.eta
        t_f = self.fp_time_per_sample_s
        t_b = self.bp_time_s
        if t_f is None:
            t_f = sum(layer.fp_s for layer in self.layers)
        if t_b is None:
            t_b = sum(layer.bp_s for layer in self.layers)
        E, beta_1, beta_2 = self.iterations, self.overhead_per_worker_s, self.overhead_per_ps_s
        g_hat = 8 * self.model_size_mb / (1000 * self.ps_bandwidth_gbps)
        if self.sgd_mode == "sync":
            K = self.global_batch_size or 0.0
            return CompletionTime(
                constant=E * eta_2 * t_b,
                per_w=E * beta_1,
                per_p=E * beta_2,
                w_over_p=2 * E * eta_3 * g_hat,
                one_over_w=eta_1 * E * K * t_f,
            )
        m = self.minibatch_size or 0.0
        return CompletionTime(
            constant=E * beta_1,
            p_over_w=E * beta_2,
            one_over_w=E * (eta_1 * m * t_f + eta_2 * t_b),
            one_over_p=2 * E * self.concurrency_fraction * eta_3 * g_hat,
        )

    @property
    def eta(self) -> tuple[float, float, float]:
        """eta_1, eta_2, eta_3: given, else from the layers, else 1."""
        derived = (1.0, 1.0, 1.0)
        if self.layers:
            derived = overlap_fractions(self.layers, self.overlap, self.slice_s, self.lemma_2)
        given = (self.eta_fp, self.eta_bp, self.eta_comm)
        eta_1, eta_2, eta_3 = (d if g is None else g for g, d in zip(given, derived, strict=True))
        return eta_1, eta_2, eta_3
