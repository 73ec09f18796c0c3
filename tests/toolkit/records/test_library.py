"""The records that are installed: how many, how large, and true without any solver."""

import json
import os
import random
import subprocess
import sys
from collections import Counter

import pytest

from gadgetopt import records
from gadgetopt.numbers.tolerance import agrees
from gadgetopt.records import checking
from gadgetopt.runs.rows import decode_number
from gadgetopt.system.registry import problem_names

#: What must not be needed: the solvers.
SOLVERS = ("highspy", "ortools", "pyscipopt", "exact")
#: Entries that the sample of a test is drawn from; all of them take ten minutes.
SAMPLE = 60


@pytest.fixture(scope="module")
def entries():
    return [records.read_entry(path) for path in records.find_entries()[1]]


def test_there_are_enough_of_every_problem(entries):
    statuses = Counter(entry.record.status for entry in entries)
    assert len(entries) >= 400
    assert statuses["closed"] >= 300
    assert statuses["open"] >= 40
    counts = Counter(entry.record.problem for entry in entries)
    # `mip` is any model: what it has here are programs of its own presets.
    assert set(counts) == set(problem_names())
    assert all(15 <= n <= 40 for n in counts.values()), counts


def test_every_instance_has_one_entry(entries):
    fingerprints = [entry.record.fingerprint for entry in entries]
    assert len(set(fingerprints)) == len(fingerprints)


def test_the_library_is_small():
    files = [p for p in records.shelf().rglob("*") if p.is_file()]
    assert sum(p.stat().st_size for p in files) <= 25_000_000


def test_nothing_lies_beside_the_entries_that_none_names(entries):
    named = {
        entry.path.parent / part.file
        for entry in entries
        for part in (entry.record.solution, entry.record.certificate)
        if part is not None and part.file is not None
    }
    assert set(records.shelf().rglob("*.xz")) == named


