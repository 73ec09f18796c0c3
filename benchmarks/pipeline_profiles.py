"""SPP's and DAPPLE's default methods on published profiles, within seconds of the processor.

No study measures by the processor's time, or how much memory a run takes.

Every profile is put on four clusters: 4x4, 2x8 and 1x4 GPUs with 16 microbatches, and 8,8 with 32,
or with the batch that DAPPLE published for its profiles. A row has the value, the bound and its
voucher, the gap, the seconds of search and of judging (evaluation and check of the certificate),
and the largest memory of the process, each run being one of its own. Beside it stand the value of
the paper's own algorithm and of CP-SAT's plain model `cp_joint`, which takes at most six GPUs.
Every method has the same limit. The clock of a run counts the processor's time here, so that other
work on the machine changes little; compiling and imports do not count.

Profiles are read from ../shared/data beside the repository, or from --data: `pipedream/`, `dapple/`
and `dnn_partitioning/throughput/` there; those that are missing are left out.

Run `python benchmarks/pipeline_profiles.py [spp dapple] [--time-limit 60] [--only TEXT]
[--without-others]`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from one_process import Run, apart

from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Status

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"

#: Samples of a profile, of an iteration and of a microbatch, as DAPPLE published them.
BATCHES = {
    "vgg-19-pbs-32": (32, 1024, 32),
    "bert-24-pbs-6": (6, 128, 1),
    "bert-48-pbs-2": (2, 64, 2),
    "xlnet-36-pbs-1": (1, 128, 1),
    "amoeba-18-pbs-8": (8, 128, 1),
    "gnmt-32-pbs-64-simplified": (64, 1024, 64),
}
#: Clusters, and the microbatches on each.
CLUSTERS = {"4x4": 16, "2x8": 16, "1x4": 16, "8,8": 32}
METHODS = {"spp": ("exact_spp", "spp", "cp_joint"), "dapple": ("exact_plans", "dapple", "cp_joint")}
#: The most GPUs on which `cp_joint` is asked.
MOST_PLAIN_GPUS = 6


@dataclass(frozen=True)
class Case:
    """A profile on a cluster, as an instance of a system."""

    system: str
    path: Path
    cluster: str

    @property
    def name(self) -> str:
        """The profile's name without its endings."""
        return self.path.name.partition(".")[0]

    @property
    def small(self) -> bool:
        """True if plain models take so few GPUs."""
        return self.cluster == "1x4"

    def document(self) -> Document:
        """Import the profile."""
        declared = problem(self.system)
        kind = "dnn-partitioning" if self.path.suffix == ".json" else "pipedream-profile"
        importer = next(x for x in declared.importers if x.format == kind)
        options: dict[str, object] = {"cluster": self.cluster}
        if self.cluster == "8,8" and self.name in BATCHES:
            names = "profile_batch", "global_batch", "microbatch"
            options |= dict(zip(names, BATCHES[self.name], strict=True))
        else:
            options["microbatches"] = CLUSTERS[self.cluster]
        (_, instance), *_ = importer.read(
            [self.path], np.random.default_rng(0), **options
        ).instances
        return Document(declared, "instance", self.name, instance)


def cases(data: Path, systems: Sequence[str], only: str) -> Iterator[Case]:
    """Yield all profiles that are there, on all clusters."""
    paths = [
        *sorted((data / "pipedream").glob("*.graph.txt")),
        *sorted((data / "dapple").glob("*-pbs-*.txt")),
        *sorted((data / "dnn_partitioning" / "throughput").glob("*.json")),
    ]
    for system in systems:
        for path in paths:
            for cluster in CLUSTERS:
                if only in f"{system} {path.name} {cluster}":
                    yield Case(system, path, cluster)


def table(
    data: Path, systems: Sequence[str], only: str, time_s: float, others: bool
) -> Iterator[str]:
    """Yield the rows, and what they come to."""
    yield (
        "| system | profile | GPUs | value, ms | bound, ms | gap, % | vouched | search, s "
        "| judging, s | memory, MB | the paper's / value | CP-SAT / value |"
    )
    yield "|---|---|---|---:|---:|---:|---|---:|---:|---:|---:|---:|"
    gaps: list[float] = []
    for case in cases(data, systems, only):
        default, own, plain = METHODS[case.system]
        found = apart(case.document, default, time_s)
        gaps.append(1.0 if found.gap is None else found.gap)
        cells = [
            case.system,
            case.name,
            case.cluster,
            _ms(found.value),
            _ms(found.bound),
            "" if found.gap is None else f"{100 * found.gap:.3f}",
            found.voucher if found.status != Status.ERROR else found.status,
            f"{found.search_s:.1f}",
            f"{found.judging_s:.1f}",
            f"{found.memory_mb:.0f}",
            _ratio(apart(case.document, own, time_s), found) if others else "",
            _ratio(apart(case.document, plain, time_s), found) if others and case.small else "",
        ]
        yield f"| {' | '.join(cells)} |"
    closed = sum(gap <= 1e-9 for gap in gaps)
    yield f"\n{closed} of {len(gaps)} closed; largest gap {100 * max(gaps, default=0):.3f} %"


def _ms(seconds: float | None) -> str:
    return "" if seconds is None else f"{1e3 * seconds:.4f}"


def _ratio(other: Run, found: Run) -> str:
    """Return how many times the default's value another one's is."""
    if other.value is None or found.value is None:
        return "none"
    return f"{other.value / found.value:.4f}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("systems", nargs="*", default=list(METHODS))
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--only", default="", help="only rows 'system profile cluster' with this")
    parser.add_argument("--without-others", action="store_true", help="the default method alone")
    given = parser.parse_args()
    for line in table(
        given.data, given.systems, given.only, given.time_limit, not given.without_others
    ):
        print(line, flush=True)


if __name__ == "__main__":
    main()
