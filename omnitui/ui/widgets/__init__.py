"""Widgets: set from above, they ask upward with messages."""
