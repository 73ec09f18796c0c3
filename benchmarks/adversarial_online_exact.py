"""Adversarial online allocation: worst sequences and games, beside the models and plain HiGHS.

No study measures a program that no method solves, or draws games and tables to hold all routes
against each other.

- `sequences`: the worst sequence of optimal tables on geometric grids: dynamic program with the
  check of its certificate, CP-SAT and HiGHS under Dinkelbach's iteration, seconds in one run;
- `games`: the value of games by formula, by the double oracle and by the linear program on
  non-decreasing histories, reduced and as it stands;
- `agreement`: random games and tables by all routes, 500 of each by default.

Run `python benchmarks/adversarial_online_exact.py [TABLE ...] [--limit 120]`.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import highspy
import numpy as np
from scipy.sparse import coo_array

from gadgetopt.models.adversarial_online.policy.instance import AdversarialOnlinePolicyInstance
from gadgetopt.models.adversarial_online.sequence.instance import (
    AdversarialOnlineSequenceInstance,
    RequestType,
)
from gadgetopt.models.adversarial_online.subproblems.curves import finite_table
from gadgetopt.models.adversarial_online.subproblems.grids import geometric
from gadgetopt.models.adversarial_online.subproblems.prices import of_table
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits, Result
from gadgetopt.trust.certificate import certified_bound
from gadgetopt.trust.run import solve, warm_up

SEQUENCE, POLICY = problem("adversarial_online_sequence"), problem("adversarial_online_policy")

#: Units, levels and requests.
TABLES = ((4, 7, 10), (6, 9, 14), (8, 9, 20), (20, 12, 60), (50, 20, 150))
#: Levels, units and buyers; the last have a hundred and more than a million times the histories.
GAMES = ((7, 2, 9), (7, 2, 12), (7, 4, 28), (9, 4, 20), (9, 10, 90))
#: Models that are solved for the smaller tables only.
LARGEST_HIGHS, LARGEST_CPSAT = 8, 20


def timed(system: Any, instance: Any, method: str, limits: Limits) -> Result:
    for declared in system.methods:
        if declared.name == method.split(":", maxsplit=1)[0]:
            warm_up(system, declared)
    return solve(Document(system, "instance", "benchmark", instance), method, limits)


def sequences(limit_s: float) -> None:
    print("\nWorst sequence of the optimal table of k units, values from 1 to 4; seconds\n")
    print(
        f"{'k':>3}{'J':>4}{'N':>5}{'ratio':>10}{'program':>9}{'check':>8}"
        f"{'CP-SAT':>16}{'HiGHS':>16}"
    )
    for k, J, N in TABLES:
        instance = AdversarialOnlineSequenceInstance(
            capacity=(k,),
            types=tuple(RequestType(value=x) for x in grid(J)),
            horizon=N,
            policy=(of_table(finite_table(k, Fraction(1), Fraction(4))),),
        )
        best = timed(SEQUENCE, instance, "dynamic_program", Limits())
        begin = time.perf_counter()
        proved = certified_bound(SEQUENCE, instance, best.certificate)
        check_s = time.perf_counter() - begin
        assert proved == best.objective
        cells = []
        for method, largest in (("cpsat", LARGEST_CPSAT), ("highs", LARGEST_HIGHS)):
            if k > largest:
                cells.append("-")
                continue
            found = timed(SEQUENCE, instance, f"dinkelbach_{method}", Limits(time_s=limit_s))
            times = f" {found.time_s / best.time_s:.0f}x"
            if found.status == "optimal":
                assert found.objective == best.objective
                cells.append(f"{found.time_s:.2f}{times}")
            elif found.refused:
                cells.append("refused")
            else:
                cells.append(f"> {found.time_s:.0f}{times}")
        print(
            f"{k:>3}{J:>4}{N:>5}{float(best.objective):>10.6f}{best.time_s:>9.3f}{check_s:>8.3f}"
            f"{cells[0]:>16}{cells[1]:>16}",
            flush=True,
        )


def grid(J: int) -> list[Fraction]:
    """Return a geometric grid from 1 to 4 with four decimals, for CP-SAT's 64 bits."""
    return [Fraction(round(10**4 * 4 ** (j / (J - 1))), 10**4) for j in range(J)]


