r"""What is known of the ratio of SMD's utility to the optimum.

Ratios are OPT/ALG. With k the size of the sets that Algorithm 3 enumerates and R the number of
resources (1 if all reservations are multiples of one bundle, which makes one row of all):

- **Theorem 3**, instance form: on given utilities Algorithm 3 has at most :math:`\frac{k + R}{k}`;
  :math:`\epsilon_2` means :math:`k = \lceil R (1 - \epsilon_2) / \epsilon_2 \rceil`.
- **Theorem 5** (with Lemma 4): a rounding costs at most :math:`(24/M_\delta + 4)/\delta` times the
  continuous optimum, with probability :math:`1 - \delta`. The factor is at least 28.
- **Theorem 6**: with probability :math:`(1 - (\delta/8)^F)^I`, as printed,

  .. math:: \frac{OPT}{ALG} \le \frac{\mu^*}{\mu' (1 - \epsilon_2)}, \quad
      \mu^* = \max_i \mu_i(\tau_i^*), \quad
      \mu' = \min_i \mu_i\Big(\tau_i^* (1 + \epsilon_1) \tfrac{24/M_\delta + 4}{\delta}\Big).

  Its proof takes the probability of one violated row for that of all: :math:`\delta/8` should be
  :math:`\delta/2`. A sigmoid 28 times too late is as good as zero, so that the ratio is vacuous:
  for :math:`\gamma_2 = 5, \gamma_3 = 8, \tau^* = 5` it is :math:`e^{667}` and more. It is computed
  from logarithms. The paper's own runs have M = 1, which is no :math:`M_\delta`.
- **Theorem 9**: the linear programs of Algorithms 1 and 3, counted.

Sharper and without probability (reconstructed). Let x be the point of Algorithm 1 on the repaired
grid, :math:`\tau(x) \le (1 + \epsilon_1) \tau^*`, and :math:`\hat x \ge 1` integers rounded from
:math:`M x`.

- **B1**: :math:`\tau(\hat x) \le \frac4M \tau(x)`. *Proof.* From :math:`x \ge 1 \ge M`,
  :math:`\hat x_j \le M x_j + 1 \le 2 x_j` and :math:`M x_j \le \hat x_j + 1 \le 2 \hat x_j`: linear
  terms at most double, 1/w grows at most 2/M, and ratios of both at most 4/M.
- **B2**: :math:`\lfloor x \rfloor \ge x/2` fits, so that :math:`\tau(\lfloor x \rfloor) \le
  2 \tau(x)`.
- Hence, with :math:`\kappa = 4/M` or 2,

  .. math:: \frac{OPT}{ALG} \le \frac{k + R}{k}
      \max_i \frac{\mu_i(\tau_i^*)}{\mu_i(\kappa (1 + \epsilon_1) \tau_i^*)}.

  *Proof.* The utilities of the pairs found are at least those of the optimal pairs over the
  maximum, for every job and so for the best set of jobs; Algorithm 3 loses the rest.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from gadgetopt.knapsack.dynamic import collinear
from gadgetopt.numbers import Number
from gadgetopt.utility import NEGLIGIBLE

from .collapsed import collapsed
from .grid_search import search_grid
from .inner import best_pair, largest_p
from .instance import Job, SmdInstance
from .outer import enumerated_sets
from .ratios import ratios
from .rounding import job_shrink

#: Ratios with logarithms beyond this are no doubles.
_LARGEST_LOG = 700.0


def theorem_3_ratio(instance: SmdInstance, parameters: Mapping[str, Any]) -> Number | None:
    """Return (k + R) / k, 1 if all sets are enumerated; None for k = 0, or if use is charged."""
    if instance.charging != "reserved":
        return None
    k = enumerated_sets(instance, int(parameters["k"]), parameters["eps_outer"])
    knapsack = collapsed(instance).knapsack
    if k >= knapsack.num_items:
        return 1
    rows = 1 if collinear(knapsack) is not None else len(instance.capacity)
    return Fraction(k + rows, k) if k > 0 else None


def theorem_5_factor(shrink: float, delta: float) -> float:
    """Return (24 / M + 4) / delta, what a rounding costs with probability 1 - delta."""
    return (24 / shrink + 4) / delta


def theorem_6_log_ratio(instance: SmdInstance, parameters: Mapping[str, Any]) -> float | None:
    """Return the logarithm of Theorem 6's ratio; None without delta or for k = 0."""
    delta, outer = parameters["delta"], _outer_log_ratio(instance, parameters)
    served = list(_best_times(instance))
    if delta is None or outer is None or not served:
        return None
    worst = -math.inf
    best = -math.inf
    for job, tau_s in served:
        late = (1 + parameters["eps_inner"]) * theorem_5_factor(job_shrink(job, delta), delta)
        best = max(best, job.utility.log_at(tau_s))
        worst = max(worst, -job.utility.log_at(tau_s * late))
    return best + worst + outer


def theorem_6_ratio(instance: SmdInstance, parameters: Mapping[str, Any]) -> float | None:
    """Return Theorem 6's ratio; None where it is no finite double, which is the rule."""
    return _from_log(theorem_6_log_ratio(instance, parameters))


def theorem_6_probability(
    instance: SmdInstance, parameters: Mapping[str, Any], *, as_printed: bool = True
) -> float:
    """Return the probability of Theorem 6, as printed or with the union over four rows."""
    fails = parameters["delta"] / (8 if as_printed else 2)
    return float((1 - fails ** parameters["attempts"]) ** len(instance.jobs))


