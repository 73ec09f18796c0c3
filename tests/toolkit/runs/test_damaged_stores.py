"""Stores with damaged rows: each gives one line, the others are shown, without a traceback."""

import json
import os
import random
import shutil
import sqlite3

import pytest

from gadgetopt.runs.comparison import compare
from gadgetopt.runs.store import MOST_TOLD, Store
from gadgetopt.system.result import Limits

#: What files hold that a disk, an editor or a person has damaged.
GARBAGE = (
    "", "x", "None", "null", "true", "1/0", "-3/7", "nan", "inf", "-Infinity", "1e999", "9" * 5000,
    "1" * 400 + "/3", "0", "-1", "7", "{", "[]", "{}", "[1]", "[[1]]", "[[0, 1, 2]]", "[[[]]]",
    '{"a": 1}', '{"a": null}', '{"jobs": "x"}', '{"jobs": 1e999}', '{"objective": 1}',
    '{"time_s": "x"}', '{"theorem": 1}', '[{"theorem": 1}]', "[" * 5000, '"text"', "[/red]",
    "[bold", "a\nb", "\x00", "\u202e", "\u2028", "<script>", "=1+1", "error", "optimal", "solver",
    "feasible", "verified", b"\xff\xfe", b"\xed\xa0\x80", 0, -1, 1, 2**62, -(2**63), 1e308, 9e999,
    -9e999, 0.5, None,
)  # fmt: skip

TABLES = ("runs", "runs", "runs", "instances", "claims")

FORMS = (
    (),
    ("--features",),
    ("--theorems",),
    ("--format", "json"),
    ("--format", "csv", "--features"),
    ("--format", "json", "--features"),
    ("--format", "json", "--theorems"),
    ("--format", "latex"),
)


@pytest.fixture(scope="module")
def whole(root, tmp_path_factory):
    """A store of a dozen runs of two systems, and a claim."""
    path = tmp_path_factory.mktemp("store") / "whole.sqlite"
    limits = Limits(time_s=60.0)
    jobs = [
        root / "instances/sjf_bco/tiny" / f"{name}.json"
        for name in ("e1_co_locate", "e4a_three_jobs")
    ]
    compare(jobs, ["sjf_bco", "first_fit", "combinatorial"], limits=limits, store=path, workers=0)
    sacks = sorted((root / "instances/knapsack/tiny").glob("*.json"))[:2]
    compare(
        sacks, ["greedy", "cg_core", "lp_relaxation@highs"], limits=limits, store=path, workers=0
    )
    with sqlite3.connect(path) as store:
        store.execute("PRAGMA journal_mode = DELETE")  # one file, to be copied
        store.execute("INSERT INTO claims VALUES ('k', 'elsewhere', 1, 1e12, 99)")
    return path


def damage(path, dice):
    """Write garbage into a random cell; return where, None if SQLite refuses it."""
    with sqlite3.connect(path) as store:
        table = dice.choice(TABLES)
        columns = [row[1] for row in store.execute(f"PRAGMA table_info({table})")]
        column, value = dice.choice(columns), dice.choice(GARBAGE)
        rows = [row for (row,) in store.execute(f"SELECT rowid FROM {table}")]
        mark = "CAST(? AS TEXT)" if isinstance(value, bytes) else "?"
        try:
            store.execute(
                f"UPDATE {table} SET {column} = {mark} WHERE rowid = ?",
                (value, dice.choice(rows)),
            )
        except (sqlite3.IntegrityError, OverflowError):
            return None
    return table, column, value if len(str(value)) < 50 else f"{str(value)[:20]}..."


def damaged(whole, path, seed):
    """Copy a store and damage one to three of its cells."""
    shutil.copy(whole, path)
    dice = random.Random(seed)
    return [damage(path, dice) for _ in range(dice.choice((1, 1, 1, 2, 3)))]


@pytest.mark.parametrize("seed", range(12))
def test_ratios_of_a_damaged_store_end_without_a_traceback(whole, tmp_path, cli, seed):
    path = tmp_path / "runs.sqlite"
    for part in range(10):
        done = damaged(whole, path, 1000 * seed + part)
        for form in random.Random(part).sample(FORMS, 2):
            code, out, err = cli("ratios", path, *form)
            assert code in (0, 1, 2), (done, form)
            assert "Traceback" not in err, (done, form)
            if code == 0 and "json" in form:
                json.loads(out)


