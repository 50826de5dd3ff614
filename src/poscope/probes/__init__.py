"""Analyses of a position table alone, on the CPU; one module for each probe, all with `run(table, **settings)`."""
