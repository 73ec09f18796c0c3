"""The learned scheduler: its placements, its parameters, and one line for every bad policy."""

import numpy as np
import pytest

from gadgetopt.errors import InputError
from gadgetopt.models.marl.placement.algorithms.learned import learned
from gadgetopt.models.marl.placement.data.generate.presets import (
    leaf_spine,
    tiny,
)
from gadgetopt.models.marl.placement.evaluate import evaluate
from gadgetopt.models.marl.placement.proving.exact.price_and_close import price_and_close
from gadgetopt.models.marl.subproblems.learned.policies import SHIPPED
from gadgetopt.system.result import Limits
from gadgetopt.system.training import About, read_arrays, write_arrays

pytestmark = pytest.mark.usefixtures("in_this_process")

RNG = np.random.default_rng


def objective(instance, **parameters):
    outcome = learned(instance, Limits(), **parameters)
    evaluation = evaluate(instance, outcome.solution)
    assert evaluation.feasible
    return evaluation.objective


def test_no_placement_beats_the_optimum():
    for seed in range(5):
        instance = leaf_spine(RNG(seed), jobs=8, servers_per_rack=2)
        best = evaluate(instance, price_and_close(instance, Limits(), RNG(0)).solution).objective
        assert best <= objective(instance)
        assert best <= objective(instance, agents=1)


def test_other_clusters_than_those_of_the_training_are_placed():
    assert objective(tiny(RNG(0)))
    assert objective(leaf_spine(RNG(0), jobs=20, racks=3, servers_per_rack=2, gpus=8, types=7))


def test_a_time_limit_leaves_no_half_placement():
    instance = leaf_spine(RNG(0), jobs=60, servers_per_rack=20)
    outcome = learned(instance, Limits(time_s=1e-9))
    assert outcome.limit_hit == "time_s"
    assert outcome.solution is None


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"agents": 0}, "agents: 0, expected a positive integer"),
        ({"agents": "two"}, "agents: 'two', expected a positive integer"),
        ({"order": "size"}, "order: 'size', expected one of fifo, big, srpt, drf, las"),
    ],
)
def test_a_policy_with_wrong_parameters_has_its_line(tmp_path, change, line):
    known = read_arrays(SHIPPED, "marl_placement")
    about = {**vars(known.about), "parameters": {**known.about.parameters, **change}}
    path = tmp_path / "p.npz"
    write_arrays(path, About(**about), known.arrays)
    with pytest.raises(InputError) as error:
        learned(tiny(RNG(0)), Limits(), policy=str(path))
    assert str(error.value) == f"{path}: {line}"


def test_a_policy_without_its_arrays_has_its_line(tmp_path):
    path = tmp_path / "p.npz"
    write_arrays(path, read_arrays(SHIPPED, "marl_placement").about, {})
    with pytest.raises(InputError, match="missing, expected an array"):
        learned(tiny(RNG(0)), Limits(), policy=str(path))


def test_a_bad_policy_ends_the_command_with_one_line_and_2(cli, root, tmp_path):
    (tmp_path / "p.npz").write_text("no policy")
    instance = root / "instances" / "quickstart" / "marl_placement.json"
    code, _, err = cli("solve", instance, "--method", f"learned:policy={tmp_path}/p.npz")
    assert code == 2
    assert "is not a policy file, expected what `gadgetopt train marl_placement` writes" in err


def test_negative_agents_have_their_line():
    with pytest.raises(InputError, match="agents: -1, expected at least 0"):
        learned(tiny(RNG(0)), Limits(), agents=-1)
