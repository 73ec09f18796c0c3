"""PyTorch's CSV of a schedule is its cells; what PyTorch cannot do is refused."""

from fractions import Fraction

import numpy as np
import pytest

import gadgetopt
from gadgetopt.errors import InputError
from gadgetopt.models.pipeline_schedules.exporters.torch_csv import read_back, write
from gadgetopt.models.pipeline_schedules.instance import (
    PipelineSchedulesInstance,
    PipelineSchedulesSolution,
    Route,
    Stage,
)
from gadgetopt.pieces.exporting import Exported, written


def instance(**options):
    stages = tuple(
        Stage(device=d, fwd_s=Fraction(1), input_grad_s=Fraction(1), weight_grad_s=Fraction(1))
        for d in range(2)
    )
    routes = options.pop("routes", 1) * (Route(num_microbatches=2, stages=stages),)
    return PipelineSchedulesInstance(num_devices=2, routes=routes, **options)


ORDERS = (("0F0", "0F1", "0B0", "0B1"), ("1F0", "1B0", "1F1", "1B1"))


def test_cells_are_written_as_they_are():
    solution = PipelineSchedulesSolution(orders=ORDERS)
    exported = write(instance(), solution)
    assert exported.files == {".csv": "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n"}
    assert read_back(instance(), exported) == solution


def test_a_note_says_where_torch_waits_longer():
    solution = PipelineSchedulesSolution(orders=ORDERS)
    (note,) = write(instance(), solution).notes
    assert "in 2 cells" in note
    fused = instance().routes[0].stages[1].model_copy(update={"fused_saving_s": Fraction(0)})
    stages = (instance().routes[0].stages[0], fused)
    route = Route(num_microbatches=2, stages=stages)
    again = PipelineSchedulesInstance(num_devices=2, routes=(route,))
    assert write(again, solution).notes == ()


def test_two_routes_are_refused():
    two = instance(routes=2)
    four = tuple(row + tuple(c.replace(c[0], str(int(c[0]) + 2)) for c in row) for row in ORDERS)
    with pytest.raises(InputError, match="torch-csv: 2 routes, but torch runs one pipeline; solve"):
        write(two, PipelineSchedulesSolution(orders=four))


def test_recomputation_is_refused():
    orders = (("0F0", "0F1", "0R0", "0B0", "0B1"), ORDERS[1])
    with pytest.raises(InputError, match="device 0, 0R0: torch has no recomputation"):
        write(instance(), PipelineSchedulesSolution(orders=orders))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0F0,0B0\n1F0,1B0\n", "microbatches: 1, expected 2"),
        ("0F0,1F0,0F1,1F1,1B0,1B1,0B0,0B1\n", "ranks: 1, expected 2"),
        ("1F0,1B0,1F1,1B1\n0F0,0F1,0B0,0B1\n", r"ranks of the stages: \(1, 0\), expected \(0, 1"),
    ],
)
def test_a_schedule_of_another_pipeline_is_refused(text, said):
    with pytest.raises(InputError, match=said):
        read_back(instance(), Exported({".csv": text}))


def test_a_file_with_a_hole_is_refused_by_verify(tmp_path):
    path = tmp_path / "s.csv"
    path.write_text("0F0junk\n")
    with pytest.raises(InputError, match=r"s\.csv: torch-csv: row 0, cell 0: '0F0junk'"):
        gadgetopt.verify("instances/quickstart/pipeline_schedules.json", path, format="torch-csv")


def random_orders(given, rng):
    """Cells of each device in an order in which they were executed, each at random."""
    orders = [[] for _ in range(given.num_devices)]
    done = set()
    left = [(s, m) for s in range(len(given.stages)) for m in range(given.microbatches[s])]
    steps = {place: ["F", "B"] if rng.random() < 0.5 else ["F", "I", "W"] for place in left}
    last = len(given.stages) - 1
    while steps:
        ready = [
            (s, m)
            for (s, m), kinds in steps.items()
            if kinds[0] == "W"
            or (kinds[0] == "F" and (s == 0 or (s - 1, m, "F") in done))
            or (kinds[0] in "IB" and (s == last or (s + 1, m, "I") in done))
        ]
        s, m = ready[int(rng.integers(len(ready)))]
        kind = steps[s, m].pop(0)
        done |= {(s, m, "I" if kind == "B" else kind)}
        orders[given.stages[s].device].append(f"{s}{kind}{m}")
        if not steps[s, m]:
            del steps[s, m]
    return PipelineSchedulesSolution(orders=tuple(map(tuple, orders)))


def test_a_hundred_random_schedules_are_the_same_cells_again():
    problem = gadgetopt.problem("pipeline_schedules")
    (exporter,) = (e for e in problem.exporters if e.format == "torch-csv")
    for seed in range(100):
        rng = np.random.default_rng([9, seed])
        devices, chunks = int(rng.integers(1, 4)), int(rng.integers(1, 3))
        half = list(range(devices))
        placed = [*half, *(half[::-1] if rng.random() < 0.5 else half)][: devices * chunks]
        times = rng.integers(1, 9, size=(len(placed), 4)).tolist()
        stages = tuple(
            Stage(
                device=d, fwd_s=Fraction(f), input_grad_s=Fraction(i), weight_grad_s=Fraction(w),
                transfer_s=Fraction(0 if n + 1 == len(placed) else c),
            )
            for n, (d, (f, i, w, c)) in enumerate(zip(placed, times, strict=True))
        )  # fmt: skip
        route = Route(num_microbatches=int(rng.integers(1, 6)), stages=stages)
        given = PipelineSchedulesInstance(
            num_devices=devices, routes=(route,), links=("lag", "full", "half")[seed % 3]
        )
        solution = random_orders(given, rng)
        judged = written(problem, exporter, given, solution, {})
        assert exporter.read_back(given, judged.exported) == solution
        assert judged.kept == judged.objective == problem.evaluate(given, solution).objective
