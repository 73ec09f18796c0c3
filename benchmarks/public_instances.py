"""Instances of public traces and profiles, as the library of records ships them.

No study converts data that a user has to fetch: this writes instances/SYSTEM/public/ anew.

    python benchmarks/public_instances.py DATA

DATA is a folder with `traces/philly.csv`, `traces/muri_trace1.csv`, `traces/muri_trace3.csv`,
`pipedream/*.graph.txt`, `dnn_partitioning/throughput/*.json` and `mip/highs/*.mps`;
instances/PUBLIC.md says where they come from and under which licence.
"""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path
from typing import Any

import gadgetopt
from gadgetopt.system.files import library

PHILLY = ("CC BY 4.0", "Microsoft Philly trace, github.com/msr-fiddle/philly-traces")
MURI = ("Apache-2.0", "traces of Muri, github.com/Rivendile/Muri")
PIPEDREAM = ("MIT", "profiles of PipeDream, github.com/msr-fiddle/pipedream")
HIGHS = ("MIT", "check/instances of HiGHS, github.com/ERGO-Code/HiGHS")
PARTITIONING = ("MIT", "github.com/msr-fiddle/dnn-partitioning")

#: System, format, file, options, and licence with source.
PUBLIC: list[tuple[str, str, str, dict[str, Any], tuple[str, str]]] = [
    ("a_srpt", "philly", "traces/philly.csv", {"jobs": 40, "servers": 4}, PHILLY),
    ("a_srpt", "philly", "traces/philly.csv", {"jobs": 200, "servers": 16}, PHILLY),
    ("a_srpt", "muri", "traces/muri_trace1.csv", {"jobs": 40, "servers": 4}, MURI),
    ("a_srpt", "muri", "traces/muri_trace3.csv", {"jobs": 200, "servers": 16}, MURI),
    ("sjf_bco", "philly", "traces/philly.csv", {"jobs": 12, "servers": 4}, PHILLY),
    ("sjf_bco", "philly", "traces/philly.csv", {"jobs": 80}, PHILLY),
    ("sjf_bco", "muri", "traces/muri_trace1.csv", {"jobs": 12, "servers": 4}, MURI),
    ("sjf_bco", "muri", "traces/muri_trace3.csv", {"jobs": 160}, MURI),
    ("gadget", "philly", "traces/philly.csv", {"jobs": 20}, PHILLY),
    ("gadget", "muri", "traces/muri_trace1.csv", {"jobs": 20}, MURI),
    ("gadget", "muri", "traces/muri_trace3.csv", {"jobs": 60}, MURI),
    ("pd_ors", "philly", "traces/philly.csv", {"jobs": 10, "servers": 2}, PHILLY),
    ("pd_ors", "muri", "traces/muri_trace1.csv", {"jobs": 10, "servers": 2}, MURI),
    ("pd_ors", "muri", "traces/muri_trace3.csv", {"jobs": 40}, MURI),
    ("smd", "philly", "traces/philly.csv", {"jobs": 40}, PHILLY),
    ("smd", "muri", "traces/muri_trace1.csv", {"jobs": 20}, MURI),
    ("smd", "muri", "traces/muri_trace3.csv", {"jobs": 100}, MURI),
    *(
        (
            system,
            "pipedream-profile",
            f"pipedream/{model}.graph.txt",
            {"cluster": cluster},
            PIPEDREAM,
        )
        for system in ("dapple", "spp")
        for model, cluster in (
            ("alexnet", "1x4"),
            ("vgg16", "8,8"),
            ("gnmt", "4x4"),
            ("resnet50", "2x8"),
        )
    ),
    *(
        (
            system,
            "dnn-partitioning",
            "dnn_partitioning/throughput/bert24_training.json",
            {"cluster": "4x4"},
            PARTITIONING,
        )
        for system in ("dapple", "spp")
    ),
]

#: Mixed-integer programs, most of them of MIPLIB 3, which HiGHS tests itself with.
MODELS = ("bell5", "dcmulti", "egout", "flugpl", "gt2", "issue-2095", "lseu", "p0548", "rgn")


def keep(document: gadgetopt.Document, source: tuple[str, str]) -> None:
    """Write an instance into the library, with its licence and where it comes from."""
    origin = {**document.origin, "source": source[1], "licence": source[0]}
    path = library() / document.problem.name / "public" / f"{document.name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    gadgetopt.write(dataclasses.replace(document, origin=origin), path)
    print(path.relative_to(library()), path.stat().st_size)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    data = parser.parse_args().data
    for system, form, file, options, source in PUBLIC:
        for document in gadgetopt.import_(form, [data / file], system=system, **options):
            keep(document, source)
    for name in MODELS:
        keep(gadgetopt.read(data / "mip" / "highs" / f"{name}.mps"), HIGHS)


if __name__ == "__main__":
    main()
