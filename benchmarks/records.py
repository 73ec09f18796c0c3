"""The records improved, and methods held against them: hours of runs that go on where they stopped.

No study says which instances are still open, nor holds methods against what is known.

    python benchmarks/records.py campaign --store records.sqlite --rounds 3
    python benchmarks/records.py protocol --store protocol.sqlite --out protocol.md
    python benchmarks/records.py check
    python benchmarks/records.py refresh

A campaign runs the study of `records.toml` and takes over what is better; its second round and
later ones do so with the open entries only, each with four times the limit of the round before and
another seed. The protocol runs methods on all entries and writes a page: shifted geometric mean of
the times, primal-dual integral, gap to the verified bound, and significance. `check` tells the
processor time of checking all entries. `refresh` writes anew what entries say of their problems,
where a citation or a count of sizes was corrected; results are not touched.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import statistics
import tempfile
import time
from collections.abc import Mapping
from datetime import date
from pathlib import Path

import gadgetopt
from gadgetopt import records
from gadgetopt.numbers.tolerance import CLOSED_GAP, Number
from gadgetopt.records.facts import is_hopeless, of_instance
from gadgetopt.records.shelf import write_entry
from gadgetopt.reporting import cells
from gadgetopt.reporting.geometric_means import shifted_geometric_mean
from gadgetopt.reporting.images import write_figure
from gadgetopt.reporting.integrals import integral_of
from gadgetopt.reporting.pairwise import TEST, pairwise_tests
from gadgetopt.runs.rows import decode_number
from gadgetopt.runs.study import compare_study, instance_files, read_study
from gadgetopt.system.declaration import Problem
from gadgetopt.system.methods import knows
from gadgetopt.system.result import Limits, Status
from gadgetopt.trust.judgement import relative_gap

STUDY = Path(__file__).parent / "records.toml"
#: The limit of a round over that of the round before.
LONGER = 4
#: The largest p-value of a difference that is reported.
SIGNIFICANT = 0.05


def campaign(store: Path, rounds: int) -> None:
    """Run the rounds of a campaign; each takes over what it found."""
    study = read_study(STUDY).model_copy(update={"store": str(store)})
    compare_study(study, details=False)
    print(_taken(store))
    files = {gadgetopt.read(path).fingerprint: path for path in instance_files(study)}
    for k in range(1, rounds):
        time_s = study.limits.time_s * LONGER**k
        for path in records.find_entries()[1]:
            entry = records.read_entry(path)
            file = files.get(entry.record.fingerprint)
            if entry.record.status != "open" or file is None:
                continue
            system = gadgetopt.problem(entry.record.problem)
            gadgetopt.compare(
                [file],
                [name for name in study.methods if knows(system, name)],
                limits=Limits(time_s=time_s),
                first_seed=k,
                store=store,
                workers=study.workers,
                certify=f"{time_s:g}",
                details=False,
                progress=False,
            )
        print(f"round {k + 1}, {time_s:g} s: {_taken(store)}")


def _taken(store: Path) -> str:
    done = records.submit([store], new=True, tell=print)
    return f"{done.added} added, {done.improved} improved, {len(done.refused)} refused"


def held_against_records(system: Problem) -> list[str]:
    """Return the default method and the paper's algorithms."""
    of_paper = [m.name for m in system.methods if m.room == "algorithms"]
    return list(dict.fromkeys([system.default_method, *of_paper]))


