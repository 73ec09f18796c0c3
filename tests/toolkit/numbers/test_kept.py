"""What was read from source files is kept until one of them changes."""

import os
import sys

import pytest

from gadgetopt.numbers.kept import kept


@pytest.fixture(autouse=True)
def bytecode_is_written(monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)


@pytest.fixture
def package(tmp_path):
    """A folder of two files, a file elsewhere, and a function that reads all three."""
    folder, other = tmp_path / "package", tmp_path / "other.py"
    (folder / "room").mkdir(parents=True)
    files = folder / "__init__.py", folder / "room" / "file.py", other
    for file in files:
        file.write_text("1")
    reads = []

    def read():
        reads.append(1)
        return [file.read_text() for file in (*sorted(folder.rglob("*.py")), other)], [str(other)]

    def asked():
        return kept(str(files[0]), "sums", [str(folder)], read), len(reads)

    return folder, other, asked


def test_nothing_is_read_twice(package):
    asked = package[2]
    assert asked() == (["1", "1", "1"], 1)
    assert asked() == (["1", "1", "1"], 1)


def change_file_below(folder, _):
    (folder / "room" / "file.py").write_text("20")


def change_file_elsewhere(_, other):
    other.write_text("20")


def change_time_only(folder, _):
    os.utime(folder / "room" / "file.py", ns=(1, 1))


def add_file(folder, _):
    (folder / "room" / "new.py").write_text("20")


def add_folder(folder, _):
    (folder / "deeper").mkdir()
    (folder / "deeper" / "new.py").write_text("20")


def take_file_away(folder, _):
    (folder / "room" / "file.py").unlink()


def damage(folder, _):
    (kept_file,) = (folder / "__pycache__").glob("*.sums")
    kept_file.write_bytes(kept_file.read_bytes()[:-5])


@pytest.mark.parametrize(
    "change",
    [change_file_below, change_file_elsewhere, change_time_only, add_file, add_folder,
     take_file_away, damage],
)  # fmt: skip
def test_a_change_is_read(package, change):
    folder, other, asked = package
    asked()
    change(folder, other)
    value, reads = asked()
    assert reads == 2
    assert len(value) == len(list(folder.rglob("*.py"))) + 1
    assert asked() == (value, 2)


def test_a_folder_that_cannot_be_written_costs_time_only(package):
    folder, _, asked = package
    (folder / "__pycache__").write_text("a file where the folder would be")
    assert asked() == (["1", "1", "1"], 1)
    assert asked() == (["1", "1", "1"], 2)


def test_nothing_is_written_where_python_writes_no_bytecode(package, monkeypatch):
    folder, _, asked = package
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert asked()[1] == 1
    assert not (folder / "__pycache__").exists()
    assert asked()[1] == 2


def test_what_is_in_no_file_is_not_kept(package):
    folder = package[0]
    read_from = str(folder / "__init__.py")

    def read():
        return 1, ["a module without a file"]

    assert kept(read_from, "sums", [str(folder)], read) == 1
    assert not (folder / "__pycache__").exists()
