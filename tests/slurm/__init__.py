"""Tests on a Slurm that they start themselves."""
