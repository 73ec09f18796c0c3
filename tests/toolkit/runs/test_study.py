"""Study file, command line and executed runs agree; a bad file gives one line."""

import json
import os
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from gadgetopt.cli.main import main
from gadgetopt.errors import InputError
from gadgetopt.runs.study import (
    Cell,
    Study,
    StudyLimits,
    StudyTable,
    instance_files,
    read_study,
    write_study,
)
from gadgetopt.runs.toml import toml
from gadgetopt.system.files import read_instance
from gadgetopt.system.generation import (
    Series,
    checked_series,
    documents_of,
    parse_series,
    write_series,
)
from gadgetopt.system.registry import problem, problem_names, problems
from gadgetopt.system.sweeps import points

MALFORMED = Path(__file__).parents[2] / "malformed_studies"
FILES = sorted(MALFORMED.glob("*.toml"))
EXPECTED = json.loads((MALFORMED / "expected.json").read_text())

#: File names that a shell, a colon-separated text or TOML might trip over.
NAMES = ("a b.json", "ü.json", "#1.json", "x=1.json", "a:b.json", "it's.json", 'say "a".json')

METHODS = ("all", "exact", "sjf_bco", "sjf_bco:availability=queue", "blueconnect:factors=[2, 2]")


# -- bad files -------------------------------------------------------------------------------------


def test_every_malformed_study_has_its_line():
    assert len(FILES) >= 30
    assert {p.stem for p in FILES} == set(EXPECTED)


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_a_malformed_study_is_answered_by_its_one_line(path, cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = cli("compare", path)
    expected = EXPECTED[path.stem].replace("{systems}", ", ".join(problem_names()))
    assert code == 2
    assert out == ""
    assert err == f"gadgetopt: {path}: {expected}\n".replace("{folder}", str(MALFORMED))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "no instances: expected instance files, a study file that names some, or --generate"),
        (["a.toml"], "a.toml: instances: missing, expected some, or generate"),
        (["none.toml"], "none.toml: cannot be read: No such file or directory"),
        (["a.toml", "b.toml"], "b.toml: a second study file, expected one at most"),
        (["--generate", "sjf"], "--generate 'sjf': 'sjf' is not a known problem"),
        (["--generate", "smd:papr"], "--generate 'smd:papr': 'papr', expected one of quickstart"),
        (["--generate", "smd:paper:5"], "--generate 'smd:paper:5': '5' is not of the form"),
        (["--generate", "smd:count=0"], "count: '0' is not a positive integer"),
        (["--generate", "smd:seed=-1"], "seed: '-1' is not a non-negative integer"),
        (["--generate", "smd:seeds=0"], "seeds: '0' is not a positive integer"),
        (["--generate", "smd:jobs=x"], "jobs: 'x' is not of the type of its default"),
        (["--generate", "smd:size=1"], "no parameter 'size'"),
        (
            ["--generate", "smd", "--methods", "x", "--write-study", "c.toml"],
            "--methods: 'x' is no",
        ),
        (["--generate", "smd", "--write-study", "full.toml"], "full.toml: already exists"),
        (["--generate", "smd", "--write-study", "study"], "study: no suffix, expected .toml"),
        (["--generate", "smd", "--scheduler", ""], "'--scheduler': '' is an empty string"),
        (
            ["/nowhere/\udcff.json"],
            "instances: '/nowhere/\\udcff.json': Input should be a valid string",
        ),
        (["/nowhere/**.json"], "/nowhere/**.json: Invalid pattern: '**' can only be"),
    ],
)
def test_bad_options_are_one_line(arguments, said, cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("full.toml").write_text("")
    Path("a.toml").write_text("")
    code, out, err = cli("compare", *arguments)
    assert (code, out) == (2, "")
    assert said in err
    assert len(err.splitlines()) == 1
    assert not list(tmp_path.glob("*.sqlite*"))
    assert Path("full.toml").read_text() == ""


# -- the file and the command line say the same ----------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with instance files of awkward names; the current directory of these tests."""
    folder = tmp_path_factory.mktemp("studies")
    here = Path.cwd()
    os.chdir(folder)
    source = Path(__file__).parents[3] / "instances" / "quickstart" / "sjf_bco.json"
    Path("mine").mkdir()
    for name in NAMES:
        (folder / "mine" / name).write_bytes(source.read_bytes())
    yield folder
    os.chdir(here)


def values_like(default):
    """Values that an option may have whose default is this."""
    text = st.text(max_size=8)
    if default is None:
        return st.one_of(st.integers(), st.floats(0, 1e9), text)
    if isinstance(default, bool):
        return st.booleans()
    if isinstance(default, int):
        return st.integers(1, 10**9)
    if isinstance(default, float):
        return st.one_of(st.floats(0, 1e300), st.integers(0, 10))
    if isinstance(default, tuple):
        return st.lists(st.integers(), min_size=1, max_size=3).map(tuple)
    return text


def float_or_text(value):
    return float(value) if isinstance(value, int) else value


@st.composite
def series(draw):
    system = draw(st.sampled_from(problems()))
    generator = draw(st.sampled_from(system.generators))
    names = draw(st.lists(st.sampled_from([*generator.parameters, None]), unique=True))
    options = {}
    for name in filter(None, names):
        one = values_like(generator.parameters[name])
        sweep = st.lists(one, min_size=1, max_size=3, unique_by=float_or_text)
        options[name] = draw(one | sweep)
    given = Series(
        system=system.name,
        preset=generator.name,
        count=draw(st.integers(1, 10**6)),
        seed=draw(st.integers(0, 10**6)),
        seeds=draw(st.integers(1, 3)),
        options=options,
    )
    return checked_series(given, lambda field: field)


PIECE = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="/"), min_size=1)
PATHS = st.lists(PIECE, min_size=1, max_size=3).map(lambda p: os.path.normpath("/".join(p)))
POSITIVE = st.floats(min_value=0, exclude_min=True, allow_infinity=False)


