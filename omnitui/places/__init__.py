"""Places: where commands run. A place is a bash prefix and a view of its processes."""

from omnitui.places.base import Place
from omnitui.places.local import Local
from omnitui.runbook.schema import PlaceSpec

__all__ = ["Local", "Place", "open_place"]


def open_place(spec: PlaceSpec) -> Place:
    """The place that a runbook declares."""
    return {"local": Local}[spec.kind]()
