"""Runbooks: the TOML format, its checks, and its rendering as shell or Markdown."""