@st.composite
def studies(draw):
    instances = draw(st.lists(st.sampled_from([f"mine/{n}" for n in NAMES]), unique=True))
    generate = draw(st.lists(series(), min_size=0 if instances else 1, max_size=3))
    return Study(
        instances=tuple(instances),
        methods=tuple(draw(st.lists(st.sampled_from(METHODS), unique=True))),
        seeds=draw(st.integers(1, 10**9)),
        first_seed=draw(st.integers(0, 10**9)),
        store=draw(PATHS),
        generated=draw(st.none() | PATHS),
        workers=draw(st.none() | st.integers(0, 10**6)),
        scheduler=draw(st.none() | PIECE),
        grace_s=draw(st.none() | POSITIVE),
        limits=StudyLimits(
            time_s=draw(POSITIVE),
            threads=draw(st.integers(1, 10**6)),
            memory_mb=draw(st.none() | POSITIVE),
            rel_gap=draw(st.floats(0, 1, exclude_max=True)),
            no_improvement_s=draw(st.none() | POSITIVE),
            target=draw(st.none() | st.floats(allow_nan=False, allow_infinity=False)),
        ),
        generate=tuple(generate),
        table=draw(st.none() | tables()),
    )


@st.composite
def tables(draw):
    columns = st.sampled_from(("instance", "preset", "instance_seed", "size_jobs", "param_load:4"))
    return StudyTable(
        rows=tuple(draw(st.lists(columns, unique=True))),
        methods=tuple(draw(st.lists(st.sampled_from(METHODS), unique=True))),
        cells=tuple(draw(st.lists(st.sampled_from(get_args(Cell)), min_size=1, unique=True))),
    )


def arguments(study):
    """Say a study on the command line."""
    out = [f"--generate={s.spec}" for s in study.generate]
    if study.methods:
        out.append(f"--methods={','.join(study.methods)}")
    limits = study.limits
    options = {
        "--seeds": study.seeds,
        "--first-seed": study.first_seed,
        "--store": study.store,
        "--generated": study.generated,
        "--workers": study.workers,
        "--scheduler": study.scheduler,
        "--grace": study.grace_s,
        "--time-limit": limits.time_s,
        "--threads": limits.threads,
        "--memory-mb": limits.memory_mb,
        "--gap": limits.rel_gap,
        "--stop-after-no-improvement": limits.no_improvement_s,
        "--target": limits.target,
    }
    out += [f"{name}={value}" for name, value in options.items() if value is not None]
    return [*out, *study.instances]


@settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow])
@given(study=studies())
def test_a_study_survives_being_written_and_read(folder, study):
    path = folder / "deeper" / "down" / "study.toml"
    path.unlink(missing_ok=True)
    write_study(study, Path("deeper/down/study.toml"))
    assert read_study("deeper/down/study.toml").moved(os.path.normpath) == study


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(study=studies())
def test_what_a_file_says_can_be_said_on_the_command_line_and_back(folder, study):
    Path("back.toml").unlink(missing_ok=True)
    with pytest.raises(SystemExit) as stop:
        main(["compare", "--write-study=back.toml", *arguments(study)])
    assert stop.value.code == 0
    # The command line has no words for the table of a study.
    assert read_study("back.toml") == study.model_copy(update={"table": None})


@given(series())
def test_a_series_survives_being_said_in_one_word(given):
    assert parse_series(given.spec, "here") == given


@given(series(), series())
def test_only_equal_instances_have_equal_names(one, other):
    parts = [points_of(s) for s in (one, other)]
    assume(not any(point in parts[1] for point in parts[0]))
    names = [s.model_copy(update={"count": 1}).names for s in (one, other)]
    assert not set(names[0]) & set(names[1])
    for name in (*names[0], *names[1]):
        assert name.isascii()
        assert "/" not in name
        assert len(name) < 220


def points_of(series):
    """Return what each combination of a series' options is drawn from, as JSON."""
    defaults = {g.name: g for g in problem(series.system).generators}[series.preset].parameters
    seeds = range(series.seed, series.seed + series.seeds)
    given = [(series.system, series.preset, seed) for seed in seeds]
    found = list(points(series.options, defaults))
    return [json.dumps([*start, p], sort_keys=True) for start in given for p in found]


