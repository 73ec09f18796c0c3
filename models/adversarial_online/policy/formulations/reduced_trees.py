"""The linear program (2) on fewer histories: non-decreasing ones, or one chain; relaxations.

`subproblems.trees` says which histories, and when nothing is lost.
"""

from __future__ import annotations

import pyomo.environ as pyo

from ..instance import AdversarialOnlinePolicyInstance
from ..subproblems.trees import chain_tree, monotone_tree
from .history_tree import MOST_HISTORIES, tree_model


def build_monotone(instance: AdversarialOnlinePolicyInstance) -> pyo.ConcreteModel:
    """Build (2)-(2d) on non-decreasing histories with at most k copies of a level.

    Raises
    ------
    ModelRefused
        If there are too many histories.
    """
    return tree_model(instance, monotone_tree(instance, MOST_HISTORIES))


def build_chain(instance: AdversarialOnlinePolicyInstance) -> pyo.ConcreteModel:
    """Build (2)-(2d) on the prefixes of the hardest sequence."""
    return tree_model(instance, chain_tree(instance))
