"""Which instances a default method loses to plain solvers: the rules of `defaults.py`."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from gadgetopt.system.declaration import Method, Problem
from gadgetopt.system.references import module_of
from gadgetopt.system.result import Result, Status

PLAIN_BACKENDS = ("highs", "cpsat", "scip")

#: Values closer than this, relative, are equal.
SAME = 1e-7

#: A bound is better if it is by this, relative to the value.
TIGHTER = 1e-3

#: A proof counts as sooner if it took less than this share, and this many seconds less.
SOONER, SOONER_S = 1 / 1.5, 0.5

#: In what a run can be better than another, the most important first.
WAYS = ("value", "proof", "bound", "time")


@dataclass
class Preset:
    """The results of one preset, by instance and method."""

    system: Problem
    name: str
    results: dict[str, dict[str, Result]] = field(default_factory=lambda: defaultdict(dict))

    @property
    def spec(self) -> str:
        """The preset as the command line writes it."""
        return f"{self.system.name}:{self.name}"

    @property
    def default(self) -> str:
        """The system's default method."""
        return self.system.default_method

    def plain(self, instance: str) -> list[Result]:
        """Return what plain solvers found on an instance."""
        found = self.results[instance]
        return [r for name, r in found.items() if name != self.default and solved(r)]

    def wins(self) -> Counter[str]:
        """Return on how many instances each plain method is the best of them."""
        runs = [self.plain(instance) for instance in self.results]
        return Counter(best(found, self.system).method for found in runs if found)

    def contenders(self) -> list[str]:
        """Return the plain methods that are best on an instance, at most one for each backend."""
        chosen: dict[str, str] = {}
        for name, _ in self.wins().most_common():
            chosen.setdefault(plain_methods(self.system)[name], name)
        return list(chosen.values())

    def solvers(self) -> set[str]:
        """Return the plain methods that solved some instance."""
        return {r.method for instance in self.results for r in self.plain(instance)}

    def can_lose(self, instance: str) -> bool:
        """Return True if a plain solver can be better than the default on an instance."""
        mine = self.results[instance].get(self.default)
        return mine is None or not proved(mine) or mine.time_s >= SOONER_S

    def row(self) -> list[str]:
        """Return the cells of the preset's row."""
        wins = self.wins().most_common(1)
        plain = wins[0][0] if wins else None
        lost = Counter(loss.way for loss in self.losses())
        cells = [f"`{self.spec}`", str(len(self.results))]
        for method in (self.default, plain):
            cells += [f"`{method}`" if method else "-", *self._measured(method)]
        return [*cells, *(str(lost[way]) for way in WAYS)]

    def _measured(self, method: str | None) -> list[str]:
        """Return proofs, mean distance from the best value, and mean seconds of a method."""
        mine = [r[method] for r in self.results.values() if method in r]
        if not mine:
            return ["-"] * 3
        closed = sum(proved(r) for r in mine)
        known = [b for b in map(self._behind, mine) if b is not None]
        behind = f"{100 * sum(known) / len(known):.3f}" if known else "-"
        return [f"{closed}/{len(mine)}", behind, f"{sum(r.time_s for r in mine) / len(mine):.2f}"]

    def _behind(self, result: Result) -> float | None:
        """Return how far a value is behind the best one of its instance, relative to that."""
        if result.objective is None:
            return None
        found = [r.objective for r in self.results[result.instance].values()]
        values = [float(value) for value in found if value is not None]
        top = max(values) if maximises(result, self.system) else min(values)
        return abs(float(result.objective) - top) / abs(top) if top else 0.0

    def losses(self) -> Iterator[Loss]:
        """Yield the instances on which a plain solver did better."""
        for instance, results in self.results.items():
            mine, others = results.get(self.default), self.plain(instance)
            if mine is None or not others:
                continue
            theirs = best(others, self.system)
            way = better(theirs, mine, self.system)
            if way:
                yield Loss(self, instance, way, mine, theirs)


