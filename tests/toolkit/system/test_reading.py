"""Files that others wrote: what is no file is one line, and a byte order mark is no text."""

import gzip
import json
import os
import socket
import tracemalloc

import pytest

from gadgetopt import system
from gadgetopt.errors import InputError
from gadgetopt.system.files import read, write
from gadgetopt.system.reading import decompressed, read_bytes, read_text

BOM = b"\xef\xbb\xbf"


@pytest.fixture
def pipe(tmp_path):
    path = tmp_path / "pipe.json"
    os.mkfifo(path)
    return path


def commands(path, store):
    return (
        ("solve", path),
        ("verify", path, path),
        ("compare", path, "--store", store),
        ("plot", path),
        ("ratios", path),
        ("status", path),
        ("summary", path),
        ("report", path, "--out", store.with_suffix(".html")),
        ("certify", path),
        ("import", "jobs-csv", path, "--out", store.parent / "imported"),
        ("solve", "instances/quickstart/knapsack.json", "--plugin", path.with_suffix(".py")),
    )


def test_nothing_but_a_file_is_read(pipe, tmp_path, cli):
    os.mkfifo(pipe.with_suffix(".py"))
    for command in commands(pipe, tmp_path / "runs.sqlite"):
        code, out, err = cli(*command)
        assert (code, out) == (2, ""), command
        assert err.startswith(f"gadgetopt: {pipe.with_suffix('')}"), command
        assert err.endswith(": is a pipe, expected a file\n"), command


def test_a_socket_is_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the names of sockets are short
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("socket.json")
    with pytest.raises(InputError, match=r"socket\.json: is a socket, expected a file"):
        read_bytes(tmp_path / "socket.json")


def test_a_device_that_never_ends_is_no_file(cli):
    for command in (("solve", "/dev/zero"), ("ratios", "/dev/zero")):
        code, out, err = cli(*command)
        assert (code, out) == (2, "")
        assert err == "gadgetopt: /dev/zero: is a device, expected a file\n"


def test_a_file_too_large_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(system.reading, "MOST_BYTES", 10**6)
    path = tmp_path / "sparse.json"
    with path.open("wb") as file:
        file.truncate(10**6 + 1)
    with pytest.raises(InputError, match=r"sparse\.json: holds more than"):
        read_bytes(path)
    small = gzip.compress(b"0" * (10**6 + 1))
    with pytest.raises(InputError, match=r"sparse\.json: holds more than"):
        decompressed(path, small)


def test_a_small_file_is_read_in_little_memory(tmp_path):
    path = tmp_path / "small.json"
    path.write_bytes(b"0" * 1000)
    small = gzip.compress(b"0" * 1000)
    tracemalloc.start()
    try:
        assert len(read_bytes(path)) == len(decompressed(path, small)) == 1000
        assert tracemalloc.get_traced_memory()[1] < 10**7
    finally:
        tracemalloc.stop()


def test_a_file_is_read_into_memory_once(tmp_path):
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.truncate(3 * 10**7)
    tracemalloc.start()
    try:
        assert len(read_bytes(path)) == 3 * 10**7
        assert tracemalloc.get_traced_memory()[1] < 4 * 10**7
    finally:
        tracemalloc.stop()


def test_a_byte_order_mark_is_read_over(tmp_path, tiny, cli):
    plain = (tiny / "e1_co_locate.json").read_bytes()
    marked = tmp_path / "marked.json"
    marked.write_bytes(BOM + plain)
    assert read(marked).fingerprint == read(tiny / "e1_co_locate.json").fingerprint
    study = tmp_path / "study.toml"
    study.write_bytes(BOM + b'instances = ["marked.json"]\nmethods = ["first_fit"]\n')
    code, out, _ = cli("compare", study, "--workers", 0, "--json")
    assert code == 0
    assert [row["instance"] for row in json.loads(out)] == ["e1_co_locate"]
    # In a folder, too, it is one of ours.
    code, out, _ = cli("compare", tmp_path, "--store", tmp_path / "b.sqlite", "--workers", 0,
                       "--methods", "first_fit", "--json")  # fmt: skip
    assert [row["instance"] for row in json.loads(out)] == ["e1_co_locate"]


def test_what_is_not_text_is_one_line(tmp_path):
    path = tmp_path / "bytes.txt"
    path.write_bytes(b"ab\xff")
    with pytest.raises(InputError, match=r"bytes\.txt: byte 2 is not UTF-8 text"):
        read_text(path)


def test_a_document_is_written_to_a_path_given_as_text(tmp_path, tiny):
    document = read(tiny / "e1_co_locate.json")
    write(document, str(tmp_path / "mine" / "own.json"))
    assert read(tmp_path / "mine" / "own.json").fingerprint == document.fingerprint
