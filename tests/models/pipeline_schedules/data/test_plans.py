"""Plans of SPP and DAPPLE as instances of schedules with split backward."""

from __future__ import annotations

import pytest

import gadgetopt
from gadgetopt.errors import InputError
from gadgetopt.models.pipeline_schedules.baselines.one_f_one_b import one_f_one_b
from gadgetopt.models.pipeline_schedules.evaluate import evaluate
from gadgetopt.pieces.pipeline.shop import shop_of
from gadgetopt.system.files import Document, library, write


@pytest.fixture
def files(tmp_path):
    """An instance of DAPPLE and its planner's solution."""
    source = gadgetopt.read(library() / "quickstart" / "dapple.json")
    solution = gadgetopt.solve(source, "dapple").solution
    path = tmp_path / "solution.json"
    write(Document(source.problem, "solution", "plan", solution), path)
    return library() / "quickstart" / "dapple.json", path


def test_times_are_those_of_the_plan(files):
    (made,) = gadgetopt.import_("pipeline-plan", list(files), "pipeline_schedules")
    source = gadgetopt.read(files[0])
    shop = shop_of(source.data, gadgetopt.solve(source, "dapple").solution.plan)
    stages = made.data.stages
    assert [s.fwd_s for s in stages] == [f * shop.unit for f in shop.fwd[::2]]
    whole = [s.input_grad_s + s.weight_grad_s for s in stages]
    assert whole == [b * shop.unit for b in shop.bwd[::2]]
    assert all(s.input_grad_s == s.weight_grad_s for s in stages)
    assert made.data.microbatches[0] == shop.num_microbatches
    assert made.data.links == ("full" if shop.full_duplex else "half")


def test_a_split_backward_is_no_slower_than_a_whole_one(files):
    (made,) = gadgetopt.import_("pipeline-plan", list(files), "pipeline_schedules")
    together = evaluate(made.data, one_f_one_b(made.data).solution).objective
    assert gadgetopt.solve(made, "close_gap", time_limit=3).objective <= together


@pytest.mark.parametrize(
    ("pick", "options", "told"),
    [
        (slice(0, 1), {}, "files: 1, expected pairs"),
        (slice(None, None, -1), {}, "solution"),
        (slice(None), {"input_grad_share": 2}, "input_grad_share: 2"),
    ],
)
def test_bad_input_is_named(files, pick, options, told):
    with pytest.raises(InputError, match=told):
        gadgetopt.import_("pipeline-plan", list(files)[pick], "pipeline_schedules", **options)


def test_another_system_is_refused(files):
    other = library() / "quickstart" / "knapsack.json"
    with pytest.raises(InputError, match="is of knapsack, expected spp or dapple"):
        gadgetopt.import_("pipeline-plan", [other, files[1]], "pipeline_schedules")