@pytest.mark.parametrize("seed", range(6))
def test_the_report_of_a_damaged_store_ends_without_a_traceback(whole, tmp_path, cli, seed):
    path = tmp_path / "runs.sqlite"
    for part in range(4):
        done = damaged(whole, path, 1_000_000 + 1000 * seed + part)
        code, _, err = cli("report", path, "--out", tmp_path / "report.html", "--pictures", 2)
        assert code in (0, 1, 2), done
        assert "Traceback" not in err, done


@pytest.mark.parametrize("seed", range(3))
def test_compare_on_a_damaged_store_ends_without_a_traceback(root, whole, tmp_path, cli, seed):
    path, instance = tmp_path / "runs.sqlite", root / "instances/sjf_bco/tiny/e1_co_locate.json"
    for part in range(4):
        done = damaged(whole, path, 2_000_000 + 1000 * seed + part)
        code, _, err = cli("compare", instance, "--store", path, "--workers", 0)
        assert code in (0, 1, 2), done
        assert "Traceback" not in err, done


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("bound = '1/0'", "ValueError: '1/0' is not a number"),
        ("objective = 'nan'", "ValueError: 'nan' is not a number"),
        (f"objective = '{'9' * 5000}'", "ValueError: "),
        (
            "bound = '7', bound_voucher = NULL",
            "ValueError: expected both of bound and bound_voucher",
        ),
        ("reason = CAST(x'ff' AS TEXT)", "ValueError: reason: is not UTF-8 text"),
        ("notes = '[1]'", "ValueError: '[1]' is not a JSON object"),
        ("promises = '[{\"theorem\": 1}]'", "TypeError: "),
        ('limits = \'{"time_s": "x"}\'', "ValueError: limits: "),
        ("time_s = 9e999", "ValueError: inf is not a number of seconds"),
        ("problem = 'gone'", "'gone' is not a known problem"),
    ],
)
def test_a_damaged_row_is_one_line_and_the_others_are_shown(
    whole, tmp_path, cli, caplog, change, said
):
    path = tmp_path / "runs.sqlite"
    shutil.copy(whole, path)
    with sqlite3.connect(path) as store:
        (key,) = store.execute("SELECT key FROM runs WHERE position = 2").fetchone()
        store.execute(f"UPDATE runs SET {change} WHERE key = ?", (key,))
    rows = len(json.loads(cli("ratios", whole, "--json")[1]))
    for command in (("ratios", path, "--json"), ("report", path, "--out", tmp_path / "r.html")):
        caplog.clear()
        code, out, _ = cli(*command)
        assert code == 0
        (line,) = caplog.messages
        assert line.startswith(f"{path}: run {key[:12]}: cannot be read: {said}")
        assert line.endswith("; left out")
        assert line.isprintable()
        shown = len(json.loads(out)) if "--json" in command else int(out.split()[1])
        assert shown == rows - 1


@pytest.mark.parametrize("column", ["size", "features"])
def test_an_instance_whose_numbers_are_damaged_has_none(whole, tmp_path, cli, caplog, column):
    path = tmp_path / "runs.sqlite"
    shutil.copy(whole, path)
    with sqlite3.connect(path) as store:
        store.execute(f'UPDATE instances SET {column} = \'{{"jobs": "x"}}\' WHERE rowid = 1')
    code, out, _ = cli("ratios", path, "--features", "--json")
    assert code == 0
    first, *others = json.loads(out)
    assert first["size_jobs"] is None
    assert others[-1]["instance"] != first["instance"]
    (line,) = caplog.messages
    assert line.startswith(f"{path}: instance {first_key(path)[:12]}: cannot be read: ")
    assert line.endswith("jobs: 'x' is not a finite number; left out")


def bytes_flipped(path, dice):
    content = bytearray(path.read_bytes())
    for _ in range(dice.choice((1, 3, 20, 200))):
        content[dice.randrange(dice.choice((len(content), 8192)))] = dice.randrange(256)
    path.write_bytes(content)


def cut_off(path, dice):
    with path.open("r+b") as file:
        file.truncate(dice.choice((0, 5, 16, 100, 1024, 4096, dice.randrange(60_000))))


