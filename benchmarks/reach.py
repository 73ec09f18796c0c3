"""Reach: what each family of instances closes now, and before, beside plain solvers.

Every system whose reach was extended has a script of its own, with its own families and limits,
which prints a row for each: how much is closed and the gap, before and now, who vouches for the
bound, what plain solvers do in the same run, and the time. This one runs them by name; options that
follow a name are those of its script.

Run `python benchmarks/reach.py all`, which takes hours, or `python benchmarks/reach.py NAME
[OPTION ...]`, such as `python benchmarks/reach.py knapsack --time 10 30x100`.
"""

from __future__ import annotations

import argparse
import runpy
import sys
from pathlib import Path

#: The script of each name, and the options that it has to have.
SCRIPTS: dict[str, tuple[str, list[str]]] = {
    "sjf_bco_small": ("reach_sjf_bco_small.py", []),
    "sjf_bco_paper": ("reach_sjf_bco_paper.py", ["--gap", "0.01"]),
    "knapsack": ("reach_knapsack.py", []),
    "pd_ors": ("reach_pd_ors.py", []),
    "gadget": ("reach_gadget.py", []),
    "smd": ("smd.py", ["limits"]),
    "forest_packing": ("reach_forest_packing.py", []),
    "forest_packing_formulations": ("reach_forest_packing.py", ["--formulations"]),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=[*SCRIPTS, "all"], metavar="NAME", help=", ".join(SCRIPTS))
    parser.add_argument("options", nargs=argparse.REMAINDER, metavar="OPTION")
    given = parser.parse_args()
    if given.name == "all" and given.options:
        parser.error("all takes no options")
    for name in SCRIPTS if given.name == "all" else [given.name]:
        script, options = SCRIPTS[name]
        print(f"\n{name}\n", flush=True)
        sys.argv = [script, *options, *given.options]
        runpy.run_path(str(Path(__file__).with_name(script)), run_name="__main__")


if __name__ == "__main__":
    main()
