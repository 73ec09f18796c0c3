"""Placement and queueing: all that their page says was measured, one table a command.

`python benchmarks/marl.py COMMAND [options]`. Commands `scale` and `shape` are those of
`marl_scale.py`, `exact` is `marl_exact.py`, `ratios` is `marl_ratios.py`.
These say what they print.
"""

from __future__ import annotations

import importlib
import sys

MODULES = {
    "scale": "marl_scale",
    "shape": "marl_scale",
    "exact": "marl_exact",
    "ratios": "marl_ratios",
}


def main() -> None:
    command = sys.argv[1] if len(sys.argv) > 1 else ""
    if command not in MODULES:
        sys.exit(f"{__doc__}\ncommand: {command!r}, expected one of {', '.join(MODULES)}")
    if MODULES[command] != "marl_scale":
        del sys.argv[1]  # those have a command line of their own
    importlib.import_module(MODULES[command]).main()


if __name__ == "__main__":
    main()
