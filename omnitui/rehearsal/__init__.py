"""Rehearsing a runbook: the real one, unchanged, in a sandbox where only the programs are stood in."""
