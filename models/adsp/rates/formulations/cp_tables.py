r"""The constraint program: tables of steps, their largest, and a division.

Steps are counted in units of :math:`1/u`, shares in units of :math:`1/U` and the objective in units
of :math:`1/V`, rounded to the side that keeps a bound valid. Variables: commits :math:`n_i`, the
fewest c, steps :math:`k_i`, the threshold :math:`\theta`, and
:math:`A = \lfloor \hat a / K \rfloor` with :math:`K = \sum_i k_i`.

.. math::
    & k_i = \text{element}(\lceil u\, k_i(n) \rceil_n,\ n_i) \quad \forall i          \tag{C1} \\
    & \theta \ge \text{element}(\lfloor u\, \tau_i(n) \rfloor_n,\ n_i) \quad \forall i \tag{C2} \\
    & c \le n_i \le c + \varepsilon \quad \forall i, \qquad
      \sum_i n_i \le N_{cap}                                                          \tag{C3} \\
    & A = \lfloor \hat a / K \rfloor,\quad \hat a = \lfloor U a m u \rfloor           \tag{C4} \\
    & \min \lfloor V / U \rfloor A + \lfloor V b / u \rfloor (\theta - u)             \tag{C5}

Under the momentum cap (C2) and (C4) are replaced by terms that sum up to q at most, rounded, and
(C5) by the lost steps. The time to accuracy, a product of two variables, is left to other methods.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.search.clock import Clock
from gadgetopt.search.seeds import fixed_rng
from gadgetopt.solvers import seed_of
from gadgetopt.solvers.cpsat import solve_cp, value_of
from gadgetopt.solvers.to_cpsat.cp_model import cp_model
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ..instance import AdspRatesInstance, AdspRatesSolution, ErrorBound, MomentumCap
from ..tables import solution_of

#: Entries of all tables. Tuned: `benchmarks/constants.py`.
_MOST_ENTRIES = 10**6


class TablesModel:
    """The variables, and one method per family of constraints."""

    instance: AdspRatesInstance
    most: tuple[int, ...]
    model: cp_model.CpModel

    def __init__(self, instance: AdspRatesInstance):
        self.instance, self.most = instance, instance.most_commits
        self.I = range(len(self.most))
        self.model = m = cp_model.CpModel()
        self.n: list[cp_model.IntVar] = [m.new_int_var(1, self.most[i], f"n[{i}]") for i in self.I]
        self.c: cp_model.IntVar = m.new_int_var(1, instance.largest_equal_rate, "c")
        period = decimal_rational(instance.check_period_s)
        self.full: list[Fraction] = [
            period / decimal_rational(w.step_time_s) for w in instance.workers
        ]
        self.each: list[Fraction] = [
            decimal_rational(w.comm_time_s) / decimal_rational(w.step_time_s)
            for w in instance.workers
        ]
        self.unit: Fraction = Fraction(1)

    def commits_stay_in_the_window(self) -> None:
        """(C3): the fairness window."""
        for n in self.n:
            self.model.add(n >= self.c)
            self.model.add(n <= self.c + self.instance.window)

    def commits_fit_the_bandwidth(self) -> None:
        """(C3): the cap on all commits."""
        if self.instance.commit_cap is not None:
            self.model.add(sum(self.n) <= self.instance.cap)

    def error_is_the_objective(self, model: ErrorBound) -> None:
        """(C1), (C2), (C4), (C5)."""
        m, workers = self.model, len(self.full)
        total = sum(self.full, Fraction(0))
        u = 2 ** max(0, 24 - math.ceil(total / workers).bit_length())
        steps = [
            self.element([math.ceil(u * (full - n * each)) for n in range(1, most + 1)], i)
            for i, (full, each, most) in enumerate(
                zip(self.full, self.each, self.most, strict=True)
            )
        ]
        tau = [
            [math.floor(u * (full - n * each) / n) for n in range(1, most + 1)]
            for full, each, most in zip(self.full, self.each, self.most, strict=True)
        ]
        theta = m.new_int_var(0, max(map(max, tau)), "theta")
        for i in self.I:
            m.add(theta >= self.element(tau[i], i))
        a, b = decimal_rational(model.a), decimal_rational(model.b)
        least_K = sum(
            math.ceil(u * (full - most * each))
            for full, most, each in zip(self.full, self.most, self.each, strict=True)
        )
        K = m.new_int_var(max(1, least_K), sum(math.ceil(u * full) for full in self.full), "K")
        m.add(sum(steps) == K)
        U = Fraction(2) ** (61 - math.ceil(a * workers * u).bit_length())
        numerator = math.floor(U * a * workers * u)
        most_A, most_theta = numerator // max(1, least_K), max(map(max, tau))
        share = m.new_int_var(0, most_A, "A")
        m.add_division_equality(share, numerator, K)
        # In units so small that rounding does not matter, while the sum fits.
        largest = max(most_A / U, b * most_theta / u)
        self.unit = Fraction(2) ** (59 - math.ceil(largest).bit_length())
        p, q = math.floor(self.unit / U), math.floor(self.unit * b / u)
        if p < 2**10:
            raise ModelRefused("model: the objective varies too much for whole numbers")
        m.minimize(p * share + q * (theta - u))

    def lost_steps_are_the_objective(self, model: MomentumCap) -> None:
        """(C5) under the momentum cap."""
        m, workers = self.model, len(self.full)
        worst = sum(each * most for each, most in zip(self.each, self.most, strict=True))
        self.unit = U = Fraction(2) ** (45 - max(1, math.ceil(worst)).bit_length())
        costs = [math.floor(U * each) for each in self.each]
        m.minimize(sum(cost * n for cost, n in zip(costs, self.n, strict=True)))
        if workers == 1:
            return
        cap, scale = decimal_rational(model.max_momentum), decimal_rational(model.scale)
        q = cap / (1 - cap) * Fraction(workers, workers - 1)
        period = decimal_rational(self.instance.check_period_s)
        units = 2**45 / q
        terms = []
        for i, worker in enumerate(self.instance.workers):
            t = decimal_rational(worker.step_time_s)
            one = scale * period * (t if model.reading == "speed" else 1 / t) * units
            table = [math.floor(one / n) for n in range(1, self.most[i] + 1)]
            terms.append(self.element([min(term, 2**46) for term in table], i))
        m.add(sum(terms) <= 2**45)

    def element(self, table: Sequence[int], i: int) -> cp_model.IntVar:
        """Return a variable that is the table's entry of the commits of worker i."""
        value = self.model.new_int_var(min(table), max(table), "")
        self.model.add_element(self.n[i] - 1, list(table), value)
        return value

    def decode(self, values: Floats) -> AdspRatesSolution:
        """Return the commits."""
        return solution_of(value_of(values, n) for n in self.n)


