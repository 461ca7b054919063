"""The Textual app: its screens and widgets."""
