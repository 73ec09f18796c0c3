"""What a summary says, in sentences: how far from optimal, proved by whom, and what failed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from gadgetopt.numbers.tolerance import as_double
from gadgetopt.reporting.cells import counted, gap, share
from gadgetopt.runs.others import Others
from gadgetopt.trust.proving import failed

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from gadgetopt.runs.comparison import Entry
    from gadgetopt.system.result import Voucher
    from gadgetopt.trust.theorems import Promise

#: Methods named in one sentence.
_MOST_NAMED = 3

#: Digits after the point in which two ratios are told apart, at most.
_MOST_DIGITS = 12

#: Systems beyond which they share one sentence.
MOST_SYSTEMS = 4

_VOUCHERS = {
    "verified": "verified",
    "cross_checked": "cross-checked",
    "solver": "claimed by a solver",
}

Row = dict[str, Any]


def headline(frame: pd.DataFrame, table: Sequence[Entry]) -> list[str]:
    """Return what a summary says in a few sentences: what was proved, found, and what failed.

    Parameters
    ----------
    frame : pandas.DataFrame
        From `gadgetopt.summary`, not grouped by any column.
    table : sequence of Entry
        What it is the summary of.
    """
    return [
        *infeasible(table),
        *findings(frame, table),
        *failures(frame),
        *failed_proofs(table),
    ]


def infeasible(table: Sequence[Entry]) -> list[str]:
    """Return a sentence per system on the instances that were proved to have no solution."""
    proved = _proved_infeasible(table)
    out = []
    for system, found in proved.items():
        by = ", ".join(
            dict.fromkeys(entry.infeasible.method for entry in found if entry.infeasible)
        )
        first, of = found[0], _instances(table, system)
        if len(found) == 1 and first.infeasible is not None:
            where = system if of == 1 else f"{system}, {first.result.instance}"
            word = _VOUCHERS[_key(first.infeasible.voucher)]
            why = f": {first.infeasible.why}" if first.infeasible.why else ""
            out.append(f"{where}: proved infeasible by {by} ({word}){why}")
        else:
            counts = Counter(_key(e.infeasible.voucher) for e in found if e.infeasible)
            told = {f"infeasible_{v}": counts[v] for v in _VOUCHERS} | {"infeasible": len(found)}
            said = f"{system}: {_of(len(found), of, 'instance')} proved infeasible by {by}"
            out.append(said + _vouchers(told, "infeasible"))
    return out


def _proved_infeasible(table: Sequence[Entry]) -> dict[str, list[Entry]]:
    """Return an entry of each instance that was proved infeasible, by system."""
    out: dict[str, dict[str, Entry]] = {}
    for entry in table:
        if entry.infeasible is not None:
            r = entry.result
            out.setdefault(r.problem, {}).setdefault(r.fingerprint, entry)
    return {system: [*found.values()] for system, found in out.items()}


def _instances(table: Sequence[Entry], system: str) -> int:
    return len({e.result.fingerprint for e in table if e.result.problem == system})


def _key(voucher: Voucher) -> str:
    return str(voucher).replace("-", "_")


def findings(frame: pd.DataFrame, table: Sequence[Entry] = ()) -> list[str]:
    """Return a sentence per system on its leading method, or one sentence on many systems."""
    systems = by_system(frame)
    if len(systems) > MOST_SYSTEMS:
        return [_overall(systems)]
    return [said for rows in systems if (said := finding(rows, table))]


def failures(frame: pd.DataFrame) -> list[str]:
    """Return sentences on failed runs, limits that were hit, and exceeded theorems."""
    rows = rows_of(frame)
    runs = sum(row["runs"] for row in rows)
    out = []
    for column, what in (
        ("errors", "failed"),
        ("limits", "stopped at a limit of time or memory"),
        ("refuted_proven", "exceeded a proven theorem"),
    ):
        counts = [(row[column], row) for row in rows if row[column]]
        if counts:
            total = sum(count for count, _ in counts)
            out.append(f"{_of(total, runs, 'run')} {what}: {_named(counts, rows)}")
    claimed = [(n, row) for row in rows if (n := row["refuted"] - row["refuted_proven"]) > 0]
    if claimed:
        total = sum(count for count, _ in claimed)
        said = "run refutes" if total == 1 else "runs refute"
        first = claimed[0][1]
        by = f"system {first['system']}, method {first['method']}"
        by = by if len(claimed) == 1 else _named(claimed, rows)
        out.append(f"{total:,} {said} a claim (a ratio stated without a valid proof): {by}")
    return out


def failed_proofs(table: Sequence[Entry]) -> list[str]:
    """Return a sentence on the proofs that failed by errors that nobody expected, if any did."""
    broken = [(e.result, why) for e in table if (why := failed(e.result)) is not None]
    if not broken:
        return []
    (first, why), proofs = broken[0], counted(len(broken), "proof")
    which = "" if len(broken) == 1 else ", the first"
    where = f"{first.problem}, {first.method}, {first.instance}"
    return [f"{proofs} failed{which} {why} [{where}]; this is a fault of the code or its set-up"]


def refuted(entry: Entry, promise: Promise, runs: int = 1) -> str:
    """Return the sentence on a run whose ratio exceeds what a theorem promises.

    Parameters
    ----------
    entry, promise
    runs : int
        How many runs exceed it, of which this is the worst.
    """
    r, ratio = entry.result, entry.ratio
    low = math.nan if ratio is None or ratio.low is None else as_double(ratio.low)
    most, digits = as_double(promise.ratio or 0), 3
    while f"{low:.{digits}f}" == f"{most:.{digits}f}" and digits < _MOST_DIGITS:
        digits += 1
    known = "" if ratio is not None and ratio.certified else "of at least "
    measured = "infinite" if math.isinf(low) else f"{known}{low:.{digits}f}"
    claimed = promise.standing == "claimed"
    return (
        f"{'Refuted claim' if claimed else 'Exceeded theorem'}: system {r.problem}, method "
        f"{r.method}, instance {r.instance}{'' if runs == 1 else f' (worst of {runs:,} runs)'}: "
        f"ratio {measured} > {most:.{digits}f} {'claimed' if claimed else 'guaranteed'} by "
        f"'{promise.theorem}'"
    )


def others_line(table: Sequence[Entry], store: Path | str) -> str:
    """Return where bounds and solutions come from that the table does not list; empty if nowhere.

    Parameters
    ----------
    table : sequence of Entry
        Of a comparison.
    store : path
        Its store.
    """
    on = {(e.result.problem, e.result.fingerprint): e.others for e in table}
    others = Others.sum(on.values())
    if not others.runs:
        return ""
    runs = counted(others.runs, "other run")
    said = f"bounds and solutions of {runs} in {store} are used"
    if others.of_other_code:
        said += f", {others.of_other_code:,} of them made by other or unknown code"
    return said


def rows_of(frame: pd.DataFrame) -> list[Row]:
    """Return the rows of a summary."""
    return cast("list[Row]", frame.to_dict("records"))


def by_system(frame: pd.DataFrame) -> list[list[Row]]:
    """Return the rows of each system."""
    groups: dict[str, list[Row]] = {}
    for row in rows_of(frame):
        groups.setdefault(row["system"], []).append(row)
    return list(groups.values())


def leading(rows: Sequence[Row]) -> Row | None:
    """Return the method that a system's sentence is about: the first that is no exact method.

    A system's own comparison begins with the paper's algorithm. Baselines and exact methods are
    chosen only if there is nothing else with a ratio or gap.
    """
    rated = [row for row in rows if _measured(row)]
    for others in (("exact", "relaxation", "baseline"), ("exact", "relaxation"), ()):
        for row in rated:
            if row["kind"] not in others:
                return row
    return None


def _measured(row: Row) -> int:
    """Return on how many instances a method's distance to the optimum has a ratio or a gap."""
    return int(row["rated"] + row["unrated"])


