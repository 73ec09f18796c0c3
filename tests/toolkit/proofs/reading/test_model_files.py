"""Which reader reads a file of a model, and the names beside an .nl file."""

import bz2
import gzip
from pathlib import Path

import pytest

from gadgetopt.proofs.reading.model_files import format_of, read_model
from gadgetopt.proofs.reading.text import Unreadable

MPS = """NAME two
ROWS
 N cost
 G need
COLUMNS
 a cost 2 need 1
 b cost 3 need 2
RHS
 rhs need 4
ENDATA
"""
LP = "Minimize cost: 2 a + 3 b\nSubject To need: a + 2 b >= 4\nEnd\n"
NL = """g3 1 1 0
 2 1 1 0 0
 0 0
 0 0
 0 0 0
 0 0 0 1
 0 0 0 0 0
 2 2
 0 0
 0 0 0 0 0
C0
n0
O0 0
n0
r
2 4
b
2 0
2 0
k1
1
J0 2
0 1
1 2
G0 2
0 2
1 3
"""


def test_one_model_in_all_formats_and_packings(tmp_path):
    written = {
        "two.mps": MPS.encode(),
        "two.MPS": MPS.encode(),
        "two.mps.gz": gzip.compress(MPS.encode()),
        "two.lp": LP.encode(),
        "two.lp.bz2": bz2.compress(LP.encode()),
        "two.nl": NL.encode(),
        "two.nl.gz": gzip.compress(NL.encode()),
        "two.col": b"a\nb\n",
        "two.row": b"need\ncost\n",
    }
    for name, data in written.items():
        (tmp_path / name).write_bytes(data)
    models = [read_model(tmp_path / name) for name in list(written)[:-2]]
    assert all(found.model == models[0].model for found in models)
    assert all(found.columns == ["a", "b"] for found in models)
    assert all(found.rows == ["need"] for found in models)


@pytest.mark.parametrize("name", ["a.json", "a", "mps", "a.mps.zip", "a.gz"])
def test_other_names_are_no_model_files(name, tmp_path):
    assert format_of(Path(name)) is None
    with pytest.raises(Unreadable, match=r"none of \.mps, \.lp, \.nl"):
        read_model(tmp_path / name)
