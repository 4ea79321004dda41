"""`python -m perp` is the command line."""

from perp.cli.main import main

main()
