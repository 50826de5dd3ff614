"""Position tables: from checkpoints, from formulas, from files."""
