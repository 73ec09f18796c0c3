"""Plans for PyTorch, torchtitan, Megatron and DeepSpeed: written, read, and worth the same."""

import numpy as np
import pytest

import gadgetopt
from gadgetopt.errors import InputError
from gadgetopt.models.spp.exporters import runtimes
from gadgetopt.models.spp.instance import SppSolution
from gadgetopt.pieces.exporting import Exported, written
from gadgetopt.pieces.pipeline.plan import Plan

from ..brute_force import instance_of

PROBLEM = gadgetopt.problem("spp")
EXPORTERS = {exporter.format: exporter for exporter in PROBLEM.exporters}
FORMATS = ("torch-csv", "torchtitan", "megatron", "deepspeed", "ranks")


def random_orders(stages, microbatches, rng):
    """Orders of stages and channels in which blocks were executed, each at random."""
    machines = 2 * stages - 1
    orders = [[] for _ in range(machines)]
    # A microbatch passes the machines forward and then back: its next step.
    at = [0] * microbatches
    route = [*range(machines), *range(machines - 1, -1, -1)]
    while any(step < len(route) for step in at):
        m = int(rng.choice([m for m in range(microbatches) if at[m] < len(route)]))
        orders[route[at[m]]].append(m + 1 if at[m] < machines else -m - 1)
        at[m] += 1
    return orders


def random_case(seed):
    """A random chain on machines, a uniform plan of it, and random orders."""
    rng = np.random.default_rng([7, seed])
    r, S = int(rng.integers(1, 4)), int(rng.integers(1, 5))
    L, M = int(rng.integers(max(S, 3), 9)), int(rng.integers(1, 6))
    hosts = int(rng.integers(1, 4))
    sizes = [int(n) for n in rng.multinomial(r * S, [1 / hosts] * hosts) if n]
    cluster = {
        "type": "two_level", "gpus_per_machine": sizes,
        "intra_bytes_per_s": 12.0, "inter_bytes_per_s": 3.0,
    }  # fmt: skip
    if rng.random() < 0.3 and r * S > 1:
        b = rng.integers(1, 9, size=(r * S, r * S))
        cluster = [[0.0 if u == v else float(min(b[u, v], b[v, u])) for v in range(r * S)]
                   for u in range(r * S)]  # fmt: skip
    columns = [rng.integers(0, 9, size=L).tolist() for _ in range(3)]
    instance = instance_of(
        *columns, rng.integers(0, 20, size=L - 1).tolist(), M, cluster,
        {"uniform_replicas": True}, duplex=("half", "full")[seed % 2],
    )  # fmt: skip
    ends = [*sorted(rng.choice(range(1, L), S - 1, replace=False).tolist()), L]
    gpus = rng.permutation(r * S).tolist()
    plan = Plan(
        stage_layers=tuple(zip([0, *ends[:-1]], ends, strict=True)),
        stage_devices=tuple(tuple(gpus[n * r : n * r + r]) for n in range(S)),
    )
    return instance, SppSolution.of(plan, random_orders(S, M, rng))


@pytest.mark.parametrize("form", FORMATS)
def test_a_hundred_random_plans_are_read_with_their_objectives(form):
    exporter = EXPORTERS[form]
    differ = 0
    for seed in range(100):
        instance, solution = random_case(seed)
        judged = written(PROBLEM, exporter, instance, solution, exporter.parameters)
        again = exporter.read_back(instance, judged.exported)
        assert again.plan == solution.plan
        if form in ("torch-csv", "torchtitan"):
            assert again.orders[::2] == solution.orders[::2]
        assert PROBLEM.evaluate(instance, again).objective == judged.kept
        differ += judged.kept != judged.objective
    assert differ  # the order of transfers, or of stages, was worth something


def test_an_uneven_plan_is_refused_with_what_to_do():
    instance, solution = random_case(3)
    r = len(solution.stage_devices[0])
    uneven = solution.model_copy(
        update={"stage_devices": (solution.stage_devices[0][:1], *solution.stage_devices[1:])}
    )
    assert r > 1
    for form in FORMATS:
        with pytest.raises(
            InputError,
            match=f"{form}: stage 1 has {r} GPUs and stage 0 has 1, "
            "which no public framework runs; solve the instance",
        ):
            EXPORTERS[form].write(instance, uneven)


def test_replicas_share_microbatches_or_the_plan_is_refused():
    instance, solution = random_case(3)
    r = len(solution.stage_devices[0])
    (note,) = runtimes.torch_csv(instance, solution, microbatch=4 * r).notes
    assert note == f"{r} replicas, each with microbatches of 4 samples"
    (note,) = runtimes.torch_csv(instance, solution).notes
    assert f"divided by {r}, and have to be a multiple" in note
    with pytest.raises(InputError, match=f"{r} replicas cannot share microbatches of 1 samples"):
        runtimes.megatron(instance, solution, microbatch=1)


def test_1f1b_that_does_not_fit_is_refused():
    instance, solution = random_case(3)
    options = instance.options.model_copy(update={"max_in_flight": 1})
    tight = instance.model_copy(update={"options": options, "num_microbatches": 5})
    for form in ("megatron", "deepspeed", "ranks"):
        with pytest.raises(InputError, match=f"{form}: its 1F1B keeps . microbatches on stage 0"):
            EXPORTERS[form].write(tight, solution)


