"""What DAPPLE declares."""

from gadgetopt.models.dapple import PROBLEM
from gadgetopt.system.methods import methods


def test_methods_are_declared():
    names = {m.name for m in methods(PROBLEM)}
    assert {
        "dapple",
        "data_parallel",
        "gpipe",
        "straight",
        "pipedream",
        "exact_plans",
        "cp_joint",
        "least_bound",
        "bound@highs",
        "joint@highs",
    } <= names
