"""Plans of OneFlow-SBP become actors: operators, conversions, updated variables."""

import pytest

import gadgetopt
from gadgetopt.errors import InputError
from gadgetopt.system.files import Document, library, write

from ..conftest import solved


@pytest.fixture(scope="module")
def plan(tmp_path_factory, root):
    """Return an instance of OneFlow-SBP and its optimum, as files."""
    path = root / "instances/oneflow_sbp/tiny/h1_megatron.json"
    source = gadgetopt.read(path)
    solution = gadgetopt.solve(source, time_limit=30).solution
    written = tmp_path_factory.mktemp("plan") / "plan.json"
    write(Document(source.problem, "solution", "plan", solution), written)
    return [path, written]


def test_a_plan_of_a_perceptron(plan):
    (made,) = gadgetopt.import_("sbp-plan", plan, "oneflow_actors", seconds_per_cost=1e-6)
    instance = made.data
    assert made.name == "h1_megatron_actors"
    assert len(instance.actors) > 13  # conversions beside the operators
    assert {actor.stream for actor in instance.actors} == {"kernels of g0", "network of g0"}
    assert sum(register.initial for register in instance.registers) == 2  # updated weights
    result = solved(instance, time_s=30)
    assert float(result.objective) <= float(result.bound) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("pick", "options", "told"),
    [
        (slice(0, 1), {}, "files: 1, expected pairs"),
        (slice(None), {"launch_s": 0}, "launch_s: 0"),
    ],
)
def test_bad_input_is_named(plan, pick, options, told):
    with pytest.raises(InputError, match=told):
        gadgetopt.import_("sbp-plan", plan[pick], "oneflow_actors", **options)


def test_another_system_is_refused(plan):
    other = library() / "quickstart" / "spp.json"
    with pytest.raises(InputError, match="is of spp, expected oneflow_sbp"):
        gadgetopt.import_("sbp-plan", [other, plan[1]], "oneflow_actors")
