"""Stand-in for pytest, in stand-in environments only."""
