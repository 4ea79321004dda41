"""The command line: parse, call, print. One command a file; `main` collects them."""
