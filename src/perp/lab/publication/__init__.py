"""What is made of a run's rows: verdicts, a page, CSV files, and the comparison of two runs."""
