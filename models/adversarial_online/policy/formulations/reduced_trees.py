"""The linear program (2) on fewer histories: non-decreasing ones, or one chain; relaxations.

`subproblems.trees` says which histories, and when nothing is lost.
"""

from __future__ import annotations

import pyomo.core as pyo

from gadgetopt.system.declaring import formulation

from ..instance import AdversarialOnlinePolicyInstance
from ..subproblems.trees import chain_tree, monotone_tree
from .history_tree import MOST_HISTORIES, tree_model


@formulation(
    name="monotone_tree", model_class="LP", strength="relaxation", equations="(2), (2a)-(2c)"
)
def build_monotone(instance: AdversarialOnlinePolicyInstance) -> pyo.ConcreteModel:
    """Non-decreasing histories with at most k copies of a level.

    Raises
    ------
    ModelRefused
        If there are too many histories.
    """
    return tree_model(instance, monotone_tree(instance, MOST_HISTORIES))


@formulation(name="chain", model_class="LP", strength="relaxation", equations="(2), (2a)-(2c)")
def build_chain(instance: AdversarialOnlinePolicyInstance) -> pyo.ConcreteModel:
    """The prefixes of one non-decreasing sequence."""
    return tree_model(instance, chain_tree(instance))