def closing(rows: Sequence[Row]) -> Row | None:
    """Return the method that proved most instances optimal."""
    return max((r for r in rows if r["optimal"]), key=lambda r: r["optimal"], default=None)


def finding(rows: Sequence[Row], table: Sequence[Entry]) -> str:
    """Return one sentence on one system; empty if all its instances were proved infeasible."""
    subject, closer = leading(rows), closing(rows)
    system = rows[0]["system"]
    if subject is None:
        hopeless = len(_proved_infeasible(table).get(system, ()))
        left = _instances(table, system) - hopeless
        if not hopeless:
            return f"{system}: no method found a solution"
        others = counted(left, "other instance")
        return f"{system}: no method found a solution of {others}" if left else ""
    name = system if subject["method"] == system else f"{system}, {subject['method']}"
    parts = [_distance(subject)]
    if subject["compared"]:
        parts.append(_rank(subject))
    if closer is None:
        if subject["unlimited"] < _measured(subject):
            parts.append(certified(subject))
    elif subject["instances"] > 1 or closer is not subject:
        parts.append(_closed(closer))
    return f"{name}: {'; '.join(parts)}"


def certified(row: Row) -> str:
    """Return how many ratios of a method or a system are certified, and by whom.

    Where there is no ratio, gaps are counted.

    Parameters
    ----------
    row : dict
        With the keys `rated`, `unrated`, `certified` and `certified_*` of a summary.
    """
    if _measured(row) == 1 and not row["certified"]:
        return "not certified"
    what = "ratio" if not row["unrated"] else "distance" if row["rated"] else "gap"
    said = f"{row['certified']:,} of {counted(_measured(row), what)} "
    said += "is certified" if row["certified"] == 1 else "are certified"
    return said + _vouchers(row, "certified")