TWO = instance_of(
    [1, 2, 2, 1], [2, 4, 4, 2], [0] * 4, [6, 6, 6], 2,
    {"type": "two_level", "gpus_per_machine": [1, 1], "intra_bytes_per_s": 6.0,
     "inter_bytes_per_s": 6.0},
)  # fmt: skip
PLAN = Plan(stage_layers=((0, 2), (2, 4)), stage_devices=((1,), (0,)))
SOLUTION = SppSolution.of(PLAN, [[1, 2, -1, -2], [1, -1, 2, -2], [1, -1, 2, -2]])


def test_the_files_of_two_stages():
    assert runtimes.torchtitan(TWO, SOLUTION).files == {
        ".toml": """[parallelism]
data_parallel_replicate_degree = 1
pipeline_parallel_degree = 2
pipeline_parallel_schedule = "1F1B"
pipeline_parallel_schedule_csv = "schedule.csv"
num_pp_microbatches = 2
module_fqns_per_model_part = [["tok_embeddings", "layers.0"], ["layers.1", "norm", "output"]]
""",
        ".csv": "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n",
        ".ranks.csv": """rank,stage,replica,first_layer,end_layer,host,gpu
0,0,0,0,2,host1,0
1,1,0,2,4,host0,0
""",
    }
    assert runtimes.megatron(TWO, SOLUTION).text(".args").endswith("-layout 'Et|tL'\n")
    module = runtimes.deepspeed(TWO, SOLUTION).text(".py")
    compile(module, "module", "exec")
    assert "\nPARTS = [0, 2, 4]\n" in module


#: Of each format what is changed in its files, and what the reader says.
CHANGES = {
    "torch-csv": [
        (".csv", "0F0,", "", "forward of microbatch 0 is there 0 times"),
        (".csv", "1B1", "1I1,1W1", "whole backwards B only"),
        (".csv", "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n",
         "1F0,1B0,1F1,1B1\n0F0,0F1,0B0,0B1\n", r"\[1, 0\], expected \[0, 1\]"),
        (".csv", "0F1,0B0,0B1\n1F0,1B0,1F1,1B1", "0B0\n1F0,1B0", "microbatches: 1, expected 2"),
        (".ranks.csv", "host1", "host2", "host2 has no GPU 0"),
        (".ranks.csv", "host1", "node", "host: expected a host such as host0"),
        (".ranks.csv", "host1", "host0", "a GPU is there twice"),
        (".ranks.csv", "0,0,0,0,2", "0,0,0,0,1", "layers 0 to 1, 2 to 4, expected consecutive"),
        (".ranks.csv", "0,0,0,0,2", "0,1,0,0,2", "expected rank 0 as stage times"),
        (".ranks.csv", "rank,", "r,", "ranks: expected the header"),
        (".ranks.csv", "1,1,0,2,4,host0,0", "1,1,0,2,4,host0", "row 1: 6 cells"),
        (".ranks.csv", "1,1,0,2,4,host0,0\n", "", "layers 0 to 2, expected consecutive"),
    ],
    "torchtitan": [
        (".toml", "layers.0", "layers.2", "in their order, each once"),
        (".toml", '"norm", ', "", "in their order"),
        (".toml", '["layers.1", "norm", "output"]', "[]", "in their order"),
        (".toml", "[parallelism]", "[training]", "expected the section"),
        (".toml", "num_pp_microbatches = 2", "num_pp_microbatches = 3", "3, expected 2"),
        (".toml", "1F1B", "ZBVZeroBubble", "expected '1F1B'"),
        (".toml", "=", "", "not TOML"),
        (".ranks.csv", "0,0,0,0,2,host1,0\n1,1,0,2,4", "0,0,0,0,1,host1,0\n1,1,0,1,4",
         "expected those of the ranks"),
    ],
    "megatron": [(".args", "Et|tL", "E|ttL", "expected those of the ranks")],
    "deepspeed": [
        (".py", "[0, 2, 4]", "[0, 1, 4]", "expected those of the ranks"),
        (".py", "[0, 2, 4]", "[2, 0, 4]", "expected rising numbers"),
        (".py", "[0, 2, 4]", "[0, 2.0, 4]", "whole numbers"),
        (".py", "[0, 2, 4]", "range(4)", "whole numbers"),
        (".py", "self.parts = list(PARTS)", "exit()", "says more than PARTS"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("form", "suffix", "before", "after", "said"),
    [(form, *change) for form, changes in CHANGES.items() for change in changes],
)
def test_changed_files_are_refused(form, suffix, before, after, said):
    exporter = EXPORTERS[form]
    files = dict(exporter.write(TWO, SOLUTION).files)
    assert before in files[suffix]
    files[suffix] = files[suffix].replace(before, after)
    with pytest.raises(InputError, match=said):
        exporter.read_back(TWO, Exported(files))


def test_a_missing_rank_file_is_named(tmp_path):
    files = {".csv": runtimes.torch_csv(TWO, SOLUTION).text(".csv")}
    with pytest.raises(InputError, match=r"the file \.ranks\.csv: is missing"):
        runtimes.read_torch_csv(TWO, Exported(files))
