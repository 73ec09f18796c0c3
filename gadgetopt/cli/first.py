"""What `gadgetopt` says without a command, and of which versions it consists."""

from __future__ import annotations

#: Distributions whose versions may change results, by the name that people know.
_PARTS = {
    "HiGHS": "highspy",
    "OR-Tools": "ortools",
    "PySCIPOpt": "pyscipopt",
    "Pyomo": "pyomo",
    "numpy": "numpy",
}


def welcome() -> str:
    """Return the answer to `gadgetopt` alone: three commands to try first."""
    from gadgetopt import __version__

    return f"""\
gadgetopt {__version__}: how far from optimal are published schedulers, by proved bounds?

Three commands to try first:
  gadgetopt list                        list the systems
  gadgetopt generate sjf_bco --out my   write a small instance of one of them
  gadgetopt compare my                  solve it by several methods and print their ratios

`gadgetopt --help` lists all commands, `gadgetopt COMMAND --help` explains one."""


def versions() -> str:
    """Return the versions of gadgetopt, Python and the solvers, one per line."""
    import platform
    from importlib.metadata import PackageNotFoundError, version

    from gadgetopt import __version__

    lines = [f"gadgetopt {__version__}", f"Python {platform.python_version()}"]
    for name, distribution in _PARTS.items():
        said = name if name.lower() == distribution else f"{name} ({distribution})"
        try:
            lines.append(f"{said} {version(distribution)}")
        except PackageNotFoundError:
            lines.append(f"{said} not installed")
    return "\n".join([*lines, f"platform {platform.platform()}"])
