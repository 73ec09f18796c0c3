"""Traces: every row of a file is a job, a rejected row or counted as left out."""

import hashlib
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.errors import InputError
from gadgetopt.pieces.trace_jobs.times import seconds_since_1970
from gadgetopt.pieces.traces import COLUMNS, joined, losses, read_muri, read_philly, rejections

REAL = Path(__file__).parents[4] / "shared" / "data" / "traces"
PHILLY_HEADER = "timestamp,duration,num_gpus,gpu_time,cluster"
MURI_HEADER = "job_id,num_gpu,submit_time,iterations,model_name,batch_size,duration,iteration_time"

NO_TIME = (
    "timestamp: expected a time like 2017-10-09 06:13:03 or 2017-10-09T06:13:03+08:00, "
    "or seconds since 1970"
)


def real_file(name: str) -> Path:
    if not (REAL / name).exists():
        pytest.skip(f"real trace {name} is not beside the repository")
    return REAL / name


def write(path: Path, header: str, *rows: str, end: str = "\n") -> Path:
    path.write_bytes((end.join([header, *rows]) + end).encode())
    return path


def philly_row(second: int, duration: str = "100.0", gpus: str = "1", cluster: str = "a") -> str:
    return f"2017-10-09 06:13:{second:02},{duration},{gpus},0,{cluster}"


def test_philly_times_are_seconds(tmp_path):
    path = write(tmp_path / "p.csv", PHILLY_HEADER, "1970-01-02 00:00:05,12.5,8,100,vc")
    job = read_philly(path).jobs.iloc[0]
    assert tuple(read_philly(path).jobs.columns) == COLUMNS
    assert (job.submit_s, job.duration_s, job.gpus, job.virtual_cluster) == (86405, 12.5, 8, "vc")
    assert (job.file, job.line) == ("p.csv", 2)
    assert pd.isna(job.iterations)


@pytest.mark.parametrize(
    "written",
    [
        "2017-10-09T06:13:03",
        "2017-10-09T06:13:03Z",
        "2017-10-09t06:13:03z",
        "2017-10-09 06:13:03 UTC",
        "2017-10-09 06:13:03+00:00",
        "2017-10-09T14:13:03+08:00",
        "2017-10-08 23:13:03-0700",
        "2017-10-08T23:13:03-07",
        "2017-10-09 06:13:03.000",
        "1507529583",
        "1507529583.0",
    ],
)
def test_a_time_is_read_however_it_is_written(tmp_path, written):
    path = write(tmp_path / "p.csv", PHILLY_HEADER, philly_row(3), f"{written},10,1,0,a")
    assert read_philly(path).jobs.submit_s.tolist() == [1507529583.0] * 2


def test_the_other_forms_of_a_time():
    cells = pd.Series(["2017-10-09 06:13", "2017-10-09 06:13:03.5", "1990-01-01 00:00:00"])
    assert seconds_since_1970(cells).tolist() == [1507529580.0, 1507529583.5, 631152000.0]


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_random_times_in_all_forms_are_the_same(data):
    when = data.draw(st.datetimes(datetime(1990, 1, 1), datetime(2099, 1, 1))).replace(
        microsecond=0, tzinfo=UTC
    )
    zone = timezone(timedelta(minutes=data.draw(st.integers(-14 * 60, 14 * 60))))
    forms = [
        when.strftime("%Y-%m-%d %H:%M:%S"),
        when.isoformat(),
        when.isoformat(" "),
        when.astimezone(zone).isoformat(),
        when.astimezone(zone).strftime("%Y-%m-%dT%H:%M:%S%z"),
        f"{when.timestamp():.0f}",
    ]
    assert seconds_since_1970(pd.Series(forms)).tolist() == [when.timestamp()] * len(forms)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_muri_times_are_milliseconds(tmp_path, end):
    path = write(tmp_path / "m.csv", MURI_HEADER, "0,4,2000,1000,bert,128,500000,500", end=end)
    job = read_muri(path).jobs.iloc[0]
    assert (job.submit_s, job.duration_s, job.iteration_s) == (2.0, 500.0, 0.5)
    assert (job.iterations, job.gpus, job.model, job.batch_size) == (1000, 4, "bert", 128)


