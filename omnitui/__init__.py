"""Runbooks as checklists that run their commands, judge their gates and survive a dropped shell."""

__version__ = "0.1.0"
