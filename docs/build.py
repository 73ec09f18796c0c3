"""Build the site: `python docs/build.py`, from a checkout with the extra `docs` installed.

The site is in docs/site and needs neither a server nor a network: open docs/site/index.html. A
warning is an error. What has not changed since the last build is kept; --fresh begins again.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "_extensions"))


def main() -> int:
    """Compose the sources, let Sphinx build them and check the links of what it wrote."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=HERE / "site", help="folder of the site")
    parser.add_argument("--work", type=Path, default=HERE / ".build", help="folder of what is kept")
    parser.add_argument("--fresh", action="store_true", help="keep nothing of an earlier build")
    parser.add_argument(
        "--no-notebooks", action="store_true", help="show notebooks without running"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    given = parser.parse_args()
    given.work, given.out = given.work.resolve(), given.out.resolve()

    try:
        from compose import compose
        from jupyter_cache import get_cache
        from sphinx.cmd.build import build_main
    except ImportError as error:
        print(f"docs/build.py: {error}: pip install '.[docs]'", file=sys.stderr)
        return 2
    from browser_checker import write_checker
    from check_links import problems_of
    from notebook_files import write_notebooks

    started = time.monotonic()
    if given.fresh:
        for folder in (given.work, given.out):
            shutil.rmtree(folder, ignore_errors=True)
    compose(given.work / "source")
    _ = get_cache(given.work / "notebooks").db  # processes that read do not create it all at once
    options = ["-b", "html", "-c", str(HERE / "_extensions"), "-d", str(given.work / "doctrees")]
    options += ["-W", "--keep-going", "-q", "-j", str(given.jobs)]
    options += ["-D", f"nb_execution_cache_path={given.work / 'notebooks'}"]
    if given.no_notebooks:
        options += ["-D", "nb_execution_mode=off"]
    failed = build_main([*options, str(given.work / "source"), str(given.out)])
    if failed:
        print("docs/build.py: the site is not complete; see the lines above", file=sys.stderr)
        return int(failed)
    bare = write_notebooks(given.out, given.work / "notebooks")
    if bare and not given.no_notebooks:
        print(f"docs/build.py: {bare} notebooks are written without their outputs", file=sys.stderr)
    if not write_checker(given.out, given.work / "pyodide"):
        print(
            "docs/build.py: proof_checker.html loads Python from the network: npm has no Pyodide",
            file=sys.stderr,
        )
    found = problems_of(given.out)
    for line in found:
        print(f"docs/build.py: {line}", file=sys.stderr)
    count, seconds = len(list(given.out.rglob("*.html"))), time.monotonic() - started
    print(f"{given.out / 'index.html'}: {count} pages in {seconds:.0f} s")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
