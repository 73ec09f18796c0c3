"""Selections of a trace: jobs that are kept, and a count of the others."""

from pathlib import Path

import numpy as np
import pytest

from gadgetopt.errors import InputError
from gadgetopt.pieces.trace_jobs.selection import (
    in_virtual_cluster,
    in_window,
    sample,
    with_duration_s,
    with_gpus,
)
from gadgetopt.pieces.traces import Trace, read_philly


@pytest.fixture
def small(tmp_path: Path) -> Trace:
    rows = [
        f"2017-10-09 06:13:{s:02},{100 * (s + 1)},{2 ** (s % 4)},0,{'ab'[s % 2]}" for s in range(20)
    ]
    path = tmp_path / "small.csv"
    path.write_text("\n".join(["timestamp,duration,num_gpus,gpu_time,cluster", *rows, ""]))
    return read_philly(path)


def test_filters_keep_what_they_say_and_count_the_rest(small):
    start = small.jobs.submit_s.min()
    filters = [
        (in_window(small, start + 5, 10), lambda j: j.submit_s.between(start + 5, start + 14.9)),
        (in_window(small, None, 10), lambda j: j.submit_s < start + 10),
        (in_virtual_cluster(small, "a"), lambda j: j.virtual_cluster == "a"),
        (with_gpus(small, 2, 4), lambda j: j.gpus.between(2, 4)),
        (with_duration_s(small, 300, 900), lambda j: j.duration_s.between(300, 900)),
        (sample(small, 7, np.random.default_rng(0)), lambda j: j.line > 0),
    ]
    for filtered, holds in filters:
        assert 0 < len(filtered) < len(small)
        assert holds(filtered.jobs).all()
        assert sum(filtered.left_out.values()) + len(filtered) == len(small)


def test_successive_filters_add_up(small):
    trace = sample(with_duration_s(with_gpus(small, 2, 4), 300, 900), 2, np.random.default_rng(0))
    assert sum(trace.left_out.values()) + len(trace) == len(small)
    assert set(trace.left_out) == {
        "fewer than 2 GPUs",
        "more than 4 GPUs",
        "fewer than 300 s",
        "more than 900 s",
        "not sampled",
    }


def test_a_sample_depends_on_the_seed_only(small):
    lines = [sample(small, 8, np.random.default_rng(seed)).jobs.line.tolist() for seed in (1, 1, 2)]
    assert lines[0] == lines[1] != lines[2]
    assert lines[0] == sorted(lines[0])


def test_a_weighted_sample_draws_only_weighted_sizes(small):
    trace = sample(small, 8, np.random.default_rng(0), {1: 1, 8: 3})
    assert set(trace.jobs.gpus) == {1, 8}
    assert trace.left_out == {"GPUs not in [1, 8]": 10, "not sampled": 2}


def test_a_sample_of_more_jobs_than_there_are_is_an_input_error(small):
    with pytest.raises(
        InputError, match=r"small\.csv: jobs: 21 asked for, expected at most the 20"
    ):
        sample(small, 21, np.random.default_rng(0))


def test_an_unknown_virtual_cluster_is_an_input_error(small):
    with pytest.raises(InputError, match="virtual_cluster: 'c' has no job, expected one of a, b"):
        in_virtual_cluster(small, "c")