def protocol(store: Path, out: Path, methods: list[str], time_s: float, seeds: int) -> None:
    """Run methods on all entries; write the page, and the figure beside it."""
    out.parent.mkdir(parents=True, exist_ok=True)
    bounds = {}
    groups: dict[str, list[Path]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for k, path in enumerate(records.find_entries()[1]):
            entry = records.read_entry(path)
            document, bound = records.instance(entry), decode_number(entry.record.best_bound)
            if is_hopeless(document, bound):
                continue
            file = Path(folder) / f"{k}.json"
            gadgetopt.write(document, file)
            groups.setdefault(document.problem.name, []).append(file)
            bounds[document.fingerprint] = bound
        runs: list[gadgetopt.Entry] = []
        for name, files in groups.items():
            chosen = methods or held_against_records(gadgetopt.problem(name))
            limits = Limits(time_s=time_s)
            runs += gadgetopt.compare(
                files, chosen, limits=limits, seeds=seeds, store=store, records=True, workers=2
            )
    figure = out.with_suffix(".svg")
    write_figure(gadgetopt.plot(store), figure, width_px=760)
    lines = [
        "# Methods against the records",
        "",
        f"Measured on {date.today().isoformat()} with gadgetopt {gadgetopt.__version__}, Python "
        f"{platform.python_version()}, {os.cpu_count()} cores, one thread a run:",
        "",
        f"    python benchmarks/records.py protocol --time-limit {time_s:g} --seeds {seeds}",
        "",
        f"{len(bounds)} instances: all of the records that have a solution. {time_s:g} s a run, "
        f"{seeds} seeds where a method takes one. Gaps are to the verified bounds of the "
        "records, where there are both; times are shifted geometric means with a shift of 1 s, "
        "integrals primal-dual ones.",
        "",
        f"![Ratios of the paper's algorithms to the optimum]({figure.name})",
        "",
        "A row has all instances; the mark of a theorem is what it guarantees where its conditions "
        "hold, so a worst ratio beyond the mark is one of the others.",
        "",
        "| system | method | runs | solved | median gap | worst gap | time | integral |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
        *(_row(*key, found, bounds, time_s) for key, found in _by_method(runs).items()),
        "",
        "## Significance",
        "",
        f"{TEST} A pair of methods has a row where p, corrected for all pairs of its system, is at "
        "most 0.05, by the same `python benchmarks/records.py protocol`.",
        "",
        "| system | method | other | instances | better | worse | equal | p |",
        "|---|---|---|---:|---:|---:|---:|---:|",
    ]
    for row in pairwise_tests(runs).to_dict("records"):
        if row["p_holm"] <= SIGNIFICANT:
            keys = ("system", "method", "other", "instances", "better", "worse", "equal")
            lines.append("| " + " | ".join(str(row[k]) for k in keys) + f" | {row['p_holm']:.2g} |")
    out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(out)


def _by_method(runs: list[gadgetopt.Entry]) -> dict[tuple[str, str], list[gadgetopt.Entry]]:
    groups: dict[tuple[str, str], list[gadgetopt.Entry]] = {}
    for found in runs:
        if found.result.status is Status.NOT_APPLICABLE:
            continue
        groups.setdefault((found.result.problem, found.result.method), []).append(found)
    return groups


def _row(
    system: str,
    method: str,
    runs: list[gadgetopt.Entry],
    bounds: Mapping[str, Number | None],
    time_s: float,
) -> str:
    gaps = [relative_gap(e.result.objective, bounds[e.result.fingerprint]) for e in runs]
    known = [0.0 if gap <= CLOSED_GAP else gap for gap in gaps if gap is not None]
    solved = sum(e.result.objective is not None for e in runs)
    times = [
        e.result.time_s if e.result.limit_hit is None else max(e.result.time_s, time_s)
        for e in runs
    ]
    integrals = [x for x in map(integral_of, runs) if x is not None]
    row = [
        system,
        method,
        len(runs),
        solved,
        cells.gap(statistics.median(known)) if known else "",
        cells.gap(max(known)) if known else "",
        f"{shifted_geometric_mean(times):.3g} s",
        f"{sum(integrals) / len(integrals):.3g} s" if integrals else "",
    ]
    return "| " + " | ".join(map(str, row)) + " |"


def check() -> None:
    """Check all entries by two processes, and tell what that took."""
    begin = time.perf_counter()
    verdicts = records.check(workers=2)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    refused = sum(bool(verdict.faults) for verdict in verdicts)
    print(
        f"{len(verdicts)} entries, {refused} refused: {used.ru_utime + used.ru_stime:.0f} s of "
        f"processor time, {time.perf_counter() - begin:.0f} s"
    )


def refresh() -> None:
    """Write anew the fields that follow from the instance, where the instance is the same."""
    changed = 0
    for path in records.find_entries()[1]:
        entry = records.read_entry(path)
        facts = of_instance(records.instance(entry), entry.record.instance)
        record = entry.record.model_copy(update=facts)
        if record != entry.record and facts["fingerprint"] == entry.record.fingerprint:
            write_entry(record, records.shelf(), {}, lambda name: True)
            changed += 1
    print(f"{changed} entries changed")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    does = parser.add_subparsers(dest="command", required=True)
    of_campaign = does.add_parser("campaign")
    of_campaign.add_argument("--store", type=Path, default=Path("records.sqlite"))
    of_campaign.add_argument("--rounds", type=int, default=3)
    of_protocol = does.add_parser("protocol")
    of_protocol.add_argument("--store", type=Path, default=Path("protocol.sqlite"))
    of_protocol.add_argument("--out", type=Path, default=Path("protocol.md"))
    of_protocol.add_argument("--methods", nargs="*", default=[])
    of_protocol.add_argument("--time-limit", type=float, default=10.0)
    of_protocol.add_argument("--seeds", type=int, default=5)
    does.add_parser("check")
    does.add_parser("refresh")
    given = parser.parse_args()
    if given.command == "campaign":
        campaign(given.store, given.rounds)
    elif given.command == "protocol":
        protocol(given.store, given.out, given.methods, given.time_limit, given.seeds)
    elif given.command == "refresh":
        refresh()
    else:
        check()


if __name__ == "__main__":
    main()
