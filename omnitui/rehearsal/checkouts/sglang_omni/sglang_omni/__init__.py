"""Stand-in for the package under measurement."""
