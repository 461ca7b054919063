"""Runbooks: the TOML format, its checks, its variables."""
