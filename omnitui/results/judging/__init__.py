"""Judging whether one group of passes is better than another, and whether that can be asked at all."""