def interval(low: float, high: float, digits: int = 3) -> str:
    """Return a ratio in words: one number if it is known to its last digit, else its ends."""
    if math.isinf(low):
        return "infinite"
    if math.isinf(high):
        return f"at least {low:.{digits}f}"
    if f"{low:.{digits}f}" == f"{high:.{digits}f}":
        return f"{low:.{digits}f}"
    return f"between {low:.{digits}f} and {high:.{digits}f}"


def _distance(row: Row) -> str:
    rated, reached = _measured(row), row["at_optimum"]
    where = f"{rated:,} instances"
    if rated < row["instances"]:
        where = f"the {rated:,} of {row['instances']:,} instances that it solved"
    if row["instances"] == 1:
        return "optimal" if reached else ", ".join(_worst("", row, ""))
    if reached == rated:
        return f"optimal on all {where.removeprefix('the ')}"
    if 2 * reached >= rated or (row["unrated"] and row["rated"]):
        parts = [f"optimal on {reached:,} of {where}"]
    elif row["unrated"]:
        median = row["gap_median"]
        parts = [] if math.isinf(median) else [f"gap at most {gap(median)} on half of {where}"]
    elif not math.isinf(row["ratio_median_high"]):
        parts = [f"{_within(row['ratio_median_high'])} on half of {where}"]
    elif math.isinf(row["ratio_median_low"]):
        parts = [f"infinitely far from the optimum on half of {where}"]
    elif says_nothing(row["ratio_median_low"], math.inf):
        parts = []
    else:
        parts = [f"ratio at least {row['ratio_median_low']:.3f} on half of {where}"]
    return ", ".join([*parts, *_worst("worst ", row, "them" if parts else where)])


def _worst(which: str, row: Row, where: str) -> list[str]:
    """Return a method's worst ratio and gap, if they say something, and where no bound does."""
    ends, widest = (row["ratio_worst_low"], row["ratio_worst_high"]), row["gap_worst"]
    parts = []
    if row["rated"] and not says_nothing(*ends):
        parts.append(f"{which}ratio {interval(*ends)}")
    if row["unrated"] and 0 < widest < math.inf:
        parts.append(f"{which}gap {gap(widest)}")
    if row["unlimited"]:
        on = f" on {_part(row['unlimited'], _measured(row))} of {where}"
        parts.append(f"no known dual bound limits the ratio{on if row['instances'] > 1 else ''}")
    return parts


