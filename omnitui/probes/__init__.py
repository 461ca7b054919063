"""Probes: one look at the world each, giving a reading. They never judge."""
