"""Stand-in for a CI stage; the stand-in pytest runs nothing of it."""
