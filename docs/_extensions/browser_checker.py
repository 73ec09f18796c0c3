"""The page that checks a proof in a browser: the checker of one file, and a Python that runs it.

The Python is Pyodide, from its package in the npm registry, in the version and with the digest that
stand here. The page holds all of it, so that it works from a folder and without a network. Where
the package cannot be had when the site is built, the page loads it from its own network when
somebody asks for a check, and says so.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

from sources import DOCS

from gadgetopt import __version__
from gadgetopt.proofs.checker.writing import checker_in_one_file

HERE = Path(__file__).parent / "browser"
NAME = "proof_checker.html"
VERSION = "314.0.7"
DIGEST = "66b7949e5a0cba2250b586d7e368bf12fb482800748d182c4618254b685ffaa0"
#: What of the package is needed to run Python without further packages.
PARTS = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")

_SHIPPED = "It needs no network."
_LINKED = (
    "Python itself is loaded from cdn.jsdelivr.net at the first check (12 MB), as this site was "
    "built without it."
)


def write_checker(out: Path, kept: Path) -> bool:
    """Write the page into the site, and return whether it holds its Python.

    Parameters
    ----------
    out : Path
        Folder of the site.
    kept : Path
        Folder in which the package is kept from build to build.
    """
    package = _package(kept)
    page = (HERE / NAME).read_text(encoding="utf-8")
    model, proof = _example()
    texts = {"checker": checker_in_one_file(__version__)}
    texts |= {"example-model": model, "example-proof": proof}
    data = [_text(name, text) for name, text in texts.items()]
    if package is None:
        loading = (HERE / "linked.js").read_text(encoding="utf-8")
    else:
        loading = (HERE / "shipped.js").read_text(encoding="utf-8")
        lock = json.loads((package / "pyodide-lock.json").read_text(encoding="utf-8"))
        loading = loading.replace("@LOCK@", json.dumps({"info": lock["info"], "packages": {}}))
        data += [_text(part, _packed(package / part)) for part in PARTS]
    for mark, text in {
        "@WHERE@": _LINKED if package is None else _SHIPPED,
        "@LOADING@": loading,
        "@VERSION@": VERSION,
        "@DATA@": "\n".join(data),
    }.items():
        page = page.replace(mark, text)
    (out / NAME).write_text(page, encoding="utf-8")
    return package is not None


def link_to(text: str) -> str:
    """Return the text of the page `check` with a link to this one, which only the site has."""
    return text.replace(f"`{NAME}`", f'<a href="{NAME}">{NAME}</a>')


def _package(kept: Path) -> Path | None:
    """Return the folder of the package; None if it is not kept and cannot be fetched."""
    folder = kept / VERSION
    if (folder / "package").is_dir():
        return folder / "package"
    npm = shutil.which("npm")
    if npm is None:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    command = [npm, "pack", f"pyodide@{VERSION}", "--silent", "--ignore-scripts"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=300)
    file = folder / f"pyodide-{VERSION}.tgz"
    if done.returncode or not file.is_file():
        return None
    if hashlib.sha256(file.read_bytes()).hexdigest() != DIGEST:
        raise SystemExit(f"{file}: its digest is not the one that {Path(__file__).name} names")
    with tarfile.open(file) as archive:
        archive.extractall(folder, filter="data")
    return folder / "package"


def _packed(path: Path) -> str:
    return base64.b64encode(gzip.compress(path.read_bytes(), mtime=0)).decode()


def _text(name: str, text: str) -> str:
    """Return a text as an element that a browser neither shows nor runs."""
    if "</script" in text:
        raise ValueError(f"{name}: would end its element")
    return f'<script type="text/plain" id="{name}">{text}</script>'


def _example() -> tuple[str, str]:
    """Return the model and the proof of the example on the page `check`."""
    page = (DOCS / "check.md").read_text(encoding="utf-8").split("## An example")[1]
    model, proof = re.findall(r"```\n(.*?)```", page, re.DOTALL)[:2]
    return model, proof
