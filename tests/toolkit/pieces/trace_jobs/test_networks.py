"""Networks of a trace's jobs: sizes in every unit, and which network a job gets."""

from fractions import Fraction

import pandas as pd
import pytest

from gadgetopt.pieces.trace_jobs.networks import (
    NETWORKS,
    measured_s,
    network_of,
    traced_job,
)

ROW = {
    "file": "t.csv", "line": 7, "submit_s": 3.0, "duration_s": 214.0, "gpus": 8, "group": None,
    "user": None, "model": None, "batch_size": float("nan"), "iterations": float("nan"),
}  # fmt: skip


def row(**changed):
    return next(pd.DataFrame([{**ROW, **changed}]).itertuples())


def test_sizes_and_times_of_a_network():
    vgg16 = NETWORKS["vgg16"]
    assert vgg16.gradient_mbyte == 553.44
    assert vgg16.gradient_mbit == 4427.52
    assert vgg16.alone_s == 0.107
    assert vgg16.forward_s_per_sample == pytest.approx(2.229e-3, rel=1e-3)
    assert vgg16.backward_s == pytest.approx(71.3e-3, rel=1e-3)
    whole = [n.forward_s_per_sample * n.batch + n.backward_s for n in NETWORKS.values()]
    assert whole == pytest.approx([n.alone_s for n in NETWORKS.values()], rel=1e-5)


def test_times_are_those_of_the_next_power_of_two():
    assert [measured_s("bert", g) for g in (1, 3, 8, 64)] == [
        Fraction(178, 1000), Fraction(190, 1000), Fraction(192, 1000), Fraction(260, 1000)
    ]  # fmt: skip


def test_iterations_are_the_traces_or_fill_the_duration():
    named = traced_job(row(model="vgg16"))
    assert (named.network.name, named.iterations, named.place) == ("vgg16", 1000, "t.csv:7")
    assert traced_job(row(model="vgg16", iterations=12)).iterations == 12
    assert traced_job(row(model="vgg16", duration_s=0.01)).iterations == 1


def test_recurring_jobs_train_the_same():
    ours = [traced_job(row(group="g", line=line)).network for line in range(9)]
    assert set(ours) == {NETWORKS[network_of("g")]}
    alone = {traced_job(row(line=line)).network.name for line in range(60)}
    assert len(alone) > 5
    assert traced_job(row(model="unheard of")).network.name in NETWORKS