@dataclass(frozen=True)
class Loss:
    """An instance on which a plain solver did better, and in what."""

    preset: Preset
    instance: str
    way: str
    mine: Result
    theirs: Result

    def row(self) -> list[str]:
        """Return the cells of its row."""
        name = self.instance.removeprefix(f"{self.preset.system.name}_{self.preset.name}_")
        method = f"`{self.theirs.method}`"
        return [self.way, f"`{name}`", *told(self.mine), method, *told(self.theirs)]


# -- which run is better ---------------------------------------------------------------------------


def solved(result: Result) -> bool:
    """Return True if a run gave a solution or a proof that there is none."""
    return result.objective is not None or proved(result)


def proved(result: Result) -> bool:
    """Return True if a run ended with a proof."""
    return result.status in {Status.OPTIMAL, Status.INFEASIBLE, Status.UNBOUNDED}


def told(result: Result) -> list[str]:
    """Return value, bound, status and seconds of a run as cells."""
    numbers = (result.objective, result.bound)
    cells = ["-" if value is None else f"{float(value):.8g}" for value in numbers]
    return [*cells, result.state, f"{result.time_s:.2f}"]


def maximises(result: Result, system: Problem) -> bool:
    """Return True if a run's objective is to be large; the instance may say so."""
    return (result.sense or system.sense) == "max"


def beats(one: Result, other: Result, system: Problem) -> bool:
    """Return True if the first value is better than the second by more than rounding."""
    if one.objective is None or other.objective is None:
        return one.objective is not None
    first, second = float(one.objective), float(other.objective)
    ahead = first - second if maximises(one, system) else second - first
    return ahead > SAME * max(1.0, abs(second))


def tighter(one: Result, other: Result, system: Problem) -> bool:
    """Return True if the first bound is better than the second, where the values are equal."""
    if one.bound is None or other.bound is None or one.objective is None:
        return one.bound is not None and other.bound is None
    first, second = float(one.bound), float(other.bound)
    ahead = second - first if maximises(one, system) else first - second
    return ahead > TIGHTER * abs(float(one.objective))


def better(one: Result, other: Result, system: Problem) -> str | None:
    """Return in what the first run is better than the second, None if in nothing."""
    if beats(other, one, system):
        return None
    if beats(one, other, system):
        return "value"
    if proved(one) != proved(other):
        return "proof" if proved(one) else None
    if not proved(one):
        return "bound" if tighter(one, other, system) else None
    sooner = one.time_s < SOONER * other.time_s and one.time_s < other.time_s - SOONER_S
    return "time" if sooner else None


def best(results: Iterable[Result], system: Problem) -> Result:
    """Return the run with the best value, then with a proof, then the quickest."""
    first, *rest = results
    for result in rest:
        sooner = proved(result) == proved(first) and result.time_s < first.time_s
        level = not beats(first, result, system) and not beats(result, first, system)
        if beats(result, first, system) or (level and (proved(result) > proved(first) or sooner)):
            first = result
    return first


# -- plain solvers ---------------------------------------------------------------------------------


def is_model(method: Method) -> bool:
    """Return True if a method is a model written for CP-SAT, without anything around it."""
    rooms = module_of(method.run).split(".")
    return method.kind == "exact" and method.backend in PLAIN_BACKENDS and "formulations" in rooms


def plain_methods(system: Problem) -> dict[str, str]:
    """Return the plain solvers of a system with their backends, but for one that is its default."""
    by_backend = {
        f"{formulation.name}@{backend}": backend
        for formulation in system.formulations
        if formulation.strength == "exact" and formulation.decode is not None
        for backend in formulation.backends
        if backend in PLAIN_BACKENDS
    }
    models = {method.name: str(method.backend) for method in system.methods if is_model(method)}
    plain = {**by_backend, **models}
    plain.pop(
        system.default_method, None
    )  # a model of one's own has no better method than a solver
    return plain
