"""Tables and traces of schedules, and lines for Slurm: what is written is read, strictly."""

import json
from fractions import Fraction

import pytest

from gadgetopt.errors import InputError
from gadgetopt.pieces.formats.timelines.chrome_trace import read_trace, write_trace
from gadgetopt.pieces.formats.timelines.gantt import read_gantt, write_gantt
from gadgetopt.pieces.formats.timelines.places import place_name, place_of
from gadgetopt.pieces.formats.timelines.sbatch import JobLine, read_sbatch, write_sbatch
from gadgetopt.pieces.formats.timelines.spans import Span, check_times, joined, with_units

SPANS = [
    Span("job 0", 0, 4, "server 0", 2),
    Span("job 1", 1, Fraction(5, 2), "server 1", 1, (3,), "stage 0, the first"),
    Span("job 2", 4, 5, "server 0", 1),
]


def test_a_table_is_what_a_spreadsheet_reads():
    assert write_gantt(SPANS, "slot") == (
        "job,start_slot,end_slot,resource,count,units,detail\n"
        "job 0,0,4,server 0,2,,\n"
        'job 1,1,2.5,server 1,1,3,"stage 0, the first"\n'
        "job 2,4,5,server 0,1,,\n"
    )


def test_tables_and_traces_are_read_back():
    assert read_gantt(write_gantt(SPANS, "s"), "s") == SPANS
    assert read_trace(write_trace(SPANS, "s"), "s") == SPANS


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("server 2", (2, None)),
        ("server 0 GPUs 3", (0, (3,))),
        ("server 12 GPUs 1+0+10", (12, (1, 0, 10))),
        ("server 1 GPUs ", (1, ())),
    ],
)
def test_a_name_says_a_server_and_gpus(name, place):
    assert place_of(name, "resource") == place
    assert place_name(*place) == name


def test_a_trace_has_a_bar_on_every_unit():
    """The trace event format: complete events in microseconds, and names of processes."""
    document = json.loads(write_trace(SPANS, "s"))
    bars = [event for event in document["traceEvents"] if event["ph"] == "X"]
    assert [(e["pid"], e["tid"], e["ts"], e["dur"]) for e in bars] == [
        (0, 0, 0, 4e6),
        (0, 1, 0, 4e6),
        (1, 3, 1e6, 1.5e6),
        (0, 0, 4e6, 1e6),
    ]
    named = [e for e in document["traceEvents"] if e["name"] == "process_name"]
    assert [(e["pid"], e["args"]["name"]) for e in named] == [(0, "server 0"), (1, "server 1")]


def test_spans_take_the_lowest_units_that_are_free():
    spans = [Span("a", 0, 3, "r", 2), Span("b", 1, 4, "r", 1), Span("c", 3, 5, "r", 2)]
    assert [span.units for span in with_units(spans)] == [(0, 1), (2,), (0, 1)]


def test_equal_spans_that_follow_each_other_are_joined():
    spans = [Span("a", 1, 2, "r"), Span("b", 1, 2, "r"), Span("a", 2, 3, "r"), Span("a", 4, 5, "r")]
    assert joined(spans) == [Span("a", 1, 3, "r"), Span("b", 1, 2, "r"), Span("a", 4, 5, "r")]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("start_slot", "start_s", "line 1: expected the header job,start_slot,end_slot"),
        ("job 0,0,4", "job 0,5,4", "line 2: ends at 4, before its start at 5"),
        ("job 0,0,4", "job 0,x,4", "line 2: start: 'x', expected a decimal number"),
        ("job 0,0,4", "job 0,1e999999,4", "line 2: start: '1e999999', expected a decimal number"),
        ("server 0,2", "server 0,-2", "line 2: count: '-2', expected a number"),
        ("server 1,1,3", "server 1,1,3 3", "line 3: units '3 3', expected 1 different ones"),
        ("job 2,4,5", "job 2,4,5,6", "line 4: 8 cells, expected 7"),
    ],
)
def test_a_table_of_something_else_is_refused(old, new, message):
    text = write_gantt(SPANS, "slot")
    assert old in text
    with pytest.raises(InputError) as caught:
        read_gantt(text.replace(old, new), "slot")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"ts": 0.0', '"ts": 7.0', "traceEvents[5]: 7 us, but its arguments say 0 us"),
        ('"count": 2', '"count": 3', "2 bars for 3 units"),
        ('"tid": 1, "ts"', '"tid": 0, "ts"', "bars for 2 units"),
        ('"start_s": "4"', '"start_s": 4', "start_s 4, expected a text"),
        ('"process_name"', '"other"', "pid 0: has no process_name"),
        ('"traceEvents"', '"events"', "traceEvents: is missing"),
        ("{", "", "is not JSON"),
    ],
)
def test_a_trace_of_something_else_is_refused(old, new, message):
    text = write_trace(SPANS, "s")
    assert old in text
    with pytest.raises(InputError) as caught:
        read_trace(text.replace(old, new, 1), "s")
    assert message in str(caught.value)


