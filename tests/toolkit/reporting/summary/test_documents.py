"""Summaries as LaTeX, Markdown, CSV and JSON, and by the command line."""

import csv
import io
import json
import math
import re

import numpy as np
import pytest

from gadgetopt.reporting.sentences import rows_of
from gadgetopt.reporting.summary import summarize
from gadgetopt.reporting.summary.columns import columns_of, fitting
from gadgetopt.reporting.summary.documents import escape, latex, markdown, plain
from gadgetopt.reporting.summary.groups import INTERVALS, MEASURES
from gadgetopt.trust.theorems import Promise

from ..entries_of import result, study, table
from .latex_checker import check


@pytest.mark.parametrize("by", [[], ["size_jobs"], ["size_jobs", "size_load"], ["instance"]])
@pytest.mark.parametrize("draw", range(5))
def test_latex_is_well_formed_and_fits_the_text(by, draw):
    check(latex(rows_of(summarize(study(draw=draw), by)), by, "a study_1"))


def test_long_and_wild_names_do_not_break_the_table():
    name = "my_method:alpha=0.25:mode=[a,b]:rule=%&#{x}~^\\"
    runs = [result("i", name, "approximation", 4), result("i", "search", "exact", 3, 3)]
    text = latex(rows_of(summarize(table(runs, [Promise("T", "1", "proven", 10**9)]))), [], "x")
    check(text)
    assert r"\%\&\#\{x\}" in text
    assert "$>$ 1000" in text


@pytest.mark.parametrize(
    "broken",
    [
        lambda text: text.replace(r"\_", "_"),
        lambda text: text.replace(r"\end{table}", ""),
        lambda text: text.replace(" & ", " ", 1),
        lambda text: text.replace("{tab:x}", "{tab:x"),
        lambda text: text.replace(r"\toprule", r"\hrule"),
        lambda text: text.replace("% \\usepackage{booktabs,tabularx}", ""),
        lambda text: text.replace("1.000", "1.000 and some more words of no use, many of them"),
    ],
)
def test_the_checker_finds_what_tex_would(broken):
    runs = [result("i", "my_own", objective=4), result("i", "search", "exact", 4, 4)]
    text = latex(rows_of(summarize(table(runs))), [], "x")
    check(text)
    with pytest.raises(AssertionError):
        check(broken(text))


def test_numbers_of_latex_have_three_digits_and_intervals_one_column():
    runs = [
        result("i", "own", objective=1264), result("i", "other", "baseline", 1000),
        result("i", "bound", "relaxation", None, 900),
    ]  # fmt: skip
    text = latex(rows_of(summarize(table(runs))), [], "x")
    assert " 1.264--1.404 " in text
    assert " 1.000--1.111 " in text


def test_text_is_escaped():
    assert escape(r"a_b\c<50%") == r"a\_b\textbackslash{}c$<$50\%"


def test_markdown_has_a_cell_for_every_column():
    lines = markdown(rows_of(summarize(study(), ["size_jobs"])), ["size_jobs"]).splitlines()
    tables = [line for line in lines if line.startswith("|")]
    assert len(tables) == 2 * (2 + 3 * 4)
    assert len({len(re.split(r"(?<!\\)\|", line)) for line in tables}) == 1
    assert tables[0].startswith("| method | jobs | inst. | runs | errors |")


def test_rows_for_other_programs_have_no_infinities():
    rows = plain(rows_of(summarize(table([result("i", "own", objective=3)]))))
    assert rows[0]["ratio_worst_high"] is None
    assert rows[0]["guarantee_median"] is None
    json.dumps(rows, allow_nan=False)


@pytest.fixture(scope="module")
def store(tmp_path_factory, tiny):
    import gadgetopt

    path = tmp_path_factory.mktemp("runs") / "my_runs.sqlite"
    gadgetopt.compare([tiny], ["sjf_bco", "first_fit", "ladder"], store=path, workers=0)
    return path


def test_csv_and_json_have_every_measure(cli, store):
    frame = summarize([])
    rows = json.loads(cli("summary", store, "--format", "json")[1])
    assert rows == json.loads(cli("summary", store, "--json")[1])
    assert [row["method"] for row in rows] == ["sjf_bco", "first_fit", "ladder"]
    assert list(rows[0]) == list(frame) == ["system", "method", *MEASURES]
    read = list(csv.DictReader(io.StringIO(cli("summary", store, "--format", "csv")[1])))
    assert [int(row["wins"]) for row in read] == [row["wins"] for row in rows]
    assert math.isclose(float(read[0]["ratio_worst_high"]), rows[0]["ratio_worst_high"])


def test_intervals_and_integrals_of_a_store(cli, store):
    import gadgetopt

    (first, *_) = rows = json.loads(cli("summary", store, "--intervals", "--json")[1])
    assert list(first) == ["system", "method", *MEASURES, *INTERVALS]
    assert rows == json.loads(cli("summary", store, "--intervals", "--json")[1])
    for row in rows:
        for name, mean in (("time", "time_s"), ("integral", "integral_shifted_1_s")):
            low, high = (row[f"{name}_shifted_1_s_{end}"] for end in ("low", "high"))
            assert low <= row[mean] <= high
    # `ladder` proves its solutions; the others have no bound and a gap of 100 % to the end.
    integrals = {row["method"]: row["integral_shifted_1_s"] for row in rows}
    assert integrals["ladder"] <= rows[2]["time_s"] + 1e-9
    assert math.isclose(integrals["first_fit"], rows[1]["time_s"])
    frame = gadgetopt.summary(store, rng=np.random.default_rng(0))
    assert list(frame["integral_shifted_1_s"]) == pytest.approx(list(integrals.values()))
    code, text, _ = cli("summary", store, "--cells", "time_interval,integral")
    assert code == 0
    assert "primal-dual integrals in seconds, shifted by 1 s" in " ".join(text.split())


