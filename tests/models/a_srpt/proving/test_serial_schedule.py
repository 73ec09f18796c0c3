"""Serial schedules: the earliest gap, found from the times at which something changes."""

from random import Random

import numpy as np

import gadgetopt
from gadgetopt.models.a_srpt.proving.serial_schedule import _Usage, first_schedule
from gadgetopt.models.a_srpt.subproblems.configurations import Configurations


def test_the_earliest_gap_is_that_of_a_table_of_all_ticks():
    draw = Random(1)
    for _ in range(60):
        capacity = np.array([draw.randint(1, 4) for _ in range(3)])
        usage, table = _Usage(capacity), np.zeros((3, 400), dtype=np.int64)
        for _ in range(12):
            gpus = np.array([draw.randint(0, c) for c in capacity])
            release, ticks = draw.randint(0, 30), draw.randint(1, 12)
            start = next(
                t
                for t in range(release, 388)
                if (table[:, t : t + ticks] + gpus[:, None] <= capacity[:, None]).all()
            )
            assert usage.first_start(gpus, release, ticks) == start
            usage.take(gpus, start, start + ticks)
            table[:, start : start + ticks] += gpus[:, None]


def test_ticks_as_short_as_a_microsecond_cost_nothing(root):
    document = gadgetopt.read(root / "instances" / "quickstart" / "a_srpt.json")
    instance = document.data.model_copy(update={"tick_s": document.data.tick_s / 60_000_000})
    schedule = first_schedule(Configurations(instance, 2000))
    assert int(schedule.starts.max()) > 10**8
