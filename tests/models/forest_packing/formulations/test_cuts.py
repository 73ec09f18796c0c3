"""The cut LP has one row per stage and set of nodes with a worker."""

from __future__ import annotations

import pytest

from gadgetopt.errors import ModelRefused
from gadgetopt.models.forest_packing.formulations import cuts

from ..networks import cables, known


def test_every_set_with_a_worker_has_a_cut_in_each_stage():
    instance = known("H4")
    model = cuts.build(instance)
    assert len(model.Q) == 2**4 - 2
    assert len(model.entered) + len(model.left) == cuts.num_cuts(instance) == 2 * 14


def test_too_many_cuts_are_refused_with_their_number():
    n = 14
    ring = cables(*((v, (v + 1) % n, 1) for v in range(n)))
    instance = known("H2").model_copy(update={"workers": tuple(range(n)), "links": ring})
    with pytest.raises(ModelRefused, match=str(2 * (2**14 - 1))):
        cuts.build(instance)
