"""WHAT is asked: frozen problems, the operators inside them, their residuals, and files."""
