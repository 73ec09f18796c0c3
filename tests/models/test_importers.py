"""Importers of tables: a file none of whose rows can be read says why, row by row."""

from __future__ import annotations

import pytest

import gadgetopt
from gadgetopt.errors import InputError
from gadgetopt.system.registry import problems

#: Format: a header, and rows that it rejects for two reasons.
UNREADABLE = {
    "philly": (
        "timestamp,duration,num_gpus,cluster",
        ["soon,10,1,a", "later,10,1,a", "2017-10-09 06:13:03,-1,1,a"],
        "2 timestamp: expected a time like 2017-10-09 06:13:03 or 2017-10-09T06:13:03+08:00, or "
        "seconds since 1970 (line 2 has 'soon'); "
        "1 duration: expected a positive number (line 4 has '-1')",
    ),
    "arrivals-csv": (
        "arrival_s,class",
        ["soon,1", "later,1", "3,urgent"],
        "2 arrival_s: expected a number (line 2 has 'soon'); 1 class: expected one of insensitive",
    ),
    "jobs-csv": (
        "processing_s",
        ["x", "0", "2.5"],
        "3 processing_s: expected a positive whole number (line 2 has 'x')",
    ),
    "bids-csv": (
        "value",
        ["x", "-1", "1e99"],
        "3 value: expected a positive number (line 2 has 'x')",
    ),
    "cache-profile-csv": (
        "cores,seconds",
        ["x,1", "0,1", "1,-1"],
        "3 cores, seconds: expected a whole number and a number, both positive (line 2 has 'x,1')",
    ),
    "batches": ("# batches", ["x", "1 y"], "2 expected node ids of at most 18 digits (line 2 has"),
    "edge-list": ("# edges", ["x y", "1", "2 z"], "3 expected two node numbers (line 2 has 'x y')"),
}


@pytest.mark.parametrize(
    ("system", "form"),
    [
        (declared.name, importer.format)
        for declared in problems()
        for importer in declared.importers
        if importer.format in UNREADABLE
    ],
)
def test_a_file_without_a_readable_row_says_why(system, form, tmp_path) -> None:
    header, rows, reasons = UNREADABLE[form]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join([header, *rows]) + "\n")
    with pytest.raises(InputError) as caught:
        gadgetopt.import_(form, path, system)
    assert f"rejected: {reasons}" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_every_format_above_is_read_by_some_system() -> None:
    read = {importer.format for declared in problems() for importer in declared.importers}
    assert UNREADABLE.keys() <= read
