"""Tests of poscope."""
