"""Batches from text files, plain and gzip; what is no batch is reported."""

import gzip

import numpy as np
import pytest

from gadgetopt.errors import InputError
from gadgetopt.models.bgl.cache.data.importers.batches_text import batches_text

TEXT = "# trace\n1 2\n\n1,3\nx 4\n2 2 4\n"


@pytest.mark.parametrize("packed", [False, True])
def test_a_line_is_a_batch(tmp_path, packed):
    path = tmp_path / ("trace.txt.gz" if packed else "trace.txt")
    path.write_bytes(gzip.compress(TEXT.encode()) if packed else TEXT.encode())
    found = batches_text([path], np.random.default_rng(0), capacity=2, order="free")
    ((name, instance),) = found.instances
    assert name == "trace_3x2"
    assert instance.requests == ((1, 2), (1, 3), (2, 4))
    assert instance.order == "free"
    (rejected,) = found.report["instances"][0]["rejected"]
    assert (rejected["first_lines"], rejected["first_value"]) == ([5], "x")


def test_a_file_without_batches_is_refused(tmp_path):
    path = tmp_path / "trace.txt"
    path.write_text("x\n")
    with pytest.raises(InputError, match="no line has node ids only"):
        batches_text([path], np.random.default_rng(0))
