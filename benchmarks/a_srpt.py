"""A-SRPT: all that its page says was measured, one table a command.

`python benchmarks/a_srpt.py COMMAND [options]`. Commands `shapes`, `mappings`, `traces` and `scale`
are those of `a_srpt_policies.py`, `exact` that of `a_srpt_exact.py`, which say what they print.
"""

from __future__ import annotations

import argparse

import a_srpt_exact
import a_srpt_policies

COMMANDS = {**a_srpt_exact.COMMANDS, **a_srpt_policies.COMMANDS}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=COMMANDS)
    a_srpt_exact.add_options(parser)
    a_srpt_policies.add_options(parser)
    options = parser.parse_args()
    COMMANDS[options.command](options)


if __name__ == "__main__":
    main()