def test_the_command_writes_latex_and_markdown_to_a_file(cli, store, tmp_path):
    out = tmp_path / "table_2.tex"
    by = ("--by", "size_jobs")
    assert cli("summary", store, "--format", "latex", "--out", out, *by)[0] == 0
    check(out.read_text())
    assert r"\label{tab:table-2}" in out.read_text()
    code, text, _ = cli("summary", store, "--format", "markdown", "--methods", "exact,first*")
    assert code == 0
    assert "`ladder`" in text
    assert "`first_fit`" in text
    assert "`sjf_bco`" not in text


def test_columns_and_names_in_print_are_chosen(cli, store, tmp_path):
    names = tmp_path / "names.toml"
    names.write_text(
        '[systems]\nsjf_bco = "SJF-BCO"\n[methods]\nfirst_fit = "First fit (50 %)"\n'
        '[columns]\ntime = "seconds"\n'
    )
    wanted = ("--columns", "theorem,worst,median,time", "--names", names)
    code, text, _ = cli("summary", store, "--format", "latex", *wanted)
    assert code == 0
    check(text)
    assert "% too wide" not in text
    assert "& theorem & \\multicolumn{2}{c}{ratio} & seconds \\\\" in text
    assert "\\cmidrule(lr){3-4}" in text
    assert "\\quad First fit (50 \\%) &" in text
    assert "\\caption{Summary of SJF-BCO." in text
    code, text, _ = cli("summary", store, "--format", "markdown", *wanted)
    assert code == 0
    assert "| method | theorem med., worst | ratio worst | ratio median | seconds |" in text
    assert "| First fit (50 %) |" in text
    printed = cli("summary", store, *wanted)[1]
    assert "First fit (50 %)" in printed
    assert "solved" not in printed


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("[methods", "not TOML: "),
        ("[method]\na = 'b'", "method: expected the tables systems, methods, columns"),
        ("[methods]\na = 1", "methods.a: 1: expected a text"),
        ("[columns]\nmost = 'b'", "columns.most: expected one of instances, runs"),
    ],
)
def test_a_wrong_file_of_names_is_one_line(cli, store, tmp_path, written, message):
    names = tmp_path / "names.toml"
    names.write_text(written)
    code, _, err = cli("summary", store, "--names", names)
    assert code == 2
    assert err.startswith(f"gadgetopt: {names}: {message}")
    assert err.count("\n") == 1


def test_the_theorem_is_the_last_column_to_leave():
    runs = [result("i", "own", "approximation", 2, 2)]
    rows = rows_of(summarize(table(runs, [Promise("T", "1", "proven", 3)])))
    columns = columns_of(rows, ())
    for width in range(200):
        kept = {c.key for c in fitting(columns, rows, width, lambda column: 10)}
        assert "theorem" in kept or not kept & {"time", "wins", "certified", "solved"}


def test_the_table_begins_with_a_sentence(cli, store):
    code, out, _ = cli("summary", store)
    assert code == 0
    assert out.startswith("sjf_bco: ")
    assert "time" in out
    grouped = cli("summary", store, "--by", "size_jobs:2")[1]
    assert "jobs" in grouped
    assert " to " in grouped


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--format", "pdf"), "--format: 'pdf' is not one of table, markdown, latex, csv, json"),
        (("--out", "x.txt"), "--out: needs --format markdown, latex, csv or json"),
        (("--cells", "mean", "--format", "csv"), "--cells: is for --format table and markdown"),
        (
            ("--intervals", "--cells", "mean"),
            "--intervals: is for tables without --cells, which has",
        ),
        (("--cells", "mean,most"), "--cells: 'most' is not one of mean, median, worst"),
        (("--cells", "mean", "--by", "colour"), "--by: 'colour' is no column of these instances"),
        (("--by", "colour"), "--by: 'colour' is no column of these instances"),
        (("--by", "size_jobs:x"), "--by: 'size_jobs:x': 'x' is not a positive number of groups"),
        (("--methods", "nobody"), "--methods: 'nobody' fits none of first_fit, ladder, sjf_bco"),
        (("--systems", "smd"), "--systems: 'smd' fits none of sjf_bco"),
        (("--columns", "median,most"), "--columns: 'most' is not one of instances, runs, errors"),
        (("--columns", "median", "--cells", "mean"), "--columns, --names: are for a table, Mark"),
        (("--names", "none.toml"), "none.toml: cannot be read: "),
    ],
)
def test_wrong_options_are_one_line(cli, store, given, message):
    code, out, err = cli("summary", store, *given)
    assert (code, out) == (2, "")
    assert err.startswith(f"gadgetopt: {message}")
    assert err.count("\n") == 1


def test_a_missing_store_is_one_line(cli, tmp_path):
    code, _, err = cli("summary", tmp_path / "none.sqlite")
    assert code == 2
    assert err.count("\n") == 1