JSON = st.recursive(
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_toml_that_is_written_is_read_back(table):
    import tomllib

    assert tomllib.loads(toml(table)) == table


def test_seeds_give_the_instances_of_one_seed_after_another(folder):
    whole = Series(system="smd", seed=3, seeds=2, count=2)
    apart = [Series(system="smd", seed=seed, count=2) for seed in (3, 4)]
    assert whole.names == [name for series in apart for name in series.names]
    drawn = [d.fingerprint for d in documents_of(whole)]
    assert drawn == [d.fingerprint for series in apart for d in documents_of(series)]


def test_the_first_instance_of_a_seed_is_what_its_random_stream_gives():
    system = problem("parallel_machines")
    generator = next(g for g in system.generators if g.name == "uniform")
    (document,) = documents_of(Series(system=system.name, preset="uniform", seed=5))
    assert document.data == generator.generate(np.random.default_rng(5), **generator.parameters)


# -- what is run -----------------------------------------------------------------------------------


STUDY = """
instances = ["mine/x=1.json"]
methods = ["first_fit", "random_placement"]
seeds = 2
workers = 0

[[generate]]
system = "sjf_bco"
count = 2
options = { jobs = 3 }
"""


@pytest.fixture
def study_file(folder, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "x=1.json").write_bytes((folder / "mine" / "x=1.json").read_bytes())
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return path


def rows(cli, *given):
    code, out, err = cli("compare", *given, "--json")
    assert code == 0, err
    return json.loads(out)


def test_a_study_and_the_same_on_the_command_line_give_the_same_rows(
    cli, study_file, tmp_path, monkeypatch
):
    from_file = rows(cli, study_file)
    assert len(from_file) == 3 * 3
    monkeypatch.chdir(tmp_path)
    said = ["mine/x=1.json", "--generate", "sjf_bco:count=2:jobs=3", "--seeds", "2"]
    said += ["--methods", "first_fit,random_placement", "--workers", "0"]
    # The store beside the study file holds all of it: the times are those of its runs.
    assert rows(cli, *said) == from_file
    assert sorted(p.name for p in tmp_path.iterdir() if p.suffix != ".sqlite-wal") == [
        "mine",
        "runs.sqlite",
        "runs.sqlite.instances",
        "study.toml",
    ]


def test_options_replace_fields_of_the_file(cli, study_file, tmp_path):
    found = rows(cli, study_file, "--methods", "first_fit", "--store", tmp_path / "other.sqlite")
    assert [r["method"] for r in found] == ["first_fit"] * 3
    assert (tmp_path / "other.sqlite.instances").is_dir()
    assert not (tmp_path / "runs.sqlite").exists()


def test_instances_that_are_given_replace_all_of_the_file(cli, study_file, tmp_path):
    only = tmp_path / "mine" / "x=1.json"
    assert {r["instance"] for r in rows(cli, study_file, only)} == {"sjf_bco"}
    found = rows(cli, study_file, "--generate", "sjf_bco:seed=7")
    assert {r["instance"] for r in found} == {"sjf_bco_quickstart_s7_000"}


def test_limits_that_are_given_leave_those_of_the_file(cli, study_file, tmp_path):
    study_file.write_text(STUDY.replace("[[gen", "[limits]\ntime_s = 5\nrel_gap = 0.1\n\n[[gen"))
    cli("compare", study_file, "--gap", "0.2", "--write-study", tmp_path / "new.toml")
    limits = read_study(tmp_path / "new.toml").limits
    assert (limits.time_s, limits.rel_gap) == (5, 0.2)


def test_a_study_is_the_same_from_every_directory(study_file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    here = read_study("study.toml")
    monkeypatch.chdir(tmp_path / "mine")
    there = read_study("../study.toml")
    assert there.store == "../runs.sqlite"
    assert Path(there.instances[0]).resolve() == (tmp_path / here.instances[0]).resolve()


def test_a_study_behind_a_link_finds_what_it_was_written_for(study_file, tmp_path, monkeypatch):
    (tmp_path / "real" / "deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real" / "deep")
    monkeypatch.chdir(tmp_path)
    write_study(read_study("study.toml"), Path("link/new.toml"))
    for way in ("link/new.toml", "real/deep/new.toml"):
        study = read_study(way)
        assert Path(study.instances[0]).resolve() == (tmp_path / "mine" / "x=1.json").resolve()
        assert Path(study.store).resolve() == (tmp_path / "runs.sqlite").resolve()


def test_instances_of_the_library_need_no_folder_beside_the_study(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text('instances = ["instances/quickstart/smd.json"]\n')
    study = read_study(path)
    assert [read_instance(p).problem.name for p in instance_files(study)] == ["smd"]
    write_study(study, tmp_path / "deeper" / "again.toml")
    assert "instances/quickstart/smd.json" in (tmp_path / "deeper" / "again.toml").read_text()


def test_only_instances_are_looked_up_in_the_library(tmp_path, monkeypatch):
    path = tmp_path / "study.toml"
    path.write_text('store = "instances/runs.sqlite"\ngenerated = "instances/mine"\n')
    study = read_study(path)
    assert study.store == f"{tmp_path}/instances/runs.sqlite"
    assert study.generated == f"{tmp_path}/instances/mine"
    monkeypatch.chdir(tmp_path)
    write_study(study.moved(lambda text: os.path.relpath(text, tmp_path)), Path("deep/study.toml"))
    assert read_study("deep/study.toml").moved(os.path.abspath) == study


# -- generated instances ---------------------------------------------------------------------------


def test_a_series_is_what_generate_gives_and_is_written_once(cli, tmp_path):
    given = parse_series("sjf_bco:count=2:seed=3:jobs=3", "here")
    files = write_series(given, tmp_path / "series")
    assert [f.stem for f in files] == [f"sjf_bco_quickstart_s3_jobs=3_00{k}" for k in range(2)]
    cli("generate", "sjf_bco", "--count", 2, "--seed", 3, "--set", "jobs=3", "--out", tmp_path)
    for k, file in enumerate(files):
        same = read_instance(tmp_path / f"sjf_bco_quickstart_s3_jobs=3_{k}.json")
        assert read_instance(file).data == same.data
        assert read_instance(file).origin == same.origin
    before = [file.stat().st_mtime_ns for file in files]
    assert write_series(given, tmp_path / "series") == files
    assert [file.stat().st_mtime_ns for file in files] == before


def test_a_longer_series_begins_with_the_files_of_the_shorter(tmp_path):
    shorter = write_series(Series(system="smd", count=1), tmp_path)
    assert write_series(Series(system="smd", count=3), tmp_path)[:1] == shorter


def test_what_another_version_generated_otherwise_is_not_overwritten(tmp_path):
    given = Series(system="sjf_bco")
    (file,) = write_series(given, tmp_path)
    plain = json.loads(file.read_text())
    plain["origin"]["version"] = "0.0.1"
    file.write_text(json.dumps(plain))
    write_series(given, tmp_path)  # the same data
    assert read_instance(file).origin["version"] != "0.0.1"
    plain["data"]["horizon_slots"] += 1
    file.write_text(json.dumps(plain))
    with pytest.raises(InputError, match="is not what sjf_bco:quickstart:count=1:seed=0 generates"):
        write_series(given, tmp_path)
    assert json.loads(file.read_text()) == plain


# -- sweeps ----------------------------------------------------------------------------------------


def test_a_sweep_holds_count_instances_for_each_combination_named_by_all_that_is_given(tmp_path):
    given = parse_series("sjf_bco:mini_paper:count=2:jobs=[6, 8]:servers=[4, 3]", "here")
    files = write_series(given, tmp_path)
    assert [f.stem for f in files] == [
        f"sjf_bco_mini_paper_s0_jobs={jobs}_servers={servers}_00{k}"
        for jobs in (6, 8)
        for servers in (4, 3)  # both defaults are in the names: jobs 8 and servers 4
        for k in range(2)
    ]
    for file in files:
        document = read_instance(file)
        told = document.origin["parameters"]
        assert (len(document.data.jobs), len(document.data.server_gpus)) == (
            told["jobs"],
            told["servers"],
        )


def test_values_of_a_sweep_are_drawn_from_the_same_seeds(tmp_path):
    files = write_series(
        parse_series("sjf_bco:paper:count=2:jobs=9:servers=2:extra=[0.05,0.2]", "x"), tmp_path
    )
    weak, strong = [read_instance(f) for f in files[:2]], [read_instance(f) for f in files[2:]]
    for one, other in zip(weak, strong, strict=True):
        assert [one.origin[k] for k in ("seed", "index")] == [
            other.origin[k] for k in ("seed", "index")
        ]
        assert one.data != other.data
        # `extra` changes how strong contention is, not which jobs and servers are drawn.
        assert one.data.server_gpus == other.data.server_gpus
        assert [j.gpus for j in one.data.jobs] == [j.gpus for j in other.data.jobs]
        assert [j.iterations for j in one.data.jobs] == [j.iterations for j in other.data.jobs]


def test_generate_makes_the_instances_that_compare_makes(cli, tmp_path):
    code, out, _ = cli(
        *("generate", "sjf_bco", "--preset", "mini_paper", "--set", "jobs=[6,8]"),
        *("--count", 2, "--out", tmp_path, "--json"),
    )
    assert code == 0
    files = [Path(name) for name in json.loads(out)]
    assert [f.stem for f in files] == [
        f"sjf_bco_mini_paper_s0_jobs={n}_{k}" for n in (6, 8) for k in "01"
    ]
    series = write_series(
        parse_series("sjf_bco:mini_paper:jobs=[6,8]:count=2", "x"), tmp_path / "series"
    )
    assert [read_instance(f).data for f in files] == [read_instance(f).data for f in series]


@pytest.mark.parametrize(
    ("spec", "options"),
    [
        ("adsp_training:paper:momenta=0.1,0.2", [{"momenta": [0.1, 0.2]}]),
        ("adsp_training:paper:momenta=[0.1, 0.2]", [{"momenta": [0.1, 0.2]}]),
        (
            "adsp_training:paper:momenta=[[0.1], [0.2, 0.3]]",
            [{"momenta": [0.1]}, {"momenta": [0.2, 0.3]}],
        ),
        ('bgl_cache:paper:fanouts=["5,3", "4,4"]', [{"fanouts": "5,3"}, {"fanouts": "4,4"}]),
        ("bgl_cache:paper:fanouts=5,3", [{"fanouts": "5,3"}]),
        ("sjf_bco:paper:p_cal=[3, 4]", [{"p_cal": 3}, {"p_cal": 4}]),
        ("sjf_bco:paper:p_cal=[[3, 4]]", [{"p_cal": [3, 4]}]),
        ("sjf_bco:paper:extra=[0, 1]", [{"extra": 0.0}, {"extra": 1.0}]),
    ],
)
def test_a_list_is_a_sweep_if_it_is_deeper_than_the_default(spec, options):
    series = parse_series(spec, "here")
    (generator,) = [g for g in problem(series.system).generators if g.name == series.preset]
    assert list(points(series.options, generator.parameters)) == options
    assert parse_series(series.spec, "here") == series


@pytest.mark.parametrize(
    ("assignment", "said"),
    [
        ("extra=0.05,0.1", "several values are written extra=[0.05,0.1]"),
        ("extra=[0.05,x]", "extra: 'x' is not of the type of its default, 0.15"),
        ("extra=[0.1,0.1]", "extra: 0.1 is given twice"),
        ("jobs=[]", "jobs: the list is empty, expected values"),
        ("jobs=[[5]]", "jobs: '[5]' is not of the type of its default, 160"),
        ("jobs=[5,0]", "jobs: 0 is not a positive number"),
    ],
)
def test_mistakes_in_a_sweep_have_their_line(assignment, said, cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for command in (
        ("compare", "--generate", f"sjf_bco:paper:{assignment}"),
        ("generate", "sjf_bco", "--preset", "paper", "--set", assignment),
    ):
        code, out, err = cli(*command)
        assert (code, out) == (2, "")
        assert said in err
        assert len(err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


# -- the page --------------------------------------------------------------------------------------


def test_the_example_of_the_page_is_a_study(root, tmp_path):
    page = (root / "docs" / "studies.md").read_text(encoding="utf-8")
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "one.json").write_text("{}")
    path = tmp_path / "chapter3.toml"
    path.write_text(page.split("```toml\n")[1].split("```")[0])
    study = read_study(path)
    assert [s.names[0] for s in study.generate] == [
        "sjf_bco_paper_s1_extra=0.05_000",
        "sjf_bco_mini_paper_s0_jobs=12_servers=4_000",
    ]
    assert len(study.generate[0].names) == 3 * 20


def test_the_page_names_every_field(root):
    page = (root / "docs" / "studies.md").read_text(encoding="utf-8")
    fields = {*Study.model_fields, *StudyLimits.model_fields, *Series.model_fields}
    for field in fields - {"limits", "threads", "memory_mb", "rel_gap", "time_s"}:
        assert f"`{field}`" in page
    assert "`limits.time_s`, `threads`, `memory_mb`, `rel_gap`" in page


TABLE = """
methods = ["list_scheduling", "lpt", "bin_search"]
workers = 0
limits = { time_s = 20 }

[table]
rows = ["param_machines"]
methods = ["l*"]
cells = ["worst", "optimal"]

[[generate]]
system = "parallel_machines"
preset = "graham_lpt"
options = { machines = [2, 3] }
"""


def test_a_cell_that_no_table_can_have_is_one_line(cli, tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(TABLE.replace('"worst", "optimal"', '"worst", "best"'))
    code, _, err = cli("compare", path)
    assert code == 2
    assert "study.toml: table.cells[1]: 'best' is not one of mean, median, " in err
    assert err.rstrip().endswith("longest, note:NAME")
    path.write_text(TABLE.replace('"worst", "optimal"', '"worst", "note:rounds"'))
    assert read_study(path).table.cells == ("worst", "note:rounds")


def test_a_study_with_a_table_ends_with_it_and_summary_prints_it_again(cli, tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(TABLE)
    code, out, _ = cli("compare", path)
    assert code == 0
    ending = out[out.index(" machines ") :]
    assert "1.167, 0/1" in ending  # 4/3 - 1/(3m) on two machines
    assert "1.222, 0/1" in ending  # and on three
    assert "bin_search" not in ending
    code, out, _ = cli("summary", path)
    assert code == 0
    assert out[out.index(" machines ") :] == ending
    code, out, _ = cli("summary", path, "--format", "markdown", "--methods", "lpt")
    assert code == 0
    assert "| machines | `lpt` |\n| --- | ---: |\n| 2 | 1.167, 0/1 |\n| 3 | 1.222, 0/1 |" in out
    code, out, _ = cli("summary", path, "--format", "csv")
    assert code == 0
    assert out.startswith("system,param_machines,method,kind,")