def page_lost(path, dice):
    content = bytearray(path.read_bytes())
    start = dice.randrange(len(content) // 4096) * 4096
    content[start : start + 4096] = bytes(4096)
    path.write_bytes(content)


def of_other_tables(path, dice):
    """Drop a table or column, or let a table take values of any type."""
    with sqlite3.connect(path) as store:
        table = dice.choice((*TABLES, "origins"))
        columns = [row[1] for row in store.execute(f"PRAGMA table_info({table})")]
        change = dice.choice(("table", "column", "types", "types"))
        if change == "table":
            store.execute(f"DROP TABLE {table}")
        elif change == "column":
            store.execute(f"ALTER TABLE {table} RENAME COLUMN {dice.choice(columns)} TO other")
        else:
            store.execute(f"CREATE TABLE copy ({', '.join(columns)})")
            store.execute(f"INSERT INTO copy SELECT * FROM {table}")
            store.execute(f"DROP TABLE {table}")
            store.execute(f"ALTER TABLE copy RENAME TO {table}")
            for _ in range(dice.choice((1, 4))):
                value = dice.choice(GARBAGE)
                store.execute(f"UPDATE {table} SET {dice.choice(columns)} = ?", (value,))


COMMANDS = (
    ("status",),
    ("status", "--json"),
    ("summary",),
    ("ratios", "--features"),
    ("report", "--out", "r.html", "--pictures", "1"),
    ("delete", "--stale", "--yes"),
    ("delete", "--instances", "*", "--yes"),
    ("merge", "--into", "merged.sqlite"),
    ("certify", "--budget", "0.01"),
    ("plot", "--run", "a", "--out", "p.html"),
)
#: Stores damaged in each way; four commands are tried on each.
DAMAGED = int(os.environ.get("GADGETOPT_DAMAGED", "8"))


@pytest.mark.parametrize("how", [bytes_flipped, cut_off, page_lost, of_other_tables])
def test_whatever_the_damage_every_command_ends_with_a_line(
    whole, tmp_path, cli, monkeypatch, root, how
):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "runs.sqlite"
    one = root / "instances/sjf_bco/tiny/e1_co_locate.json"
    again = ("compare", one, "--methods", "first_fit", "--workers", "0", "--store", path)
    for seed in range(DAMAGED):
        dice = random.Random(f"{how.__name__} {seed}")
        for name, *options in dice.sample(COMMANDS, 3):
            shutil.copy(whole, path)
            how(path, random.Random(f"{how.__name__} {seed}"))
            _ends_with_a_line(cli(name, path, *options))
        shutil.copy(whole, path)
        how(path, random.Random(f"{how.__name__} {seed}"))
        _ends_with_a_line(cli(*again))
        for left in tmp_path.glob("runs.sqlite*"):
            left.unlink()


def _ends_with_a_line(ended):
    code, _, err = ended
    assert code in (0, 1, 2)
    assert "Traceback" not in err
    if code == 2:
        assert err.splitlines()[-1].startswith("gadgetopt: ")


def test_a_table_whose_name_is_no_text_is_one_line(whole, tmp_path, cli):
    path = tmp_path / "runs.sqlite"
    content = whole.read_bytes()
    assert b"CREATE TABLE runs" in content
    path.write_bytes(content.replace(b"CREATE TABLE runs", b"CREATE TABLE \xa4uns"))
    for command in ("status", "ratios", "summary", "certify"):
        code, out, err = cli(command, path)
        assert (code, out) == (2, "")
        assert err.startswith(f"gadgetopt: {path}: cannot be used as a store: ")
        assert len(err.splitlines()) == 1


def test_an_instance_that_is_not_what_its_fingerprint_says_is_not_drawn(whole, tmp_path, cli):
    path = tmp_path / "runs.sqlite"
    shutil.copy(whole, path)
    with sqlite3.connect(path) as store:
        store.execute(
            "UPDATE instances SET document = (SELECT document FROM instances WHERE rowid = 2) "
            "WHERE rowid = 1"
        )
        (key,) = store.execute("SELECT key FROM runs WHERE method = 'sjf_bco' LIMIT 1").fetchone()
    code, _, err = cli("plot", path, "--run", key, "--out", tmp_path / "picture.json")
    assert code == 2
    assert "is damaged: not the data that its fingerprint is of" in err


def test_of_many_damaged_rows_the_first_are_told(whole, tmp_path, caplog):
    path = tmp_path / "runs.sqlite"
    shutil.copy(whole, path)
    with Store(path) as store:
        rows = store.runs()
        for k in range(3 * MOST_TOLD):
            store.add_row({**_row(rows[0]), "key": f"{k}", "status": "bogus"})
        caplog.clear()
        assert store.runs() == rows
    assert len(caplog.messages) == MOST_TOLD + 1
    assert caplog.messages[-1] == f"{path}: more rows cannot be read and are left out"


def first_key(path):
    with sqlite3.connect(path) as store:
        return store.execute("SELECT fingerprint FROM instances WHERE rowid = 1").fetchone()[0]


def _row(run):
    from gadgetopt.runs.rows import to_row

    return to_row(run)