def games(limit_s: float) -> None:
    print("\nValue of ratio games on geometric grids from 1 to 4; seconds\n")
    print(
        f"{'J':>3}{'k':>4}{'N':>4}{'histories':>12}{'value':>10}{'formula':>9}"
        f"{'oracle':>8}{'bracket':>9}{'LP, k copies':>14}{'plain HiGHS':>16}"
    )
    for J, k, N in GAMES:
        instance = AdversarialOnlinePolicyInstance(
            levels=tuple(geometric(J, 4)), capacity_units=k, horizon=N
        )
        formula = timed(POLICY, instance, "kept_share", Limits())
        if formula.refused:
            formula = timed(POLICY, instance, "hardest_chain", Limits())
        value = formula.bound
        oracle = timed(POLICY, instance, "double_oracle:seller=share", Limits(time_s=limit_s))
        bracket = "-"
        if oracle.objective is not None:
            bracket = f"{float(oracle.objective / oracle.bound - 1):.0e}"
        reduced = timed(POLICY, instance, "monotone_tree@highs", Limits(time_s=limit_s))
        nodes = histories(J, N)
        plain = f"{plain_tree(instance, limit_s)}" if nodes < 60_000 else "-"
        print(
            f"{J:>3}{k:>4}{N:>4}{nodes:>12.3g}{float(value):>10.6f}{formula.time_s:>9.3f}"
            f"{'refused' if oracle.refused else f'{oracle.time_s:.2f}':>8}{bracket:>9}"
            f"{'too many' if reduced.refused else f'{reduced.time_s:.2f}':>14}{plain:>16}",
            flush=True,
        )
        if reduced.bound is not None:
            assert abs(float(reduced.bound / value) - 1) < 1e-6


def histories(J: int, N: int) -> float:
    """Return the number of non-decreasing histories."""
    total = 1.0
    for t in range(1, J + 1):
        total *= (N + t) / t
    return total - 1


def plain_tree(instance: AdversarialOnlinePolicyInstance, limit_s: float) -> str:
    """Solve (2) on all non-decreasing histories as it stands; seconds, and the value if closed."""
    levels = [float(x) for x in instance.levels]
    k, N = instance.capacity_units, instance.horizon
    nodes = [
        h
        for t in range(1, N + 1)
        for h in itertools.combinations_with_replacement(range(len(levels)), t)
    ]
    number = {h: i for i, h in enumerate(nodes)}
    n = len(nodes)
    entries: list[tuple[int, int, float]] = []
    lower: list[float] = []
    upper: list[float] = []
    for h in nodes:
        row = len(lower)
        path = [number[h[:s]] for s in range(1, len(h) + 1)]
        entries += [(row, i, levels[h[s]]) for s, i in enumerate(path)]
        entries.append((row, n, -sum(sorted((levels[j] for j in h), reverse=True)[:k])))
        lower.append(0.0)
        upper.append(highspy.kHighsInf)
        if len(h) == N:
            entries += [(row + 1, i, 1.0) for i in path]
            lower.append(-highspy.kHighsInf)
            upper.append(float(k))
    return _solved(entries, lower, upper, n, limit_s)


def _solved(
    entries: Sequence[tuple[int, int, float]],
    lower: list[float],
    upper: list[float],
    n: int,
    limit_s: float,
) -> str:
    rows, columns, values = zip(*entries, strict=True)
    A = coo_array((values, (rows, columns)), shape=(len(lower), n + 1)).tocsr()
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = n + 1, len(lower)
    cost = np.zeros(n + 1)
    cost[n] = -1.0
    program.col_cost_ = cost
    program.col_lower_, program.col_upper_ = np.zeros(n + 1), np.ones(n + 1)
    program.row_lower_, program.row_upper_ = np.array(lower), np.array(upper)
    program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    program.a_matrix_.start_, program.a_matrix_.index_ = A.indptr, A.indices
    program.a_matrix_.value_ = A.data
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    solver.setOptionValue("time_limit", limit_s)
    solver.passModel(program)
    begin = time.perf_counter()
    solver.run()
    seconds = time.perf_counter() - begin
    closed = solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return f"{seconds:.1f}" if closed else f"> {seconds:.0f}"