def test_a_muri_trace_in_other_units_is_refused(tmp_path):
    path = write(tmp_path / "m.csv", MURI_HEADER, "0,4,2,1000,bert,128,500,500")
    with pytest.raises(InputError, match=r"m\.csv: duration: 0\.001 times .* expected about 1"):
        read_muri(path)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("2017-10-09 06:13:03,10", "expected 5 fields"),
        ("2017-10-09 06:13:03,10,1,10,a,b", "expected 5 fields"),
        ("", "expected 5 fields"),
        ("yesterday,10,1,10,a", NO_TIME),
        ("2017-13-09 06:13:03,10,1,10,a", NO_TIME),
        ("2017-02-30T06:13:03,10,1,10,a", NO_TIME),
        ("1507529583000,10,1,10,a", NO_TIME),  # milliseconds
        ("20171009,10,1,10,a", NO_TIME),
        ("600,10,1,10,a", NO_TIME),
        ("2017-10-09 06:13:03,ten,1,10,a", "duration: expected a positive number"),
        ("2017-10-09 06:13:03,,1,10,a", "duration: expected a positive number"),
        ("2017-10-09 06:13:03,0,1,10,a", "duration: expected a positive number"),
        ("2017-10-09 06:13:03,-4,1,10,a", "duration: expected a positive number"),
        ("2017-10-09 06:13:03,inf,1,10,a", "duration: expected a positive number"),
        ("2017-10-09 06:13:03,nan,1,10,a", "duration: expected a positive number"),
        ("2017-10-09 06:13:03,10,0,10,a", "num_gpus: expected a positive whole number"),
        ("2017-10-09 06:13:03,10,1.5,10,a", "num_gpus: expected a positive whole number"),
        ("2017-10-09 06:13:03,10,1e300,10,a", "num_gpus: expected a positive whole number"),
        ('2017-10-09 06:13:03,10,"1,10,a', "num_gpus: expected a positive whole number"),
        ("2017-10-09 06:13:03,10,1,10,", "cluster: expected a non-empty text"),
    ],
)
def test_a_malformed_row_is_rejected_with_its_line_and_reason(tmp_path, row, reason):
    path = write(tmp_path / "p.csv", PHILLY_HEADER, philly_row(1), row, philly_row(2))
    trace = read_philly(path)
    assert len(trace) == 2
    assert trace.rejected.line.tolist() == [3]
    assert trace.rejected.reason.tolist() == [reason]
    assert trace.source[0].rows == len(trace) + len(trace.rejected)


def test_rejections_are_summed_up_by_reason(tmp_path):
    bad = [philly_row(s, duration="-1") for s in range(7)]
    path = write(tmp_path / "p.csv", PHILLY_HEADER, philly_row(0), *bad, "x")
    by_reason = {entry["reason"]: entry for entry in rejections(read_philly(path))}
    negative = by_reason["duration: expected a positive number"]
    assert (negative["rows"], negative["first_lines"]) == (7, [3, 4, 5, 6, 7])
    assert negative["first_value"] == "-1"
    assert by_reason["expected 5 fields"]["first_lines"] == [10]


def test_losses_have_their_reasons_and_where_they_begin(tmp_path):
    bad = [philly_row(s, duration="-1") for s in range(7)]
    trace = read_philly(write(tmp_path / "p.csv", PHILLY_HEADER, philly_row(0), *bad, "x"))
    assert losses(trace) == (
        "left out: none; rejected: 7 duration: expected a positive number (line 3 has '-1'); "
        "1 expected 5 fields (line 10 has '1 fields')"
    )
    none = read_philly(write(tmp_path / "q.csv", PHILLY_HEADER, philly_row(0)))
    assert losses(none) == "left out: none; rejected: none"


def test_a_file_of_rejected_rows_only_is_read(tmp_path):
    trace = read_philly(write(tmp_path / "p.csv", PHILLY_HEADER, "x", "y"))
    assert (len(trace), len(trace.rejected)) == (0, 2)
    assert len(read_muri(write(tmp_path / "m.csv", MURI_HEADER, "x"))) == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty file"),
        (b"time,duration\n1,2\n", "header: column 'timestamp' occurs 0 times"),
        (b"timestamp,timestamp,duration,num_gpus,cluster\n", "'timestamp' occurs 2 times"),
        (b"\xff\xfe\x00", "not a text file"),
    ],
)
def test_a_file_that_is_no_trace_is_an_input_error(tmp_path, content, message):
    path = tmp_path / "p.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        read_philly(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read_muri(tmp_path / "none.csv")
    with pytest.raises(InputError, match="cannot be read"):
        read_muri(tmp_path)


def test_the_source_states_the_hash_of_the_file(tmp_path):
    path = write(tmp_path / "p.csv", PHILLY_HEADER, philly_row(1))
    assert read_philly(path).source[0].sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_joined_traces_keep_every_row_in_order_of_submission(tmp_path):
    first = read_philly(write(tmp_path / "a.csv", PHILLY_HEADER, philly_row(5), "x"))
    second = read_philly(write(tmp_path / "b.csv", PHILLY_HEADER, philly_row(3), philly_row(9)))
    both = joined([first, second])
    assert both.jobs.file.tolist() == ["b.csv", "a.csv", "b.csv"]
    assert len(both.rejected) == 1
    assert [source.name for source in both.source] == ["a.csv", "b.csv"]


def test_the_real_philly_trace_is_read_whole():
    trace = read_philly(real_file("philly.csv"))
    assert (trace.source[0].rows, len(trace), len(trace.rejected)) == (66156, 66156, 0)
    assert trace.jobs.submit_s.is_monotonic_increasing


@pytest.mark.parametrize(("name", "jobs"), [("muri_trace1.csv", 1494), ("muri_trace3.csv", 992)])
def test_the_real_muri_traces_are_read_whole(name, jobs):
    trace = read_muri(real_file(name))
    assert (len(trace), len(trace.rejected)) == (jobs, 0)
    stated = trace.jobs.iterations * trace.jobs.iteration_s
    assert (trace.jobs.duration_s / stated).between(1 - 1e-9, 1.2).all()
