"""Runs: tasks, the rows that they become, and how they are carried out."""