def test_times_of_a_file_have_to_be_those_of_its_decisions():
    check_times(SPANS, SPANS)
    with pytest.raises(InputError, match="job 2 on server 0: ends at 6, but these decisions make"):
        check_times([*SPANS[:2], Span("job 2", 4, 6, "server 0", 1)], SPANS)
    with pytest.raises(InputError, match="job 2 on server 0: is missing"):
        check_times(SPANS[:2], SPANS)
    with pytest.raises(InputError, match="job 0 on server 0 from 0: is there once too often"):
        check_times([*SPANS, SPANS[0]], SPANS)


# -- Slurm -------------------------------------------------------------------------------------

JOBS = [
    JobLine(0, Fraction(120), Fraction(90), {0: 4}),
    JobLine(1, Fraction(0), Fraction(60), {0: 2, 1: 2, 2: 1}, "0@0x2"),
]


def test_lines_for_slurm():
    """Hosts with equally many GPUs are one part; a limit is in minutes, rounded up."""
    lines = write_sbatch(JOBS, "slot", Fraction(60)).splitlines()
    assert lines[-3:] == [
        "# A slot is 60 s.",
        "sbatch --job-name=job_1 --begin=now+0 --time=1 --comment='0@0x2' --nodes=1 "
        "--nodelist=server2 --gres=gpu:1 : --nodes=2 --nodelist=server0,server1 --gres=gpu:2 "
        "job_1.sh",
        "sbatch --job-name=job_0 --begin=now+120 --time=2 --nodes=1 --nodelist=server0 "
        "--gres=gpu:4 job_0.sh",
    ]
    assert any("recalled" in line for line in lines)


def test_lines_for_slurm_are_read_back():
    read, unit_s = read_sbatch(write_sbatch(JOBS, "slot", Fraction(60)), "slot", 2)
    assert unit_s == 60
    assert [(line.job, line.start_s, dict(line.gpus), line.comment) for line, _ in read] == [
        (0, 120, {0: 4}, ""),
        (1, 0, {0: 2, 1: 2, 2: 1}, "0@0x2"),
    ]
    assert [limit for _, limit in read] == [2, 1]


def test_slurm_counts_whole_seconds():
    with pytest.raises(InputError, match="sbatch: job 0 starts at 1/2 s; Slurm counts whole"):
        write_sbatch([JobLine(0, Fraction(1, 2), Fraction(1), {0: 1})], "tick", Fraction(1, 2))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("# A slot is 60 s.", "", "expected how long a slot is"),
        ("is 60 s", "is 6/0 s", "expected how long a slot is"),
        ("job_1", "job_7", "job 7: is there twice, or is none of 2 jobs"),
        ("job_0.sh", "job_1.sh", "expected 'sbatch --job-name=job_0"),
        ("--nodes=2", "--nodes=3", "--nodes=3, but 2 hosts"),
        ("server0,server1", "server0,server0", "host 'server0', expected server0, server1"),
        ("--gres=gpu:4", "--gres=tpu:4", "expected --nodes, --nodelist and --gres=gpu:N"),
    ],
)
def test_other_lines_are_refused(old, new, message):
    text = write_sbatch(JOBS, "slot", Fraction(60))
    assert old in text
    with pytest.raises(InputError) as caught:
        read_sbatch(text.replace(old, new), "slot", 2)
    assert message in str(caught.value)