def _part(count: int, whole: int) -> str:
    return "any" if count == whole else f"{count:,}"


def says_nothing(low: float, high: float) -> bool:
    """Return True if all that is known of a ratio is that it is at least 1."""
    return math.isinf(high) and f"{low:.3f}" == "1.000"


def _within(high: float) -> str:
    if high <= 2:
        # Rounded up, or it would not be true.
        percent = 100 * (high - 1)
        digits = 0 if percent >= 1 else 1
        up = math.ceil(round(percent * 10**digits, 6)) / 10**digits
        return f"within {up:.{digits}f} % of the optimum"
    return f"within a factor of {math.ceil(round(high * 100, 6)) / 100:.2f} of the optimum"


def _rank(row: Row) -> str:
    best, of = row["wins"] + row["ties"], row["compared"]
    if row["instances"] == 1:
        return (
            "the best of its methods"
            if row["wins"]
            else ("as good as the best method" if best else "another method is better")
        )
    if best == 0:
        return "never as good as the best method"
    if best == of:
        return "always as good as the best method"
    return f"as good as the best method on {share(best, of)} %"


def _closed(row: Row) -> str:
    of = row["instances"]
    what = "the gap" if of == 1 else f"the gap on {row['optimal']:,} of {of:,}"
    return f"{row['method']} closes {what}{_vouchers(row, 'optimal')}"


def _vouchers(row: Row, column: str) -> str:
    counts = {word: row[f"{column}_{v}"] for v, word in _VOUCHERS.items()}
    found = {word: count for word, count in counts.items() if count}
    if not found:
        return ""
    if len(found) == 1:
        word = next(iter(found))
        return f" ({word})" if row[column] == 1 else f" (all {word})"
    return f" ({', '.join(f'{count:,} {word}' for word, count in found.items())})"


def _overall(systems: Sequence[Sequence[Row]]) -> str:
    subjects = [row for rows in systems if (row := leading(rows)) is not None]
    instances = sum(max(row["instances"] for row in rows) for rows in systems)
    said = f"{len(systems)} systems, {counted(instances, 'instance')}"
    if not subjects:
        return f"{said}: no method found a solution"
    reached, of = (sum(row[k] for row in subjects) for k in ("at_optimum", "instances"))
    closed = sum(closer["optimal"] for rows in systems if (closer := closing(rows)) is not None)
    rated = [row for row in subjects if row["rated"]]
    far = max(rated, key=lambda row: row["ratio_worst_low"], default=subjects[0])
    ends = far["ratio_worst_low"], far["ratio_worst_high"]
    parts = [f"optimal on {reached:,} of {counted(of, 'instance')}"]
    if rated and not says_nothing(*ends):
        parts.append(f"worst ratio {interval(*ends)} ({far['method']}, {far['system']})")
    unlimited = sum(row["unlimited"] for row in subjects)
    if unlimited:
        parts.append(f"no known dual bound limits the ratio on {unlimited:,}")
    return f"{said}, {closed:,} of them closed; each system's first heuristic: {', '.join(parts)}"


def _of(part: int, whole: int, noun: str) -> str:
    return f"{part:,} of {counted(whole, noun)}"


def _named(counts: Sequence[tuple[int, Row]], rows: Sequence[Row]) -> str:
    """Name the methods with the largest counts, with their systems if there are several."""
    several = len({row["system"] for row in rows}) > 1
    ordered = sorted(counts, key=lambda pair: -pair[0])
    said = [
        f"{row['system']} {row['method']} {n:,}" if several else f"{row['method']} {n:,}"
        for n, row in ordered[:_MOST_NAMED]
    ]
    if len(ordered) > _MOST_NAMED:
        said.append(f"{len(ordered) - _MOST_NAMED} more methods")
    return ", ".join(said)
