r"""The constraint program of the worst sequence for posted prices of one resource.

Variables: the level :math:`\ell_t` of every request, J if there is none; units :math:`s_{it}` that
table i has sold before t; :math:`b_{it}`, whether it sells to t; :math:`z_{tj}`, whether the
offline seller serves t at level j. With the lowest level :math:`\lambda_{iu}` that pays
:math:`\varphi_{iu}` (J if none does, and of u = k),

.. math::
    \max\ & q \sum_{t,j} l_j z_{tj} - p \sum_{i,t,j} w_i l_j [b_{it} \wedge \ell_t = j] \tag{C1}\\
    & b_{it} \Leftrightarrow \lambda_{i, s_{it}} \le \ell_t < J  \tag{C2} \\
    & s_{i,t+1} = s_{it} + b_{it}, \quad s_{i0} = 0  \tag{C3} \\
    & z_{tj} \Rightarrow \ell_t = j, \quad \textstyle\sum_{t,j} z_{tj} \le k  \tag{C4} \\
    & \ell_t = J \Rightarrow \ell_{t+1} = J  \tag{C5}

All amounts are whole: what CP-SAT proves is exact.
"""

from __future__ import annotations

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats
from gadgetopt.solvers.to_cpsat.cp_model import cp_model

from ..instance import AdversarialOnlineSequenceInstance, AdversarialOnlineSequenceSolution
from .amounts import Amounts, amounts, check_unit_demand


class SequenceModel:
    """The variables, and one method per family of constraints.

    Types must be in order of their values, which `order` sees to.

    Raises
    ------
    ModelRefused
        If demands are not of one unit of one resource.
    """

    k: int
    model: cp_model.CpModel

    def __init__(self, instance: AdversarialOnlineSequenceInstance):
        check_unit_demand(instance)
        self.instance = instance
        self.money: Amounts = amounts(instance)
        self.order: list[int] = sorted(
            range(len(instance.types)), key=lambda j: instance.types[j].value
        )
        self.J, self.T = range(len(self.order)), range(instance.horizon)
        self.I, self.k = range(len(instance.policy)), instance.capacity[0]
        none = len(self.order)
        self.model = m = cp_model.CpModel()
        self.y: list[list[cp_model.IntVar]] = [
            [m.new_bool_var(f"y[{t},{j}]") for j in self.J] for t in self.T
        ]
        self.absent: list[cp_model.IntVar] = [m.new_bool_var(f"absent[{t}]") for t in self.T]
        self.level: list[cp_model.IntVar] = [m.new_int_var(0, none, f"level[{t}]") for t in self.T]
        self.sold: list[list[cp_model.IntVar]] = [
            [m.new_int_var(0, min(t, self.k), f"s[{i},{t}]") for t in range(len(self.T) + 1)]
            for i in self.I
        ]
        self.buys: list[list[cp_model.IntVar]] = [
            [m.new_bool_var(f"b[{i},{t}]") for t in self.T] for i in self.I
        ]
        self.z: list[list[cp_model.IntVar]] = [
            [m.new_bool_var(f"z[{t},{j}]") for j in self.J] for t in self.T
        ]

    def requests_have_a_level(self) -> None:
        """Link the level of a request to its literals."""
        none = len(self.order)
        for t in self.T:
            self.model.add_exactly_one([*self.y[t], self.absent[t]])
            levels = sum(j * self.y[t][j] for j in self.J)
            self.model.add(self.level[t] == levels + none * self.absent[t])

    def who_pays_the_price_buys(self) -> None:
        """(C2): a table sells if and only if the level pays its price."""
        m, values = self.model, [self.instance.types[j].value for j in self.order]
        none = len(self.order)
        for i in self.I:
            prices = self.instance.policy[i].prices[0]
            lowest = [sum(value < price for value in values) for price in prices] + [none]
            for t in self.T:
                least = m.new_int_var(0, none, f"lowest[{i},{t}]")
                m.add_element(self.sold[i][t], lowest, least)
                buys, level = self.buys[i][t], self.level[t]
                m.add(level >= least).only_enforce_if(buys)
                m.add_implication(buys, ~self.absent[t])
                m.add(level < least).only_enforce_if([~buys, ~self.absent[t]])

    def sales_add_up(self) -> None:
        """(C3): units sold."""
        for i in self.I:
            self.model.add(self.sold[i][0] == 0)
            for t in self.T:
                self.model.add(self.sold[i][t + 1] == self.sold[i][t] + self.buys[i][t])

    def offline_seller_has_k_units(self) -> None:
        """(C4): the offline seller serves requests there are."""
        for t in self.T:
            for j in self.J:
                self.model.add_implication(self.z[t][j], self.y[t][j])
        self.model.add(sum(z for row in self.z for z in row) <= self.k)

    def no_gaps(self) -> None:
        """(C5): after the last request comes none."""
        for t in self.T[1:]:
            self.model.add_implication(self.absent[t - 1], self.absent[t])

    def maximise_gap(self, p: int, q: int) -> None:
        """(C1): q OPT - p ALG in whole amounts.

        Raises
        ------
        ModelRefused
            If they do not fit into 64 bits.
        """
        worth = [self.money.offline[j] for j in self.order]
        most = self.k * max(worth)
        if (p + q) * most >= 2**61 or 2 * len(self.T) * sum(worth) >= 2**61:
            raise ModelRefused("the amounts of this ratio do not fit into 64 bits")
        m = self.model
        offline, online = m.new_int_var(0, most, "OPT"), m.new_int_var(0, most, "ALG")
        m.add(offline == sum(worth[j] * self.z[t][j] for t in self.T for j in self.J))
        sales = []
        for i in self.I:
            earned = [self.money.online[i][j] for j in self.order]
            for t in self.T:
                for j in self.J:
                    sale = m.new_bool_var(f"g[{i},{t},{j}]")
                    m.add_bool_or(~self.buys[i][t], ~self.y[t][j], sale)
                    m.add_implication(sale, self.buys[i][t])
                    m.add_implication(sale, self.y[t][j])
                    sales.append(earned[j] * sale)
        m.add(online == sum(sales))
        m.maximize(q * offline - p * online)

    def decode(self, values: Floats) -> AdversarialOnlineSequenceSolution:
        """Return the types of the requests; of none, that of the least value."""
        arrivals = [
            self.order[j] for t in self.T for j in self.J if round(values[self.y[t][j].index])
        ]
        return AdversarialOnlineSequenceSolution(arrivals=tuple(arrivals or self.order[:1]))


def sequence_model(instance: AdversarialOnlineSequenceInstance, p: int, q: int) -> SequenceModel:
    """Return (C1)-(C5) for q OPT - p ALG."""
    model = SequenceModel(instance)
    model.requests_have_a_level()
    model.who_pays_the_price_buys()
    model.sales_add_up()
    model.offline_seller_has_k_units()
    model.no_gaps()
    model.maximise_gap(p, q)
    return model
