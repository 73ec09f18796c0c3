"""A folder of records of its own: two small entries, made as anybody makes them."""

from __future__ import annotations

import json

import pytest

import gadgetopt
from gadgetopt import records


@pytest.fixture(scope="module")
def made(tmp_path_factory, root):
    """A folder of two entries, and the files that they were made of."""
    top = tmp_path_factory.mktemp("records")
    generated = gadgetopt.generate("parallel_machines")[0]
    shipped = gadgetopt.read(root / "instances" / "sjf_bco" / "tiny" / "e2_contention_pays.json")
    for document, method in ((generated, "bin_search"), (shipped, "ladder")):
        found = gadgetopt.solve(document, method)
        assert found.status == "optimal"
        certificate = gadgetopt.Document(
            document.problem, "certificate", document.name, found.certificate
        )
        paths = [top / "files" / f"{document.name}.{k}.json" for k in ("i", "s", "c")]
        for path, part in zip(paths, (document, found.to_document(), certificate), strict=True):
            gadgetopt.write(part, path)
        done = records.submit(paths, folder=top / "shelf", method=method, seed=found.seed, new=True)
        assert (done.added, done.refused) == (1, [])
    return top


@pytest.fixture
def shelf(made, tmp_path):
    """A copy of that folder, to be changed."""
    import shutil

    return shutil.copytree(made / "shelf", tmp_path / "shelf")


@pytest.fixture
def change():
    """Change fields of an entry's file, and return its file."""

    def changed(path, **fields):
        plain = json.loads(path.read_text())
        plain.update(fields)
        path.write_text(json.dumps(plain))
        return path

    return changed
