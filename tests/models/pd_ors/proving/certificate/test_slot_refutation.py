"""The exhaustive proof that jobs do not fit a slot agrees with CP-SAT."""

from __future__ import annotations

import numpy as np
import pytest

from gadgetopt.models.pd_ors.data.generate.presets import desk
from gadgetopt.models.pd_ors.proving.certificate import slot_refutation
from gadgetopt.models.pd_ors.proving.certificate.slot_refutation import (
    SlotItem,
    TooManySteps,
    is_refuted,
)
from gadgetopt.models.pd_ors.proving.exact.slot_packing import (
    Item,
    pack_exactly,
)
from gadgetopt.system.result import Limits

from ...tiny_instances import (
    cluster,
    job_j,
    tiny_instance,
)


@pytest.mark.parametrize("seed", range(30))
def test_it_refutes_what_does_not_fit(seed):
    rng = np.random.default_rng(seed)
    if seed % 3:
        instance = tiny_instance(seed, machines=int(rng.integers(1, 4)))
    else:
        instance = desk(rng, jobs=6, machines=3, horizon_slots=4)
    jobs = [job for job in instance.terms.jobs if rng.random() < 0.7]
    for _ in range(8):
        items = [
            SlotItem(job.index, int(rng.integers(1, job.batch + 1)), bool(rng.integers(2)))
            for job in jobs
        ]
        wanted = [Item(item.job, item.inside, item.workers) for item in items]
        assert is_refuted(instance.terms, items) == (
            pack_exactly(instance.terms, wanted, Limits()).fits is False
        )


def test_three_blocks_fit_three_machines_and_four_do_not():
    terms = cluster([5, 5, 5], 1, *(job_j(1.0) for _ in range(4))).terms
    blocks = [SlotItem(i, 2, True) for i in range(4)]
    assert is_refuted(terms, blocks)
    assert not is_refuted(terms, blocks[:3])
    assert not is_refuted(terms, [SlotItem(i, 2, False) for i in range(4)])
    assert not is_refuted(terms, [])


def test_a_search_that_is_too_long_is_given_up(monkeypatch):
    monkeypatch.setattr(slot_refutation, "MOST_STEPS", 2)
    terms = cluster([5, 5, 5], 1, *(job_j(1.0) for _ in range(4))).terms
    with pytest.raises(TooManySteps, match="more than 2 steps"):
        is_refuted(terms, [SlotItem(i, 2, True) for i in range(4)])