@method(kind="exact", reference="(C1)-(C5)", formulation="cp_tables", backend="cpsat")
def cp_tables(instance: AdspRatesInstance, limits: Limits) -> MethodOutcome:
    """Tables of steps and an integer division (native CP-SAT).

    Solve (C1)-(C5) with CP-SAT; the bound is rounded down to the units of the model.

    Raises
    ------
    ModelRefused
        If the model is the time to accuracy, the tables are too large, or their numbers.
    """
    rng = fixed_rng()
    model = instance.model
    if not isinstance(model, ErrorBound | MomentumCap):
        raise ModelRefused(f"model.kind: CP-SAT has no division by the product of '{model.kind}'")
    if sum(instance.most_commits) > _MOST_ENTRIES:
        raise ModelRefused(f"workers: tables of more than {_MOST_ENTRIES} entries")
    if not instance.largest_equal_rate:
        return MethodOutcome(proved=Status.INFEASIBLE)
    clock = Clock(limits)
    with clock.phase("build"):
        tables = TablesModel(instance)
        if max(tables.full) > 2**40:
            raise ModelRefused("workers: more than 2^40 steps in a period")
        tables.commits_stay_in_the_window()
        tables.commits_fit_the_bandwidth()
        if isinstance(model, ErrorBound):
            tables.error_is_the_objective(model)
        else:
            tables.lost_steps_are_the_objective(model)
    solved = solve_cp(tables.model, clock.limits(), seed_of(rng))
    return MethodOutcome.of(
        solved,
        None if solved.values is None else tables.decode(solved.values),
        bound_of=lambda bound: float(Fraction(math.floor(bound)) / tables.unit),
        phases_s=clock.phases_s,
        trace=(),
        proved=Status.INFEASIBLE if solved.status is Status.INFEASIBLE else None,
    )
