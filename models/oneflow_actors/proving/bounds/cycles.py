r"""The linear program of starts, and its duals as weights of cycles.

.. math::
    \max z:\quad u_j - u_i \ge w z - m_0 - n R_e \ \forall \text{ waits } (i, j), \quad
    z\, \mathrm{load}_\sigma \le 1, \quad \textstyle\sum_{e \in z} b_e R_e \le K_z, \quad
    R^{min}_e \le R_e \le R^{max}_e

Duals of waits are a circulation, since starts are free: it is a sum of cycles with weights, which
are the certificate (11).
"""

from __future__ import annotations

from fractions import Fraction

from gadgetopt.solvers.persistent import INFINITY, PersistentLp
from gadgetopt.system.result import Limits, Status

from ...instance import OneflowActorsInstance
from ..certificate import Cycles, Wait, WeightedCycle, WeightedStream

#: Duals below this part of the largest are rounding. Tuned: `benchmarks/constants.py`.
NOTHING = 1e-9
#: Largest denominator of a weight. Tuned: `benchmarks/constants.py`.
DENOMINATOR = 10**6


class StartsProgram:
    """The program in HiGHS: columns are z, the starts and the slots; rows waits, loads, memories.

    Durations are in ticks over the longest one, so that numbers are near 1 whatever the unit.
    """

    def __init__(self, instance: OneflowActorsInstance):
        self.instance = instance
        self.waits: list[tuple[Wait, int, int]] = list(waits_of(instance))
        n, registers = len(instance.actors), instance.registers
        unit = max(instance.ticks)
        d = [ticks / unit for ticks in instance.ticks]
        self.lp: PersistentLp = PersistentLp("max")
        least = [float(register.fewest) for register in registers]
        most = [float(register.most) for register in registers]
        free = [INFINITY] * n
        self.lp.add_columns(
            [1.0] + [0.0] * (n + len(registers)),
            [0.0, *(-x for x in free), *least],
            [INFINITY, *free, *most],
        )
        lower: list[float] = []
        upper: list[float] = []
        starts: list[float] = []
        columns: list[float] = []
        values: list[float] = []

        def add(low: float, high: float, entries: dict[int, float]) -> None:
            lower.append(low)
            upper.append(high)
            starts.append(len(columns))
            columns.extend(entries)
            values.extend(entries.values())

        for wait, source, target in self.waits:
            entries = {0: -d[source]}
            if source != target:
                entries |= {1 + target: 1.0, 1 + source: -1.0}
            tokens = 1.0
            if wait.kind != "self":
                tokens = float(registers[wait.register_number].initial)
            if wait.kind == "slot":
                entries[1 + n + wait.register_number] = 1.0
                tokens = -tokens
            add(-tokens, INFINITY, entries)
        for actors in instance.actors_of_stream.values():
            add(-INFINITY, 1.0, {0: sum(d[a] for a in actors)})
        for zone in instance.zones:
            mine = [e for e in instance.registers_of_zone[zone.name] if registers[e].slot_bytes]
            scale = max((registers[e].slot_bytes for e in mine), default=Fraction(1))
            add(
                -INFINITY,
                float(zone.capacity_bytes / scale),
                {1 + n + e: float(registers[e].slot_bytes / scale) for e in mine},
            )
        self.lp.add_rows(lower, upper, starts, columns, values)

    def solve(self, limits: Limits) -> Cycles | None:
        """Return the weights that the duals give; None without an optimum."""
        if self.lp.solve(limits) is not Status.OPTIMAL:
            return None
        duals = self.lp.row_duals
        flow = {n: abs(float(duals[n])) for n in range(len(self.waits))}
        most = max([*flow.values(), 0.0])
        flow = {n: y for n, y in flow.items() if y > NOTHING * max(most, 1.0)}
        first = len(self.waits)
        loads = [
            WeightedStream(weight=_rational(abs(float(duals[first + s]))), stream=s)
            for s in range(len(self.instance.streams))
            if abs(float(duals[first + s])) > NOTHING
        ]
        return Cycles(cycles=tuple(self._decomposed(flow)), streams=tuple(loads))

    def _decomposed(self, flow: dict[int, float]) -> list[WeightedCycle]:
        """Return cycles with weights whose sum is the flow, but for what rounding leaves over."""
        leaving: dict[int, list[int]] = {}
        for n in sorted(flow):
            leaving.setdefault(self.waits[n][1], []).append(n)
        cycles = []
        while flow:
            path = [next(iter(flow))]
            place = {self.waits[path[0]][1]: 0}
            while self.waits[path[-1]][2] not in place:
                actor = self.waits[path[-1]][2]
                following = next((n for n in leaving.get(actor, ()) if n in flow), None)
                if following is None:  # rounding
                    break
                place[actor] = len(path)
                path.append(following)
            else:
                path = path[place[self.waits[path[-1]][2]] :]
                weight = min(flow[n] for n in path)
                cycles.append(
                    WeightedCycle(
                        weight=_rational(weight), waits=tuple(self.waits[n][0] for n in path)
                    )
                )
                for n in path:
                    flow[n] -= weight
                flow = {n: y for n, y in flow.items() if y > NOTHING}
                continue
            del flow[path[-1]]
        return cycles


def _rational(value: float) -> Fraction:
    return Fraction(value).limit_denominator(DENOMINATOR)


def waits_of(instance: OneflowActorsInstance) -> list[tuple[Wait, int, int]]:
    """Return all waits, with who is waited for and who waits."""
    found = [(Wait(kind="self", register_number=a), a, a) for a in range(len(instance.actors))]
    for e, register in enumerate(instance.registers):
        for c in register.consumers:
            p = register.producer
            found.append((Wait(kind="item", register_number=e, consumer=c), p, c))
            found.append((Wait(kind="slot", register_number=e, consumer=c), c, p))
    return found
