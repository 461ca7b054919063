"""The verbs of the command line, by rooms. Each room has an app of its own; `omnitui.cli` puts them together."""