def theorem_9_counts(instance: SmdInstance, parameters: Mapping[str, Any]) -> dict[str, int]:
    """Return the linear programs of Algorithm 1 and 3 as printed, and the roundings."""
    served = [job for job in instance.jobs if largest_p(job)]
    eps, grid = parameters["eps_inner"], parameters["grid"]
    I = len(instance.jobs)  # noqa: E741  # the paper's letter
    k = enumerated_sets(instance, parameters["k"], parameters["eps_outer"])
    return {
        "inner_programs": sum(
            search_grid(job, eps, grid).size + 2 * len(ratios(job)) for job in served
        ),
        "roundings": parameters["attempts"] * len(served),
        "outer_programs": sum(math.comb(I, s) for s in range(min(k, I) + 1)),
    }


def rounding_log_ratio(instance: SmdInstance, parameters: Mapping[str, Any]) -> float | None:
    """Return the logarithm of the ratio that B1 or B2 gives, by the rounding that is used.

    None for k = 0, or if some job's utility may become negligible.
    """
    log_ratio = _outer_log_ratio(instance, parameters)
    if log_ratio is None:
        return None
    loss = 0.0
    for job, tau_s in _best_times(instance):
        late = tau_s * rounding_factor(job, parameters) * (1 + parameters["eps_inner"])
        if job.utility.at(tau_s) == 0:
            continue
        if job.utility.log_at(late) < math.log(NEGLIGIBLE) + math.log(job.utility.gamma1):
            return None
        loss = max(loss, job.utility.log_at(tau_s) - job.utility.log_at(late))
    return log_ratio + loss


def rounding_ratio(instance: SmdInstance, parameters: Mapping[str, Any]) -> float | None:
    """Return the ratio that B1 or B2 gives; None where it is no finite double."""
    return _from_log(rounding_log_ratio(instance, parameters))


def rounding_factor(job: Job, parameters: Mapping[str, Any]) -> float:
    """Return kappa: 2 where the floor is among the roundings compared, else 4 / M."""
    if parameters["rounding"] in ("floor", "corners"):
        return 2.0
    delta = parameters["delta"]
    shrink = parameters["shrink"] if delta is None else job_shrink(job, delta)
    return float(4 / shrink)


def what_theorems_say(
    instance: SmdInstance, parameters: Mapping[str, Any]
) -> dict[str, float | int | None]:
    """Return what a run of SMD tells of its theorems: logarithms of ratios, counts, probability."""
    told: dict[str, float | int | None] = {
        f"theorem_9_{what}": count for what, count in theorem_9_counts(instance, parameters).items()
    }
    if instance.charging == "reserved" and parameters["outer"] in ("exact", "frieze_clarke"):
        told["b1_b2_log_ratio"] = rounding_log_ratio(instance, parameters)
        if parameters["delta"] is not None:
            told["theorem_6_log_ratio"] = theorem_6_log_ratio(instance, parameters)
    if parameters["delta"] is not None:
        for name, as_printed in (("as_printed", True), ("of_all_rows", False)):
            told[f"theorem_6_probability_{name}"] = theorem_6_probability(
                instance, parameters, as_printed=as_printed
            )
    return told


# -- assumptions -----------------------------------------------------------------------------------


def reservations_charged(instance: SmdInstance, _parameters: Mapping[str, Any]) -> bool:
    """Whether (2) charges reservations."""
    return instance.charging == "reserved"


def grid_repaired(_instance: SmdInstance, parameters: Mapping[str, Any]) -> bool:
    """Whether Algorithm 1 has the repaired grid, which its own proof needs."""
    return bool(parameters["grid"] == "repaired")


def always_rounded(_instance: SmdInstance, parameters: Mapping[str, Any]) -> bool:
    """Whether a job whose roundings all fail is rounded down instead of dropped."""
    random = parameters["rounding"] == "random"
    return not random or bool(parameters["fallback"] == "floor")


def outer_bounded(_instance: SmdInstance, parameters: Mapping[str, Any]) -> bool:
    """Whether jobs are admitted exactly or by Algorithm 3."""
    return parameters["outer"] in ("exact", "frieze_clarke")


def scaled_rounding(_instance: SmdInstance, parameters: Mapping[str, Any]) -> bool:
    """Whether Algorithm 2 rounds with M_delta, of which the theorem speaks."""
    return parameters["rounding"] == "random" and parameters["delta"] is not None


# -- parts -----------------------------------------------------------------------------------------


def _best_times(instance: SmdInstance) -> Iterator[tuple[Job, float]]:
    """Return tau* of every job that fits its reservation."""
    for job in instance.jobs:
        pair = best_pair(job)
        if pair is not None:
            yield job, pair.tau_s


def _outer_log_ratio(instance: SmdInstance, parameters: Mapping[str, Any]) -> float | None:
    if parameters["outer"] == "exact":
        return 0.0
    # Jobs may lose their utility to rounding, so that fewer sets are enumerated, never more.
    ratio = theorem_3_ratio(instance, parameters)
    return None if ratio is None else math.log(ratio)


def _from_log(log_ratio: float | None) -> float | None:
    if log_ratio is None or log_ratio > _LARGEST_LOG:
        return None
    return math.exp(log_ratio)
