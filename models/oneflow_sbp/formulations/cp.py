r"""The label-aggregated model (3) as a constraint program.

Booleans :math:`s_{ok}`, exactly one for each operator, and :math:`y_{eab}`, with the two equations
of (3); memory (4), ties and shared conversions as in the other models. Costs are multiplied by a
common denominator and exact, or rounded down where they have too many digits: then the bound still
holds.

With CP-SAT's default linearisation the equations are no part of its linear relaxation, and toys
stay open; level 2 puts them there.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction

from gadgetopt.numbers.arrays import Floats
from gadgetopt.numbers.exact import common_denominator
from gadgetopt.numbers.tolerance import Number
from gadgetopt.search.clock import Clock
from gadgetopt.search.seeds import fixed_rng
from gadgetopt.search.watched import solver_watched
from gadgetopt.solvers import seed_of
from gadgetopt.solvers.cpsat import solve_cp
from gadgetopt.solvers.to_cpsat.cp_model import cp_model
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ..instance import OneFlowSbpInstance, OneFlowSbpSolution
from ..labels import Label
from ..tables import Tables
from .parts import Use, allowed, labels_of, uses

#: Largest sum of costs in the model's objective. By definition.
LARGEST = 2**50


class LabelModel:
    """The variables, and one method for each family of constraints.

    Parameters
    ----------
    instance : OneFlowSbpInstance
    choices : sequence of tuple of int, optional
        Signatures of every operator; by default all that are allowed.
    """

    instance: OneFlowSbpInstance
    tables: Tables
    model: cp_model.CpModel
    exact: bool
    scale: int

    def __init__(
        self, instance: OneFlowSbpInstance, choices: Sequence[tuple[int, ...]] | None = None
    ):
        self.instance, self.tables = instance, instance.tables
        self.choices: Sequence[tuple[int, ...]] | list[tuple[int, ...]] = choices or allowed(
            instance
        )
        self.uses: list[Use] = uses(instance, self.choices)
        self.model = m = cp_model.CpModel()
        self.s: list[dict[int, cp_model.IntVar]] = [
            {k: m.new_bool_var(f"s[{o},{k}]") for k in ks} for o, ks in self.pairs()
        ]
        self.y: list[dict[tuple[Label, Label], cp_model.IntVar]] = [
            {(a, b): m.new_bool_var(f"y[{e}]") for a, b in use.cost}
            for e, use in enumerate(self.uses)
        ]
        self.terms: list[tuple[Fraction, cp_model.IntVar]] = []
        self.scale, self.exact = 1, True

    @property
    def size(self) -> int:
        """Return the number of pairs of labels on all edges."""
        return sum(map(len, self.y))

    def state(self) -> None:
        """Add all rows and the objective."""
        self.one_signature_each()
        self.uses_have_labels_of_both_ends()
        self.conversions_cost()
        self.tied_operators_agree()
        self.memory_fits()
        self.costs_are_integers()

    def pairs(self) -> list[tuple[int, tuple[int, ...]]]:
        """Return the operators with their allowed signatures."""
        return list(enumerate(self.choices))

    def one_signature_each(self) -> None:
        """Every operator has one signature, which costs compute."""
        for o, ks in self.pairs():
            self.model.add_exactly_one(self.s[o].values())
            compute = self.tables.classes[self.tables.class_of[o]].compute
            self.terms.extend((compute[k], self.s[o][k]) for k in ks if compute[k])

    def uses_have_labels_of_both_ends(self) -> None:
        """(3): a use converts the label of its producer into the one its consumer wants."""
        for use, y in zip(self.uses, self.y, strict=True):
            for a, ks in use.have.items():
                given = sum(y[a, b] for b in use.want if (a, b) in y)
                self.model.add(given == sum(self.s[use.edge.source][k] for k in ks))
            for b, js in use.want.items():
                taken = sum(y[a, b] for a in use.have if (a, b) in y)
                self.model.add(taken == sum(self.s[use.edge.target][j] for j in js))

    def conversions_cost(self) -> None:
        """Every conversion is charged, shared ones once."""
        shared = defaultdict(list)
        for use, y in zip(self.uses, self.y, strict=True):
            for (a, b), cost in use.cost.items():
                if cost and use.shared is not None:
                    shared[*use.shared, a, b, cost].append(y[a, b])
                elif cost:
                    self.terms.append((cost, y[a, b]))
        for key, sharing in shared.items():
            z = self.model.new_bool_var(f"z[{key[0]}]")
            self.model.add_max_equality(z, sharing)
            self.terms.append((key[-1], z))

    def tied_operators_agree(self) -> None:
        """Tied operators put out the same label."""
        for u, v in self.tables.ties:
            first = labels_of(self.instance, self.choices, u)
            second = labels_of(self.instance, self.choices, v)
            for a in {**first, **second}:
                left = sum(self.s[u][k] for k in first.get(a, ()))
                self.model.add(left == sum(self.s[v][k] for k in second.get(a, ())))

    def memory_fits(self) -> None:
        """(4): no device keeps more than its memory, in units of the common divisor.

        A signature that does not fit alone counts as a byte too much, so that sums fit 64 bits.
        """
        limit = self.instance.memory_limit_bytes
        if limit is None:
            return
        for g in range(len(self.instance.placements)):
            used = [
                (min(self.tables.classes[c].memory_bytes[k], limit + 1), self.s[o][k])
                for o, c in enumerate(self.tables.class_of)
                if self.tables.classes[c].group == g
                for k in self.choices[o]
            ]
            divisor = math.gcd(*(amount for amount, _ in used)) or 1
            self.model.add(sum(n // divisor * x for n, x in used) <= limit // divisor)

    def costs_are_integers(self) -> None:
        """Set the objective; find its scale, and whether it is exact."""
        total = sum((cost for cost, _ in self.terms), Fraction(0))
        self.scale = common_denominator(cost for cost, _ in self.terms)
        if total * self.scale > LARGEST:
            self.scale, self.exact = max(1, math.floor(LARGEST / total)), False
        self.model.minimize(
            sum(cost.numerator * self.scale // cost.denominator * x for cost, x in self.terms)
        )

    def unscaled(self, value: Number) -> Fraction:
        """Return a value of the objective as a cost."""
        return Fraction(value) / self.scale

    def decode(self, values: Floats) -> OneFlowSbpSolution:
        """Return the signature of every operator."""
        chosen = [next(k for k in ks if values[self.s[o][k].index] > 0.5) for o, ks in self.pairs()]
        return OneFlowSbpSolution(signature=tuple(chosen))


@method(kind="exact", reference="3.6; reconstructed", formulation="cp_labels", backend="cpsat")
def cp_labels(
    instance: OneFlowSbpInstance,
    limits: Limits,
    *,
    linearization_level: int = 2,
) -> MethodOutcome:
    """Label-aggregated rows in CP-SAT, seen as a linear relaxation.

    Parameters
    ----------
    instance : OneFlowSbpInstance
    limits : Limits
    linearization_level : int
        2 puts all rows into the linear relaxation; 1 is CP-SAT's default.

    Raises
    ------
    ModelRefused
        If there are too many pairs of signatures.
    """
    rng = fixed_rng()
    clock = Clock(limits)
    with clock.phase("build"):
        model = LabelModel(instance)
        model.state()
    with solver_watched(model.scale, model.unscaled):
        solved = solve_cp(model.model, clock.limits(), seed_of(rng), linearization_level)
    return MethodOutcome.of(
        solved,
        None if solved.values is None else model.decode(solved.values),
        scale=model.scale,
        bound_of=model.unscaled,
        phases_s=clock.phases_s,
        claimed_objective=model.unscaled(solved.objective)
        if model.exact and solved.objective is not None
        else None,
        proved=Status.INFEASIBLE if solved.status is Status.INFEASIBLE else None,
    )
