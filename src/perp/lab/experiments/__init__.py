"""The experiments of the papers, one file each, with its claims beside it in a TOML file of the same name."""
