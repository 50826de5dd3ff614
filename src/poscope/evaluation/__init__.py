"""Resampling, intervals and significance; no torch in here."""
