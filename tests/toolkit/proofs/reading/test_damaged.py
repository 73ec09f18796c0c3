"""No changed file ends in anything but a model or one line; no packed file fills memory."""

from __future__ import annotations

import bz2
import gzip
import os

import numpy as np
import pytest

from gadgetopt.proofs.model import digest, lines, parsed
from gadgetopt.proofs.reading.lp import read_lp
from gadgetopt.proofs.reading.mps import read_mps
from gadgetopt.proofs.reading.nl import read_nl
from gadgetopt.proofs.reading.text import Unreadable, decoded, text_of

from .test_lp import SAME
from .test_mps import FIXED, FREE

NL = """g3 1 1 0
 2 1 1 0 1
 0 0 0 0 0 0
 0 0
 0 0 0
 0 0 0 1
 1 0 0 0 0
 2 2
 0 0
 0 0 0 0 0
C0
n0
O0 0
n2.5
r
0 1 4
b
2 0
0 0 3
k1
1
J0 2
0 1.5
1 2
G0 2
0 1
1 -1
"""
#: GADGETOPT_FUZZ=1000 makes 100 times as many changes of every text.
COUNT = 10 * int(os.environ.get("GADGETOPT_FUZZ", "10"))
PIECES = [
    "", " ", "\n", "-", "1e400", "1e999999", "inf", "nan", "0", "1/0", "x", "obj", ":", "<=",
    "'MARKER'", "RHS", "End", "é", " ", "\x00", "\t", "[", "9" * 5000, "r1", "END", "*", "#",
]  # fmt: skip


def changed(text: str, rng: np.random.Generator) -> str:
    for _ in range(int(rng.integers(1, 4))):
        a = int(rng.integers(0, len(text) + 1))
        b = min(len(text), a + int(rng.choice([0, 0, 1, 1, 2, 8, 40])))
        text = text[:a] + PIECES[int(rng.integers(0, len(PIECES)))] + text[b:]
    return text


@pytest.mark.parametrize(
    ("read", "text"),
    [(read_mps, FREE), (read_mps, FIXED), (read_lp, SAME), (read_nl, NL)],
    ids=["free", "fixed", "lp", "nl"],
)
def test_a_changed_text_is_a_model_or_one_line(read, text):
    rng = np.random.default_rng(5)
    models, refusals = 0, []
    for _ in range(COUNT):
        try:
            model = read(decoded(changed(text, rng).encode(errors="surrogatepass"))).model
        except Unreadable as error:
            refusals.append(str(error))
        else:
            models += 1
            assert digest(parsed(lines(model))) == digest(model)
    assert models > 0
    assert all("\n" not in said and len(said) < 400 for said in refusals)


def test_packed_files_are_read(tmp_path):
    for suffix, pack in ((".gz", gzip.compress), (".bz2", bz2.compress)):
        path = tmp_path / f"m.mps{suffix}"
        path.write_bytes(pack(FREE.encode()))
        assert read_mps(text_of(path)) == read_mps(FREE)
        path.write_bytes(pack(FREE.encode())[:-9])
        with pytest.raises(Unreadable, match="is no whole packed file"):
            text_of(path)


def test_a_packed_file_that_stands_for_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("gadgetopt.proofs.reading.text.MOST_BYTES", 1000)
    path = tmp_path / "m.mps.gz"
    path.write_bytes(gzip.compress(b" " * 10**6))
    with pytest.raises(Unreadable, match="more than 1,000 bytes"):
        text_of(path)


def test_latin_letters_are_kept_and_other_spaces_refused():
    assert decoded(b"caf\xe9") == "café"
    with pytest.raises(Unreadable, match="line 2: the character"):
        decoded("x\na\u00a0b".encode())
