"""Stand-in for pip, in stand-in environments only."""
