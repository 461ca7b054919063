"""Stand-in for a CI test; the stand-in pytest runs nothing of it."""
