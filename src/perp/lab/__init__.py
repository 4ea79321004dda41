"""Experiments: instances x methods -> rows -> tables, figures and reports."""
