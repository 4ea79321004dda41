"""The version of perp; read by the build, the command line and every saved file."""

__version__ = "0.1.0.dev0"
