"""What all tables of a runbook have in common."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from msgspec import Struct


class Part(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of every table of a runbook."""


When: TypeAlias = Mapping[str, tuple[str, ...]]
"""Holds when each named variable (a list separated by commas) has one of the given values. Empty holds always."""


Role: TypeAlias = Literal["equal", "subject", "told"]
"""What a value is to a comparison: it must be equal, it is what is compared, or it is told when it differs."""