def agreement(count: int) -> None:
    """Play random games and tables by all routes."""
    rng = np.random.default_rng(0)
    begin = time.perf_counter()
    for _ in range(count):
        J, k = int(rng.integers(2, 4)), int(rng.integers(1, 3))
        N = k * J
        levels = sorted(rng.choice(20, size=J, replace=False).tolist())
        game = AdversarialOnlinePolicyInstance(
            levels=tuple(Fraction(x + 1) for x in levels), capacity_units=k, horizon=N
        )
        routes = ("kept_share", "history_tree@highs", "matrix_game", "double_oracle")
        values = [timed(POLICY, game, method, Limits()) for method in routes]
        for found in values:
            assert found.status == "optimal", (game, found.method, found.reason)
            assert abs(float(found.objective / values[0].objective) - 1) < 1e-9, (game, found)
    print(
        f"\n{count} games with N = kJ: formula, tree program, matrix game and double oracle agree "
        f"({time.perf_counter() - begin:.0f} s)",
        flush=True,
    )
    for monotone in (True, False):
        begin = time.perf_counter()
        for _ in range(count):
            instance = _random_table(rng, monotone)
            methods = ["dynamic_program", "dinkelbach_cpsat", "dinkelbach_highs"]
            methods += ["closed_form"] if monotone else []
            found_values = [timed(SEQUENCE, instance, m, Limits()).objective for m in methods]
            assert len(set(found_values)) == 1, (instance, found_values)
            assert found_values[0] == _enumerated(instance), instance
        names = "closed form, program" if monotone else "program"
        order = "non-decreasing tables" if monotone else "tables in any order"
        print(
            f"{count} {order}: {names}, CP-SAT, HiGHS and brute force agree "
            f"({time.perf_counter() - begin:.0f} s)",
            flush=True,
        )


def _random_table(rng: np.random.Generator, monotone: bool) -> AdversarialOnlineSequenceInstance:
    k = int(rng.integers(1, 3))
    levels = sorted((rng.choice(15, size=int(rng.integers(2, 4)), replace=False) + 1).tolist())
    table = [levels[0], *rng.integers(1, 17, size=k - 1).tolist()]
    return AdversarialOnlineSequenceInstance(
        capacity=(k,),
        types=tuple(RequestType(value=Fraction(x)) for x in levels),
        horizon=2 * k if monotone else int(rng.integers(1, 5)),
        policy=(of_table(sorted(table) if monotone else table),),
    )


def _enumerated(instance: AdversarialOnlineSequenceInstance) -> Fraction:
    """Return the largest ratio of all sequences, replayed one by one."""
    k, table = instance.capacity[0], instance.policy[0].prices[0]
    values = [kind.value for kind in instance.types]
    best = Fraction(0)
    for n in range(1, instance.horizon + 1):
        for arrivals in itertools.product(values, repeat=n):
            sold, earned = 0, Fraction(0)
            for value in arrivals:
                if sold < k and value >= table[sold]:
                    sold, earned = sold + 1, earned + value
            best = max(best, sum(sorted(arrivals)[-k:], Fraction(0)) / earned)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parts = ("sequences", "games", "agreement")
    parser.add_argument("parts", nargs="*", default=[], choices=[*parts, []])
    parser.add_argument("--limit", type=float, default=120.0, help="seconds of a model")
    parser.add_argument("--count", type=int, default=500, help="random games and tables")
    given = parser.parse_args()
    wanted = given.parts or list(parts)
    if "sequences" in wanted:
        sequences(given.limit)
    if "games" in wanted:
        games(given.limit)
    if "agreement" in wanted:
        agreement(given.count)


if __name__ == "__main__":
    main()
