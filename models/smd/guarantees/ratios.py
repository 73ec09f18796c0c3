r"""Theorems on the ratio of the optimum to SMD's utility.

Ratios are OPT/ALG. With k the size of the sets that Algorithm 3 enumerates and R the number of
resources (1 if all reservations are multiples of one bundle, because all rows are then one):

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
from collections.abc import Mapping
from typing import Any

from gadgetopt.numbers.tolerance import Number
from gadgetopt.system.declaring import guarantee

from ..algorithms.theorem_values import (
    Variant,
    rounding_log_ratio,
    theorem_3_ratio,
    theorem_6_log_ratio,
)
from ..instance import SmdInstance

#: Theorems that the methods have with parameters of their own, in words.
THEOREM_6 = (
    "OPT / ALG <= max mu(tau*) / min mu(tau* (1 + eps) (24 / M + 4) / delta) (k + R) / k with "
    "probability; vacuous, as a sigmoid 28 times too late is practically 0"
)
JOB_BY_JOB = (
    "OPT / ALG <= (k + R) / k max_i mu_i(tau*) / mu_i(kappa (1 + eps) tau*), with kappa 4 / M or, "
    "rounding down, 2; without (k + R) / k if jobs are admitted exactly"
)

#: Ratios whose logarithms exceed this are no doubles. By definition.
_LARGEST_LOG = 700.0

_EXACT = Variant(admission="exact")
_DOWN = Variant(rounds_down=True)


def reservations_charged(instance: SmdInstance, _parameters: Mapping[str, Any]) -> bool:
    """Return True if constraint (2) charges reservations."""
    return instance.charging == "reserved"


def scaled_rounding(_instance: SmdInstance, parameters: Mapping[str, Any]) -> bool:
    """Return True if Algorithm 2 rounds with M_delta, as the theorem assumes."""
    return parameters["delta"] is not None


@guarantee(
    name="Theorem 3",
    statement="OPT / ALG <= (k + R) / k on given utilities",
    reference="Theorem 3, instance form",
    methods=("algorithm_3", "algorithm_3_complete"),
    assumptions={"reservations are charged": reservations_charged},
)
def greedy_ratio(instance: SmdInstance, parameters: Mapping[str, Any]) -> Number | None:
    """Return the ratio of Theorem 3; None for k = 0, or if use is charged."""
    return theorem_3_ratio(instance, parameters)


@guarantee(
    name="Theorem 6",
    statement=THEOREM_6,
    reference="Theorem 6",
    standing="claimed",
    methods=("smd", "smd_as_printed", "smd_actual", "smd_complete"),
    assumptions={"reservations are charged": reservations_charged, "M is M_delta": scaled_rounding},
)
def theorem_6_ratio(instance: SmdInstance, parameters: Mapping[str, Any]) -> float | None:
    """Return the ratio of Theorem 6; None if it is no finite double, which is the rule."""
    return _from_log(theorem_6_log_ratio(instance, parameters))


@guarantee(
    name="Theorem 6",
    statement=THEOREM_6,
    reference="Theorem 6",
    standing="claimed",
    methods=("smd_exact",),
    assumptions={"reservations are charged": reservations_charged, "M is M_delta": scaled_rounding},
)
def theorem_6_exact_ratio(instance: SmdInstance, parameters: Mapping[str, Any]) -> float | None:
    """Return the ratio of Theorem 6 where jobs are admitted exactly."""
    return _from_log(theorem_6_log_ratio(instance, parameters, _EXACT))


@guarantee(
    name="Rounding, job by job",
    statement=JOB_BY_JOB,
    reference="B1, B2 (reconstructed)",
    methods=("smd", "smd_actual", "smd_complete"),
    assumptions={"reservations are charged": reservations_charged},
)
def rounding_ratio(instance: SmdInstance, parameters: Mapping[str, Any]) -> float | None:
    """Return the ratio of B1, job by job; None if it is no finite double."""
    return _from_log(rounding_log_ratio(instance, parameters))


@guarantee(
    name="Rounding, job by job",
    statement=JOB_BY_JOB,
    reference="B1, B2 (reconstructed)",
    methods=("smd_floor", "smd_corners"),
    assumptions={"reservations are charged": reservations_charged},
)
def rounding_down_ratio(instance: SmdInstance, parameters: Mapping[str, Any]) -> float | None:
    """Return the ratio of B2, job by job."""
    return _from_log(rounding_log_ratio(instance, parameters, _DOWN))


@guarantee(
    name="Rounding, job by job",
    statement=JOB_BY_JOB,
    reference="B1, B2 (reconstructed)",
    methods=("smd_exact",),
    assumptions={"reservations are charged": reservations_charged},
)
def rounding_exact_ratio(instance: SmdInstance, parameters: Mapping[str, Any]) -> float | None:
    """Return the ratio of B1 where jobs are admitted exactly."""
    return _from_log(rounding_log_ratio(instance, parameters, _EXACT))


# -- assumptions -----------------------------------------------------------------------------------


# -- parts -----------------------------------------------------------------------------------------


def _from_log(log_ratio: float | None) -> float | None:
    if log_ratio is None or log_ratio > _LARGEST_LOG:
        return None
    return math.exp(log_ratio)
