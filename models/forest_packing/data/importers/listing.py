"""Text of `nvidia-smi topo -m`, also as it is pasted into mails, issues and logs."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from gadgetopt.errors import InputError
from gadgetopt.system.reading import decoded, read_bytes

_GPU = re.compile(r"GPU(0|[1-9]\d{0,5})")
_NVLINKS = re.compile(r"NV([1-9]\d{0,2})")
#: Connections without NVLink; SOC and PSB are what older drivers print.
_THROUGH_HOST = ("SYS", "NODE", "PHB", "PXB", "PIX", "SOC", "PSB")
_EXPECTED_CELL = f"expected NV and a number, or one of {', '.join(_THROUGH_HOST)}"

#: Headers are underlined on a terminal. A paste may write the escape in another way or lose it.
_TERMINAL_CODE = re.compile(r"(?:\x1b|\u241b|\^\[|\\x1b|\\033|\\e)?\[\d*(?:;\d+)*[mK]")
#: What mpirun --tag-output, torchrun, srun -l and who quotes put before each line.
_MPI_TAG = re.compile(r"(?:<|&lt;)std(?:out|err)(?:>|&gt;):?")
_BEFORE_LINE = re.compile(r"(?:\s*(?:>|&gt;|\[[\w,.@-]+\]:|\d+:(?=\s)))+")

#: What other listings are known by, and their names.
_OTHER_LISTINGS = (
    (
        re.compile(
            r"ROCm System Management|(?:Weight|Hops|Link Type) between two GPUs"
            r"|\b(?:WEIGHT|HOPS|LINK TYPE) TABLE\b"
        ),
        "a listing of rocm-smi or amd-smi, whose links (XGMI) are not read here",
    ),
    (
        re.compile(r"<(?:system|graphs)\s[^>]*version=|<graph\s[^>]*nchannels="),
        "NCCL's XML (NCCL_TOPO_DUMP_FILE, NCCL_GRAPH_DUMP_FILE)",
    ),
)


@dataclass(frozen=True)
class Matrix:
    """Contents of a listing.

    Attributes
    ----------
    gpus : tuple of int
        Their numbers, in the order of the listing.
    nvlinks : dict
        Number of NVLinks of each pair u < v that has some.
    ignored_columns : tuple of str
        Words of the header after the GPUs.
    ignored_lines : int
        Lines that are neither the header nor a GPU's row nor blank.
    sha256 : str
        Of the file.
    """

    gpus: tuple[int, ...]
    nvlinks: dict[tuple[int, int], int]
    ignored_columns: tuple[str, ...]
    ignored_lines: int
    sha256: str


def read_matrix(path: Path) -> Matrix:
    """Read the matrix; lines and columns that are not of GPUs are skipped.

    Raises
    ------
    InputError
        If the file cannot be read or is another listing, or the matrix has no header, one GPU, a
        row missing or twice, a cell that is not understood, or two cells of a pair that disagree.
    """
    text, sha256 = _text(path)
    for known_by, name in _OTHER_LISTINGS:
        if known_by.search(text):
            raise InputError(f"{path}: {name}, expected the matrix that nvidia-smi topo -m prints")
    header: list[str] = []
    ignored: list[str] = []
    rows: dict[str, tuple[int, list[str]]] = {}
    ignored_lines = 0
    others: list[list[str]] = []
    for number, line in enumerate(_bare(text).splitlines(), 1):
        words = line.split()
        if not words:
            continue
        columns = _leading_gpus(words)
        if len(columns) >= 2:
            if header:
                raise InputError(f"{path}: line {number}: a second header, expected one matrix")
            for column in columns:
                if columns.count(column) > 1:
                    raise InputError(f"{path}: line {number}: column {column}: given twice")
            header, ignored = columns, words[len(columns) :]
        elif header and len(columns) == 1:
            name = columns[0]
            if name in rows:
                raise InputError(f"{path}: line {number}: row {name}: given twice")
            if name not in header:
                shown = ", ".join(header)
                raise InputError(f"{path}: line {number}: row {name}: expected one of {shown}")
            rows[name] = number, words[1:]
        else:
            ignored_lines += 1
            others.append(words)
    if not header:
        raise InputError(f"{path}: {_no_header(others)}")
    for column in header:
        if column not in rows:
            raise InputError(f"{path}: row {column}: missing, expected a row for every column")
    counts = {name: _counts(path, name, rows[name], header) for name in header}
    return Matrix(
        tuple(_gpu(name) for name in header),
        _pairs(path, counts),
        tuple(ignored),
        ignored_lines,
        sha256,
    )


def _text(path: Path) -> tuple[str, str]:
    content = read_bytes(path)
    return decoded(path, content), hashlib.sha256(content).hexdigest()


def _bare(text: str) -> str:
    """Return the text without terminal codes, quotes and tags of ranks."""
    lines = []
    for line in _TERMINAL_CODE.sub("", text).splitlines():
        after_tag = _MPI_TAG.split(line)[-1]
        before = _BEFORE_LINE.match(after_tag)
        lines.append(after_tag[before.end() :] if before else after_tag)
    return "\n".join(lines)


def _leading_gpus(words: list[str]) -> list[str]:
    """Return the names of GPUs with which a line begins: two or more in a header, one in a row."""
    count = 0
    while count < len(words) and _GPU.fullmatch(words[count]):
        count += 1
    return words[:count]


def _no_header(lines: list[list[str]]) -> str:
    """Say what the lines of a listing without a header of several GPUs are."""
    titles = {words[0] for words in lines if _GPU.fullmatch(words[0]) and words[1:2] != ["X"]}
    for words in lines:
        if words[0] in titles and words[1:2] == ["X"]:
            return f"{words[0]} is the only GPU, expected two or more, as a network joins them"
    return "header: none found, expected a line with two or more of GPU0, GPU1, ..."


def _counts(path: Path, name: str, row: tuple[int, list[str]], header: list[str]) -> dict[str, int]:
    """Return the number of NVLinks in each cell of a row."""
    number, cells = row
    place = f"{path}: line {number}: row {name}"
    if len(cells) < len(header):
        raise InputError(f"{place}: {len(cells)} cells, expected {len(header)}")
    counts = {}
    for column, cell in zip(header, cells, strict=False):
        if column == name:
            if cell != "X":
                raise InputError(f"{place}, column {column}: {cell!r}, expected X")
            continue
        nvlinks = _NVLINKS.fullmatch(cell)
        if nvlinks is None and cell not in _THROUGH_HOST:
            raise InputError(f"{place}, column {column}: {cell!r}, {_EXPECTED_CELL}")
        counts[column] = int(nvlinks[1]) if nvlinks else 0
    return counts


def _pairs(path: Path, counts: dict[str, dict[str, int]]) -> dict[tuple[int, int], int]:
    """Return the number of NVLinks of every pair that has some; both cells must say the same."""
    pairs = {}
    for name, row in counts.items():
        for column, links in row.items():
            back = counts[column][name]
            if back != links:
                raise InputError(
                    f"{path}: row {name}, column {column}: {links} NVLinks, "
                    f"expected {back} as in row {column}, column {name}"
                )
            if links and _gpu(name) < _gpu(column):
                pairs[_gpu(name), _gpu(column)] = links
    return dict(sorted(pairs.items()))


def _gpu(name: str) -> int:
    return int(name.removeprefix("GPU"))
