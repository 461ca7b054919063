"""Reading the JSON files that benchmark clients wrote, with all that may be wrong with them."""

import json
from pathlib import Path
from typing import Any

import jmespath

from omnitui.errors import OmniError


class ResultError(OmniError):
    """A result file, or a field in it, is missing or unusable."""


def read_json(path: Path) -> Any:
    """The content of a result file. `NaN` and `Infinity` are read as Python does; whoever uses them must look."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ResultError(f"{path.name} is missing") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ResultError(f"{path.name} cannot be read: {error}") from error
    except (ValueError, RecursionError) as error:
        raise ResultError(f"{path.name} is not whole JSON ({error})") from error


def search(path: str, data: Any) -> Any:
    """The value at a JMESPath, or None."""
    try:
        return jmespath.search(path, data)
    except jmespath.exceptions.JMESPathError as error:
        raise ResultError(f"the path {path!r} is wrong: {error}") from error
