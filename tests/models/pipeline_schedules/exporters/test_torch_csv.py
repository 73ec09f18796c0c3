"""PyTorch's CSV of a schedule is its cells; what PyTorch cannot do is refused."""

from fractions import Fraction

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
from gadgetopt.pieces.exporting import Exported


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
