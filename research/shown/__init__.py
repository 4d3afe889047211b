"""What pages show of each suite: tables, figures and numbers, from the CSVs of ``research/results/`` alone."""
