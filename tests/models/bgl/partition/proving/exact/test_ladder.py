"""The exact method where elimination is cut short, and on blocks."""

import numpy as np

from gadgetopt.models.bgl.partition.data.generate.presets import (
    planted,
    quickstart,
)
from gadgetopt.models.bgl.partition.proving import cut_lp
from gadgetopt.models.bgl.partition.proving.exact import ladder

from ...brute_force import run


def test_the_quickstart_is_closed_with_a_certificate():
    instance = quickstart(np.random.default_rng(0))
    found = run(instance, "elimination")
    assert (found.status, found.bound_voucher) == ("optimal", "verified")


def test_the_node_cap_is_charged_where_three_hops_fill_the_parts():
    instance = planted(np.random.default_rng(1), nodes=40, train_share=0.3, fanouts="5,5,5")
    found = run(instance, "elimination")
    assert (found.status, found.bound_voucher) == ("optimal", "verified")
    assert "node cap" in found.phases_s
    assert run(instance, "elimination_bound").bound < found.bound


def test_cuts_and_then_cp_sat_close_what_elimination_leaves(monkeypatch):
    instance = planted(np.random.default_rng(5), nodes=40)
    best = run(instance, "elimination").objective
    monkeypatch.setattr(ladder, "FIRST_STATES", 1)
    found = run(instance, "elimination:most_states=2")
    assert "CP-SAT" not in found.phases_s
    assert (found.status, found.objective) == ("optimal", best)
    assert found.bound_voucher == "verified"
    monkeypatch.setattr(cut_lp, "MOST_COLUMNS", 1)
    found = run(instance, "elimination:most_states=2")
    assert "CP-SAT" in found.phases_s
    assert (found.status, found.objective) == ("optimal", best)


def test_cuts_close_overlapping_communities_that_eliminations_leave_open():
    instance = planted(np.random.default_rng(1), nodes=160, outside=1.0)
    found = run(instance, "elimination")
    assert (found.status, found.bound_voucher) == ("optimal", "verified")


def test_a_time_limit_leaves_a_partition_and_a_bound():
    instance = planted(np.random.default_rng(0), nodes=300, train_share=0.3)
    found = run(instance, "elimination", time_s=0.5)
    assert (found.status, found.limit_hit) == ("feasible", "time_s")
    assert 0 <= found.bound < found.objective


def test_an_interrupted_run_keeps_its_partition(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(ladder, "narrow_order", interrupted)
    found = run(planted(np.random.default_rng(0), nodes=40), "elimination")
    assert (found.status, found.limit_hit) == ("feasible", "interrupted")