def checked(folder, *arguments):
    """Run `records check` where no solver can be imported."""
    for solver in SOLVERS:
        (folder / f"{solver}.py").write_text("raise ImportError('no solver here')\n")
    return subprocess.run(
        [sys.executable, "-m", "gadgetopt", "records", "check", *arguments],
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_entries_prove_themselves_where_no_solver_can_be_imported(entries, tmp_path):
    chosen = random.Random(0).sample(entries, min(SAMPLE, len(entries)))
    small = [e for e in chosen if e.path.stat().st_size < 10_000]
    done = checked(tmp_path, *(str(e.path) for e in small))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith(f"{len(small)} entries checked, 0 refused")


@pytest.mark.slow
def test_all_entries_prove_themselves_where_no_solver_can_be_imported(entries, tmp_path):
    done = checked(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(entries)} entries checked, 0 refused" in done.stdout


IMPORTED = """
from gadgetopt.system.declaration import resolved
from gadgetopt.system.registry import problems

for p in problems():
    parts = [p.evaluate, p.size, p.check_bound]
    parts += [p.instance_type, p.solution_type, p.certificate_type]
    parts += [g.generate for g in p.generators]
    parts += [x for f in p.formulations for x in (f.build, f.form)]
    for part in parts:
        part is None or resolved(part)
"""


def test_nothing_that_a_check_needs_imports_a_solver(tmp_path):
    """What draws, evaluates and builds the models of proofs, also where no entry needs it yet."""
    for solver in SOLVERS:
        (tmp_path / f"{solver}.py").write_text("raise ImportError('no solver here')\n")
    subprocess.run(
        [sys.executable, "-c", IMPORTED],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        check=True,
    )


# -- mutations -------------------------------------------------------------------------------------

#: What an entry claims; solution, certificate and recipe may have other forms that are as true.
CLAIMS = (
    "name", "problem", "problem_class", "sense", "sizes", "fingerprint", "source", "licence",
    "reference", "status", "best_objective", "best_bound", "history",
)  # fmt: skip


def leaves(value, place=()):
    """Yield the places of a JSON value, inner ones included."""
    yield place
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(part, (*place, key))


def mutated(plain, others, rng):
    """Return an entry of which one place is changed."""
    plain = json.loads(json.dumps(plain))
    place = rng.choice([p for p in leaves(plain) if p])
    parent = plain
    for key in place[:-1]:
        parent = parent[key]
    parent[place[-1]] = changed(parent[place[-1]], place, others, rng)
    return place, plain


def changed(value, place, others, rng):
    """Return another value in the place of one: of its kind, or what another entry says."""
    other = rng.choice(others)
    for key in place:
        try:
            other = other[key]
        except (KeyError, IndexError, TypeError):
            other = None
            break
    kinds = [lambda: other, lambda: None]
    if isinstance(value, bool):
        kinds += [lambda: not value]
    elif isinstance(value, int):
        kinds += [lambda: value + 1, lambda: value - 1, lambda: -value, lambda: 2 * value]
    elif isinstance(value, float):
        kinds += [lambda: value * 1.001, lambda: -value, lambda: 0.0]
    elif isinstance(value, str) and value:
        k = rng.randrange(len(value))
        letter = rng.choice("0123456789abcdef/.-")
        kinds += [lambda: value[:k] + letter + value[k + 1 :], lambda: value[:k] + value[k + 1 :]]
    elif isinstance(value, list) and value:
        k = rng.randrange(len(value))
        kinds += [lambda: value[:k] + value[k + 1 :], lambda: [*value, value[k]]]
        kinds += [lambda: value[::-1]]
    return rng.choice(kinds)()


@pytest.fixture
def remembered(monkeypatch):
    """Draw the same instance, and prove the same bound of it, only once.

    Of most mutations neither is another than the entry's own.
    """
    instances, bounds = {}, {}
    draw, prove = checking.instance_of, checking.certified_bound

    def instance_of(system, name, recipe):
        asked = system.name, name, recipe.model_dump_json()
        if asked not in instances:
            instances[asked] = draw(system, name, recipe)
        return instances[asked]

    def certified_bound(system, instance, certificate):
        asked = id(instance), certificate.model_dump_json()  # `instances` keeps it alive
        if asked not in bounds:
            bounds[asked] = prove(system, instance, certificate)
        return bounds[asked]

    monkeypatch.setattr(checking, "instance_of", instance_of)
    monkeypatch.setattr(checking, "certified_bound", certified_bound)


def lies_accepted(entries, tmp_path, times):
    """Return what was accepted of many mutations though it claims something else."""
    rng = random.Random(45)
    small = [e for e in entries if e.path.stat().st_size < 8_000]
    plain = {e.label: json.loads(e.path.read_text()) for e in small}
    found = []
    for _ in range(times):
        entry = rng.choice(small)
        true = plain[entry.label]
        place, claim = mutated(true, list(plain.values()), rng)
        path = tmp_path / entry.record.problem / entry.path.name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(claim))
        for part in ("solution", "certificate"):
            if (true[part] or {}).get("file"):
                (path.parent / true[part]["file"]).write_bytes(entry.beside(true[part]["file"]))
        if records.check_one(path, seconds=20).faults:
            continue
        same = all(claim[field] == true[field] for field in CLAIMS)
        gap = claim["gap"], true["gap"]
        if not same or (gap[0] != gap[1] and not (all(gap) and agrees(*gap))):
            found.append((entry.label, place))
    return found


def test_no_lie_is_accepted(entries, tmp_path):
    assert lies_accepted(entries, tmp_path, 60) == []


@pytest.mark.slow
@pytest.mark.usefixtures("remembered")
def test_no_lie_is_accepted_in_two_thousand_mutations(entries, tmp_path):
    assert lies_accepted(entries, tmp_path, 2000) == []


def test_the_status_follows_from_the_numbers(entries):
    for entry in entries:
        r = entry.record
        objective, bound = decode_number(r.best_objective), decode_number(r.best_bound)
        if r.status == "closed":
            assert agrees(float(objective), float(bound)), entry.label
        if r.status == "infeasible":
            assert objective is None
