"""Results: collecting what clients wrote, coverage, statistics and tables."""
