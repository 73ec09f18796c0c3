"""`python -m gadgetopt`."""

from gadgetopt.cli.main import main

main()
