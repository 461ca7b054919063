"""The screens, each with its stylesheet."""
