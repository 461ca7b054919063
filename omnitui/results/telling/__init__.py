"""Telling results: tables, Markdown, CSV, JSON, and one HTML page with its plots."""
