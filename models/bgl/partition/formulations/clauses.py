r"""The constraint program: (2) in clauses.

.. math::
    \min\ & \sum_{ab} q_{ab}\, y_{ab}                                              \tag{CP1} \\
    & \text{exactly one of } x_{v1}, \dots, x_{vk}          \quad \forall v        \tag{CP2} \\
    & \sum_v s_v x_{vi} \le C, \quad \sum_v t_v x_{vi} \le C_T \quad \forall i     \tag{CP3} \\
    & \lnot x_{ai} \lor x_{bi} \lor y_{ab}, \quad
      x_{ai} \lor \lnot x_{bi} \lor y_{ab}                  \quad \forall ab, i    \tag{CP4}

A unit v stands for :math:`s_v` nodes, :math:`t_v` of them training nodes: a single node, or a block
of nodes that stay together. The weights are scaled to whole numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.numbers.tolerance import Number, is_finite
from gadgetopt.search.clock import Clock
from gadgetopt.search.seeds import fixed_rng
from gadgetopt.search.watched import solver_watched
from gadgetopt.solvers import seed_of
from gadgetopt.solvers.cpsat import solve_cp, value_of
from gadgetopt.solvers.to_cpsat.cp_model import cp_model
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ..instance import BglPartitionInstance, BglPartitionSolution
from .coefficients import check_size


@dataclass(frozen=True)
class Units:
    """What is assigned to parts.

    Attributes
    ----------
    nodes, train_nodes : tuple of int, shape (units,)
        How many a unit stands for.
    weights : mapping
        Scaled weights of pairs of units.
    parts, node_cap, train_cap : int
    """

    nodes: tuple[int, ...]
    train_nodes: tuple[int, ...]
    weights: Mapping[tuple[int, int], int]
    parts: int
    node_cap: int
    train_cap: int

    @classmethod
    def of_blocks(cls, instance: BglPartitionInstance, block: Ints) -> Units:
        """Return the blocks of an instance's nodes as units; block -1 is left out."""
        weights = instance.pair_weights
        total: dict[tuple[int, int], int] = {}
        for a, b, w in zip(
            block[weights.first].tolist(),
            block[weights.second].tolist(),
            weights.scaled.tolist(),
            strict=True,
        ):
            if a != b:
                pair = (min(a, b), max(a, b))
                total[pair] = total.get(pair, 0) + w
        blocks = int(block.max()) + 1
        trained = block[list(instance.train_nodes)]
        return cls(
            tuple(np.bincount(block[block >= 0], minlength=blocks).tolist()),
            tuple(np.bincount(trained[trained >= 0], minlength=blocks).tolist()),
            total,
            instance.used_parts,
            instance.node_cap,
            instance.train_cap,
        )


class ClauseModel:
    """The variables, and one method per family of constraints."""

    model: cp_model.CpModel

    def __init__(self, units: Units):
        self.units = units
        self.model = m = cp_model.CpModel()
        self.V, self.I = range(len(units.nodes)), range(units.parts)
        self.x: list[list[cp_model.IntVar]] = [
            [m.new_bool_var(f"x[{v},{i}]") for i in self.I] for v in self.V
        ]
        self.y: dict[tuple[int, int], cp_model.IntVar] = {
            pair: m.new_bool_var(f"y{list(pair)}") for pair in units.weights
        }
        m.minimize(sum(w * self.y[pair] for pair, w in units.weights.items()))

    def every_unit_has_a_part(self) -> None:
        """(CP2): exactly one."""
        for v in self.V:
            self.model.add_exactly_one(self.x[v])

    def parts_are_not_overloaded(self) -> None:
        """(CP3): caps of nodes and of training nodes."""
        for i in self.I:
            for count, most in (
                (self.units.nodes, self.units.node_cap),
                (self.units.train_nodes, self.units.train_cap),
            ):
                self.model.add(sum(count[v] * self.x[v][i] for v in self.V if count[v]) <= most)

    def pairs_are_cut(self) -> None:
        """(CP4): if one of them is in a part, so is the other, or the pair is cut."""
        for (a, b), y in self.y.items():
            for i in self.I:
                self.model.add_bool_or(self.x[a][i].negated(), self.x[b][i], y)
                self.model.add_bool_or(self.x[a][i], self.x[b][i].negated(), y)

    def parts_are_ordered(self) -> None:
        """Of the units by decreasing weight, the r-th uses no part beyond r."""
        for r, v in enumerate(self.heaviest()[: self.units.parts]):
            for i in range(r + 1, self.units.parts):
                self.model.add(self.x[v][i] == 0)

    def heaviest(self) -> list[int]:
        """Return the units by decreasing weight."""
        total = [0] * len(self.V)
        for (a, b), w in self.units.weights.items():
            total[a] += w
            total[b] += w
        return sorted(self.V, key=lambda v: (-total[v], v))

    def hint(self, part: Sequence[int]) -> None:
        """Suggest a partition of the units, its parts renumbered to fit the order."""
        renumbered: dict[int, int] = {}
        for v in self.heaviest():
            renumbered.setdefault(part[v], len(renumbered))
        for v in self.V:
            for i in self.I:
                self.model.add_hint(self.x[v][i], renumbered[part[v]] == i)
        for (a, b), y in self.y.items():
            self.model.add_hint(y, part[a] != part[b])

    def complete(self) -> None:
        """Add all families of constraints."""
        self.every_unit_has_a_part()
        self.parts_are_not_overloaded()
        self.pairs_are_cut()
        self.parts_are_ordered()

    def decode(self, values: Floats) -> list[int]:
        """Return the part of every unit."""
        return [next(i for i in self.I if value_of(values, self.x[v][i])) for v in self.V]


@method(kind="exact", reference="(2) in clauses", formulation="clauses", backend="cpsat")
def cp_clauses(instance: BglPartitionInstance, limits: Limits) -> MethodOutcome:
    """Two clauses for every pair and part (native CP-SAT)."""
    rng = fixed_rng()
    clock = Clock(limits)
    check_size(instance)
    with clock.phase("build"):
        model = ClauseModel(Units.of_blocks(instance, np.arange(instance.num_nodes)))
        model.complete()
    with solver_watched(instance.pair_weights.scale):
        solved = solve_cp(model.model, clock.limits(), seed_of(rng))
    solution = None
    if solved.values is not None:
        solution = BglPartitionSolution.of(model.decode(solved.values))
    return MethodOutcome.of(
        solved,
        solution,
        bound_of=lambda bound: unscaled(instance, bound),
        phases_s=clock.phases_s,
        claimed_objective=instance.pair_weights.cut(solution.part) if solution else None,
        trace=(),
        proved=Status.INFEASIBLE if solved.status is Status.INFEASIBLE else None,
    )


def unscaled(instance: BglPartitionInstance, value: Number) -> Number:
    """Return a scaled bound as one on the cost."""
    return Fraction(value) / instance.pair_weights.scale if is_finite(value) else value
